"""The interval of one selection's MPR, narrower than MPR +- t, which holds for all selections at once.

Let q be the sample's shares, Q the population's, v(d) = sup over c in C of sum_g d_g c_g, d = p - q for the selection's
shares p, so that MPR = v(d), and what it estimates is v(p - Q). Resamples give noise x*, the distribution of q - Q.

**Of a selection that was chosen without reading the sample** (`Chosen(..., is_fitted=False)`):

- *Upper end.* Let c* be the function that attains v(p - Q). It depends on nothing that was sampled, so that
  v(p - Q) = sum d c* + sum (q - Q) c* <= MPR + z sd(c*): the error of one mean, however many functions there are.
  Under C' it is at most sqrt(D) / m, as m Var(c) <= m sum q c^2 <= sum N c^2 = D.
- *Lower end.* The sample's own worst function is chosen among many, so that MPR is too large on average. With
  f(tau) = v(tau d - x*) - tau v(d), a value theta of v(p - Q) is refused if MPR - theta exceeds the quantile of f at
  tau = theta / MPR. As f falls in tau (v is convex and homogeneous), nothing below MPR - t is accepted, t being the
  quantile of f(0), and then nothing below MPR less the quantile of f((MPR - t) / MPR). Where functions are nearly as
  bad, the sample tells them apart by noise: for classes that are no balls tau is divided by sqrt(ln m), as the
  slackness of moment inequalities is (Andrews and Soares 2010).

**Of a selection that was fitted to the sample** the noise is unknown to what fitted it. Given q, p is fixed and
v(p - Q) is distributed as v(d + x*), if Q is as likely to be on one side of q as on the other: its upper quantile is
the upper end, as far as it is beyond the one above; the lower end is the one above.

*Items that are among the reference's rows* pull q towards p by k/m: MPR is then (1 - k/m) times that against the other
rows. The upper end allows for it where that may be. docs/method.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.cells import selection_weights
from mprlib.declarations import strict
from mprlib.function_classes.base import FunctionClass, WorstCase
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Whole
from mprlib.statistics.class_noise import ClassNoise, class_noise
from mprlib.statistics.draws import Draws
from mprlib.statistics.resampling import RESAMPLES, Resamples

# Where items may be a larger part of the reference's rows, the interval for all selections is taken.
LARGEST_PART = 0.25


class Interval(NamedTuple):
    """Ends of an interval of MPR, in the class's own units.

    >>> from mprlib.statistics import Interval
    >>> Interval(low=0.1, high=0.2).high
    0.2
    """

    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """Items (k,) and what is known of how they were chosen, for `sampling_interval`.

    is_fitted: what chose them had read the reference, as optimisers do, and not their scores alone
    (`reads_reference` of a method). may_be_in_reference: they may be among the reference's rows, as where the
    reference is the data set that is searched. found: their measurement under the class, where it is at hand.

    >>> from mprlib.statistics import Chosen
    >>> Chosen(items=[0, 1], is_fitted=False).may_be_in_reference
    True
    """

    items: ArrayLike
    is_fitted: bool = True
    may_be_in_reference: bool = True
    found: Measurement | None = None


@strict
def sampling_interval(
    problem: Problem,
    items: ArrayLike | Chosen,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = RESAMPLES,
    seed: Annotated[int, SEED] = 0,
    drawn: Resamples | None = None,
    attention: AnyAttention = UNIFORM,
) -> Interval:
    """An interval of the MPR of these items against the whole population.

    It is of one selection by itself; for all selections at once take MPR +- `sampling_margin`, several times as wide.
    Classes without a closed form (networks, forests, trees too many to list, kernels on continuous labels) take that
    margin where nothing sharper is known. confidence to attention: as for `sampling_margin`.

    items: (k,) items, taken as fitted to the reference and as some of its rows, or what is `Chosen`.

    Returns: ends with 0 <= low <= MPR <= high.
    Raises:  InputError for a confidence outside (0, 1), fewer than 1 resample, or items that are none of the pool's.

    >>> import mprlib
    >>> from mprlib.statistics import Chosen, sampling_interval
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]] * 500, k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> low, high = sampling_interval(problem, Chosen(items=[0, 1], is_fitted=False), "groups")
    >>> round(low, 2), round(high, 2)
    (0.47, 0.53)
    """
    kind, chosen = registered(function_class), items if isinstance(items, Chosen) else Chosen(items=items)
    problem = attended(problem, attention)
    warn_of_assumption(problem, "the interval depends")
    shown = problem.checked_items(chosen.items)
    # Where places have weights, items come in their order.
    ordered = np.sort(shown) if problem.place_weights is None else shown
    level = (1.0 + confidence) / 2.0
    # The noise holds the resamples, so that no others come to have their identity.
    key = ("noise", kind, level, resamples, seed, None if drawn is None else id(drawn))
    noise = problem.cached(key, lambda: class_noise(problem, kind, level, Draws(problem, resamples, seed, drawn)))
    part = ordered.size / problem.m if chosen.may_be_in_reference else 0.0
    return _interval(noise, selection_weights(problem, ordered), part, chosen)


def _interval(noise: ClassNoise, weights: FloatArray, part: float, chosen: Chosen) -> Interval:
    """Of the selection with these weights (n,), whose items may be this part of the reference's rows."""
    found = _found(noise, weights, chosen.found)
    if part > LARGEST_PART or (chosen.is_fitted and not noise.has_drifts):
        return Interval(max(0.0, found.value - noise.margin), found.upper_bound + noise.margin)
    differences = noise.oracle.cells.differences(weights)
    low, high = max(0.0, found.value - noise.of_all), noise.upper(differences, found.upper_bound)
    if isinstance(found, WorstCase) and noise.has_drifts:
        if chosen.is_fitted:
            high = max(high, found.upper_bound + noise.quantile(noise.drifts(-differences, found, 1.0)))
        if low > 0:
            left = low / found.value / noise.slack
            low = max(low, found.value - noise.quantile(noise.drifts(differences, found, left)))
    return Interval(min(low, found.value), high + found.upper_bound * part / (1.0 - part))


def _found(noise: ClassNoise, weights: FloatArray, measured: Measurement | None) -> WorstCase | Measurement:
    """What the class sees in the weights (n,), searched only where no measurement is at hand."""
    if measured is None:
        return noise.oracle.worst_case(weights)
    if not noise.has_drifts:
        return measured
    return noise.oracle.worst_case(weights) if measured.of is None else measured.of.worst
