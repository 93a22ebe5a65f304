"""The interval of one selection's MPR, narrower than MPR +- t, which holds for all selections at once.

Let q be the sample's shares, Q the population's, v(d) = sup over c in C of sum_g d_g c_g, d = p - q for the selection's
shares p, so that MPR = v(d), and what it estimates is v(p - Q). Resamples give noise x*, the distribution of q - Q.

**Of a selection that was chosen without reading the sample** (`is_fitted=False`):

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

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.cells import selection_weights
from mprlib.declarations import strict
from mprlib.function_classes.base import FunctionClass
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Flag, Whole
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


@strict
def sampling_interval(
    problem: Problem,
    items: ArrayLike,
    function_class: str | FunctionClass = "linear",
    *,
    is_fitted: Annotated[bool, Flag()] = True,
    may_be_in_reference: Annotated[bool, Flag()] = True,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = RESAMPLES,
    seed: Annotated[int, SEED] = 0,
    drawn: Resamples | None = None,
    attention: AnyAttention = UNIFORM,
    found: Measurement | None = None,
) -> Interval:
    """An interval of the MPR of these items against the whole population.

    It is of one selection by itself; for all selections at once take MPR +- `sampling_margin`, several times as wide.
    Classes without a closed form (networks, forests, trees too many to list, kernels on continuous labels) take that
    margin where nothing sharper is known. confidence to attention: as for `sampling_margin`.

    is_fitted: what chose the items had read the reference, as optimisers do, and not their scores alone
    (`reads_reference` of a method). may_be_in_reference: the items may be among the reference's rows, as where the
    reference is the data set that is searched. found: their measurement under the class, where it is at hand.

    Returns: ends with 0 <= low <= MPR <= high.
    Raises:  InputError for a confidence outside (0, 1), fewer than 1 resample, or items that are none of the pool's.

    >>> import mprlib
    >>> from mprlib.statistics import sampling_interval
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]] * 500, k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> low, high = sampling_interval(problem, [0, 1], "groups", is_fitted=False)
    >>> round(low, 2), round(high, 2)
    (0.47, 0.53)
    """
    chosen = registered(function_class)
    problem = attended(problem, attention)
    warn_of_assumption(problem, "the interval depends")
    shown = problem.checked_items(items)
    # Where places have weights, items come in their order.
    ordered = np.sort(shown) if problem.place_weights is None else shown
    level = (1.0 + confidence) / 2.0
    # The noise holds the resamples, so that no others come to have their identity.
    key = ("noise", chosen, level, resamples, seed, None if drawn is None else id(drawn))
    noise = problem.cached(key, lambda: class_noise(problem, chosen, level, Draws(problem, resamples, seed, drawn)))
    part = ordered.size / problem.m if may_be_in_reference else 0.0
    return _interval(noise, selection_weights(problem, ordered), part, is_fitted, found)


def _interval(
    noise: ClassNoise, weights: FloatArray, part: float, is_fitted: bool, known: Measurement | None
) -> Interval:
    """Of the selection with these weights (n,), whose items may be this part of the reference's rows."""
    found = known if known is not None and not noise.needs_function else noise.oracle.worst_case(weights)
    if part > LARGEST_PART or (is_fitted and not noise.has_drifts):
        return Interval(max(0.0, found.value - noise.margin), found.upper_bound + noise.margin)
    differences = noise.oracle.cells.differences(weights)
    low, high = max(0.0, found.value - noise.of_all), noise.upper(differences, found.upper_bound)
    if noise.has_drifts and is_fitted:
        high = max(high, found.upper_bound + noise.quantile(noise.drifts(-differences, found, 1.0)))
    if noise.has_drifts and low > 0:
        left = low / found.value / noise.slack
        low = max(low, found.value - noise.quantile(noise.drifts(differences, found, left)))
    return Interval(min(low, found.value), high + found.upper_bound * part / (1.0 - part))
