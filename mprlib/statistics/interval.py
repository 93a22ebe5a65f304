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

**Of a selection that was fitted to the sample** the noise is unknown to what fitted it. Given q, p is fixed, and Q is
distributed as q - b + x*: b is what q is expected to have too much where it lies near a simpler model
(`mprlib.shrinkage`). The upper quantile of v(d + b - x*), at the masses that q has, is the upper end, as far
as it is beyond the one above and not beyond that for all selections; the lower end is the one above.

*Items that are among the reference's rows* pull q towards p by k/m: MPR is then (1 - k/m) times that against the other
rows. The upper end allows for it where that may be. docs/method.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.declarations import strict
from mprlib.function_classes.base import FunctionClass, WorstCase, measured
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Whole
from mprlib.statistics.class_noise import ClassNoise, Worst
from mprlib.statistics.draws import Draws
from mprlib.statistics.noise_kinds import class_noise
from mprlib.statistics.resampling import RESAMPLES, Resamples

# Where items may be a larger part of the reference's rows, the interval for all selections is taken.
LARGEST_PART = 0.25
# Selections whose drifts are held at once, two megabytes of a thousand resamples.
TOGETHER = 256


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


def sampling_interval(
    problem: Problem,
    items: ArrayLike | Chosen,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    drawn: Resamples | None = None,
    attention: AnyAttention = UNIFORM,
) -> Interval:
    """An interval of the MPR of these items against the whole population; MPR alone against stated shares.

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
    chosen = items if isinstance(items, Chosen) else Chosen(items=items)
    asked: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed, "drawn": drawn}
    return sampling_intervals(problem, [chosen], function_class, attention=attention, **asked)[0]


@strict
def sampling_intervals(
    problem: Problem,
    chosen: Sequence[Chosen],
    function_class: str | FunctionClass = "linear",
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = RESAMPLES,
    seed: Annotated[int, SEED] = 0,
    drawn: Resamples | None = None,
    attention: AnyAttention = UNIFORM,
) -> list[Interval]:
    """The interval of each of several selections, as `sampling_interval` finds it, in a fraction of the time.

    Raises:  InputError as for one.

    >>> import mprlib
    >>> from mprlib.statistics import Chosen, sampling_intervals
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]] * 500, k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> chosen = [Chosen(items=items, is_fitted=False) for items in ([0, 1], [0, 2])]
    >>> [round(one.high, 2) for one in sampling_intervals(problem, chosen, "groups")]
    [0.53, 0.03]
    """
    kind = registered(function_class)
    problem = attended(problem, attention)
    warn_of_assumption(problem, "the interval depends")
    if not problem.population.is_sample:
        return [_without_error(problem, kind, one) for one in chosen]
    level = (1.0 + confidence) / 2.0
    # The noise holds the resamples, so that no others come to have their identity.
    key = ("noise", kind, level, resamples, seed, None if drawn is None else id(drawn))
    noise = problem.cached(key, lambda: class_noise(problem, kind, level, Draws(problem, resamples, seed, drawn)))
    found: list[Interval] = []
    for start in range(0, len(chosen), TOGETHER):
        found += _intervals(noise, _selected(problem, noise, chosen[start : start + TOGETHER]))
    return found


def _without_error(problem: Problem, kind: FunctionClass, chosen: Chosen) -> Interval:
    """What a reference of no sampling error leaves open: the class's own bound."""
    items = problem.checked_items(chosen.items)
    found = chosen.found or measured(problem, kind.bind(problem), items)
    return Interval(found.value, found.upper_bound)


class _Selected(NamedTuple):
    """A selection: how it was chosen, its differences d (G,) from the reference, what the class sees in it, and which
    part of the reference's rows its items may be."""

    chosen: Chosen
    differences: FloatArray
    found: Worst
    part: float

    def is_for_all(self, noise: ClassNoise) -> bool:
        """Whether it takes the interval for all selections."""
        return self.part > LARGEST_PART or (self.chosen.is_fitted and not noise.has_drifts)


def _selected(problem: Problem, noise: ClassNoise, chosen: Sequence[Chosen]) -> list[_Selected]:
    items = [_items(problem, one) for one in chosen]
    differences = noise.oracle.cells.differences_of_each(items, problem.place_weights)
    found = [_worst_of(problem, noise, own, one.found) for own, one in zip(items, chosen)]
    parts = [own.size / problem.m if one.may_be_in_reference else 0.0 for own, one in zip(items, chosen)]
    return [_Selected(*one) for one in zip(chosen, differences, found, parts)]


def _items(problem: Problem, chosen: Chosen) -> IntArray:
    """Its items; what was measured has been checked."""
    if chosen.found is not None and chosen.found.of is not None:
        return chosen.found.of.items
    shown = problem.checked_items(chosen.items)
    # Where places have weights, items come in their order.
    return np.sort(shown) if problem.place_weights is None else shown


def _intervals(noise: ClassNoise, selected: Sequence[_Selected]) -> list[Interval]:
    """Of some selections, what resamples show of them looked at together."""
    values = np.array([one.found.value for one in selected])
    bounds = np.array([one.found.upper_bound for one in selected])
    low, high = np.empty(len(selected)), np.empty(len(selected))
    alone = [place for place, one in enumerate(selected) if not one.is_for_all(noise)]
    if alone:
        low[alone] = np.maximum(0.0, values[alone] - noise.of_all)
        high[alone] = noise.upper(np.array([selected[place].differences for place in alone]), bounds[alone])
    if rest := [place for place, one in enumerate(selected) if one.is_for_all(noise)]:
        low[rest], high[rest] = np.maximum(0.0, values[rest] - noise.margin), bounds[rest] + noise.margin
    drifting = [place for place in alone if isinstance(selected[place].found, WorstCase)] if noise.has_drifts else []
    own = [place for place in drifting if low[place] > 0]
    fitted = [place for place in drifting if selected[place].chosen.is_fitted]
    for place, end in zip(fitted, _upper_of_fitted(noise, [selected[place] for place in fitted])):
        high[place] = max(high[place], min(end, bounds[place] + noise.of_all))
    left = low[own] / values[own] / noise.slack
    for place, drift in zip(own, _quantiles(noise, [selected[place] for place in own], left)):
        low[place] = max(low[place], selected[place].found.value - drift)
    return [
        Interval(*ends) if one.is_for_all(noise) else _allowed_for(one, *ends)
        for one, ends in zip(selected, zip(low.tolist(), high.tolist()))
    ]


def _upper_of_fitted(noise: ClassNoise, selected: Sequence[_Selected]) -> list[float]:
    """The quantile of v(p - Q) of each selection, as Q is distributed given the sample."""
    if not selected:
        return []
    differences = np.array([one.differences for one in selected]) + noise.expected_errors
    found: list[float] = noise.quantiles(noise.values(differences)).tolist()
    return found


def _allowed_for(one: _Selected, low: float, high: float) -> Interval:
    """Ends that allow for items among the reference's rows."""
    return Interval(min(low, one.found.value), high + one.found.upper_bound * one.part / (1.0 - one.part))


def _quantiles(noise: ClassNoise, selected: Sequence[_Selected], parts: FloatArray) -> list[float]:
    """The quantile of v(part d - x*) - part v(d) of each selection."""
    if not selected:
        return []
    differences = np.array([one.differences for one in selected])
    found: list[float] = noise.quantiles(noise.drifts(differences, [one.found for one in selected], parts)).tolist()
    return found


def _worst_of(problem: Problem, noise: ClassNoise, items: IntArray, known: Measurement | None) -> Worst:
    """What the class sees in a selection, searched only where no measurement is at hand."""
    if known is not None and not noise.has_drifts:
        return known
    return measured(problem, noise.oracle, items) if known is None or known.of is None else known.of.worst
