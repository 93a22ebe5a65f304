"""Is a gap more than luck? MPR, and the gaps of named groups, of k independent draws from the reference.

A fair lottery that draws k people from the reference shows every class some gap as well. With q the
reference's shares of cells, the counts of such a lottery are multinomial (k, q), and

    p value  = the chance that a lottery shows at least the observed MPR,
    level    = the 95% point of a lottery's MPR: more than it is beyond chance at 5%.

Lotteries are drawn once per reference and k, with a fixed seed; each pool and class then takes norms of
the same counts, since the masses N_g of C' hold the pool's rows. With B lotteries the p value is
(1 + lotteries at least as far) / (1 + B), which is valid at every level, and the level is the
0.95 (B + 1)-th smallest: the next lottery exceeds it with 5% exactly, and an observed MPR exceeds it
just where its p value is at most 0.05. Where places have weights (`mprlib.attention`) a lottery fills them one by one.
Named groups of sets have exact binomial p values as well, whose sum bounds
that of the largest gap where lotteries are too few to tell.

Classes whose values come from a heuristic search (forests, networks of many cells, greedy trees, models of the
caller's) have no distribution here: they would have to be searched once for each lottery.

Worked example: one person from two alike, so that both lotteries show a gap of 1/2: no gap of 1/2 is
beyond chance.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.8], labels=[[1, 0], [0, 1]], reference=[[1, 0], [0, 1]], k=1)
>>> found = mprlib.measure(problem, [0], "groups")
>>> found.value, found.p_value, found.chance_level
(0.5, 1.0, 0.5)

Source:  Phipson and Smyth 2010 for counting the observed selection in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import MANY_CELLS, cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import DECIMALS, FunctionClass, Oracle
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.lotteries import BLOCK, drawing_order, draws_for, lottery_counts, weighted_lotteries
from mprlib.lotteries_of_rows import kernel_values, values_of_rows
from mprlib.lottery_reuse import kept_groups, reused, reused_place
from mprlib.problem import Problem

# Share of lotteries that stay within the level.
CONFIDENCE = 0.95
# A lottery equal to the observed selection may differ from it by rounding.
ROUNDING = 1e-9
# A union bound this small serves as the p-value: lotteries could not resolve it, and it is never too small.
SMALL_BOUND = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chance:
    """What lotteries show under one class.

    Shapes:  values (B,), their MPR, rising.
    level: the 95% point. bound: a proven upper bound of the p value of an observed MPR, where there is one.
    """

    values: FloatArray
    level: float
    bound: Callable[[float], float] | None = None

    def p_value(self, observed: float) -> float:
        """The chance of at least this MPR, in (0, 1]."""
        return float(self.p_values(np.array([observed]))[0])

    def p_values(self, observed: FloatArray) -> FloatArray:
        """The chances (...) of at least these MPR."""
        least = observed * (1.0 - ROUNDING)
        as_far = self.values.size - np.searchsorted(self.values, least, side="left")
        found: FloatArray = (1 + as_far) / (1 + self.values.size)
        is_beyond = self.values[-1] < least
        if self.bound is not None and is_beyond.any():
            distinct, place = np.unique(observed[is_beyond], return_inverse=True)
            bounds = np.array([self.bound(value) for value in distinct.tolist()])[place]
            found[is_beyond] = np.where(bounds <= SMALL_BOUND, bounds, found[is_beyond])
        return found


def chance_of(problem: Problem, function_class: FunctionClass) -> Chance | None:
    """What lotteries of k draws from the problem's reference show under a class; computed once for a problem.

    Returns: None for a class whose values come from a heuristic search.
    """
    return problem.cached(("chance", function_class), lambda: _chance(problem, function_class))


def chance_level_of(problem: Problem, function_class: FunctionClass) -> float | None:
    """The level of `chance_of`, without what only p values need."""

    def build() -> float | None:
        oracle = function_class.bind(problem)
        if _is_of_reference(problem, oracle):
            return kept_groups(problem, function_class, oracle, "level", lambda: level(oracle))
        if problem.place_weights is None:
            found = reused_place(problem, oracle, _counts_of(problem, oracle), _place_of_level)
            if found is not None:
                return _rounded(found, oracle)
        return level(oracle)

    def level(oracle: Oracle) -> float | None:
        values = _lottery_values(problem, function_class, oracle)
        return None if values is None else _chance_level(values, oracle)

    return problem.cached(("chance level", function_class), build)


def gap_p_values(selected: FloatArray, reference: FloatArray, k: int | IntArray) -> FloatArray:
    """Exact p value of each group by itself: the chance of at least its gap, either way, among k draws.

    Shapes:  selected (..., groups) and reference (groups,), shares of selections and of the reference; k of each
             selection (..., 1), or of all; returns (..., groups).
    """
    return _two_sided_tail(np.abs(np.asarray(selected) - reference), np.asarray(reference, dtype=float), k)


def _two_sided_tail(gaps: FloatArray, shares: FloatArray, k: int | IntArray) -> FloatArray:
    """P(|X/k - Q| >= gap) of binomial X (k, Q), element by element."""
    shares = np.clip(shares, 0.0, 1.0)
    slack = ROUNDING * (1.0 + k)
    least_above = np.ceil(k * (shares + gaps) - slack)
    most_below = np.floor(k * (shares - gaps) + slack)
    # bdtrc(c, k, q) is the chance of more than c of k draws, bdtr that of at most c.
    above = np.where(least_above > k, 0.0, scipy.special.bdtrc(np.clip(least_above - 1, 0, k), k, shares))
    above = np.where(least_above <= 0, 1.0, above)
    below = np.where(most_below < 0, 0.0, scipy.special.bdtr(np.clip(most_below, 0, k), k, shares))
    both: FloatArray = np.where(least_above <= most_below, 1.0, np.minimum(above + below, 1.0))
    return both


def _chance(problem: Problem, function_class: FunctionClass) -> Chance | None:
    oracle = function_class.bind(problem)
    if _is_of_reference(problem, oracle):
        values = kept_groups(
            problem, function_class, oracle, "rising", lambda: _sorted_values(problem, function_class, oracle)
        )
    else:
        values = _sorted_values(problem, function_class, oracle)
    if values is None:
        return None
    level = _rounded(float(values[_place_of_level(values.size)]), oracle)
    return Chance(values=values, level=level, bound=_union_bound(problem, oracle))


def _sorted_values(problem: Problem, function_class: FunctionClass, oracle: Oracle) -> FloatArray | None:
    """The values of lotteries, rising."""
    values = _lottery_values(problem, function_class, oracle)
    return None if values is None else np.sort(values)


def _chance_level(values: FloatArray, oracle: Oracle) -> float:
    place = _place_of_level(values.size)
    return _rounded(float(np.partition(values, place)[place]), oracle)


def _place_of_level(draws: int) -> int:
    """The place of the level among so many rising values."""
    return round(CONFIDENCE * (draws + 1)) - 1


def _rounded(value: float, oracle: Oracle) -> float:
    """To the decimals of measured values, so that a set that shows what a lottery shows meets the level."""
    return float(round(np.float64(value) / oracle.unit, DECIMALS) * oracle.unit)


def _is_of_reference(problem: Problem, oracle: Oracle) -> bool:
    """Whether lotteries' values depend on the reference and k alone."""
    is_few = isinstance(oracle, GroupsOracle) and oracle.cells.size <= MANY_CELLS
    return is_few and problem.place_weights is None


def _counts_of(problem: Problem, oracle: Oracle) -> Callable[[], IntArray]:
    """Makes the counts (B, open cells) of lotteries."""

    return lambda: _lottery_draws(problem, oracle)


def _lottery_draws(problem: Problem, oracle: Oracle) -> Any:
    """What lotteries draw of each cell that the reference has (B, open cells): counts, or the weights of places."""
    cells, k, places = oracle.cells, problem.k, problem.place_weights
    open_cells = np.flatnonzero(cells.reference_shares > 0)
    shares, draws = cells.reference_shares[open_cells], draws_for(_products_per_lottery(oracle, open_cells.size))

    def draw(shares: FloatArray) -> FloatArray | IntArray:
        given = shares.tobytes()
        return lottery_counts(given, k, draws) if places is None else weighted_lotteries(given, places.tobytes(), draws)

    if not isinstance(oracle, SaturatedOracle):
        return draw(shares)
    order = drawing_order(problem, cells.labels[open_cells], shares, cells.masses[open_cells])
    return draw(shares[order])[:, np.argsort(order)]


def _lottery_values(problem: Problem, function_class: FunctionClass, oracle: Oracle) -> FloatArray | None:
    """MPR (B,) of B lotteries; what does not depend on the pool is kept with the reference."""
    if problem.place_weights is not None:
        return _values_of_lotteries(problem, oracle)
    if _is_of_reference(problem, oracle):
        return kept_groups(problem, function_class, oracle, "values", lambda: _values_of_lotteries(problem, oracle))
    found = reused(problem, function_class, oracle, _counts_of(problem, oracle))
    return _values_of_lotteries(problem, oracle) if found is None else found


def _union_bound(problem: Problem, oracle: Oracle) -> Callable[[float], float] | None:
    if not isinstance(oracle, GroupsOracle) or problem.place_weights is not None:
        return None
    shares, unit = oracle.totals(oracle.cells.reference_shares), 2.0 if oracle.signed else 1.0

    def bound(observed: float) -> float:
        return float(min(_two_sided_tail(np.full(shares.size, observed / unit), shares, problem.k).sum(), 1.0))

    return bound


def _values_of_lotteries(problem: Problem, oracle: Oracle) -> FloatArray | None:
    """MPR (B,) of B lotteries."""
    cells = cells_of(problem)
    if isinstance(oracle, KernelOracle):
        return kernel_values(problem, cells, oracle)
    if not isinstance(oracle, (Ball, SaturatedOracle, GroupsOracle, TreeOracle)):
        return None
    if cells.size > MANY_CELLS:
        return values_of_rows(problem, cells, oracle)
    open_cells = np.flatnonzero(cells.reference_shares > 0)
    counts, divisor = _lottery_draws(problem, oracle), problem.k if problem.place_weights is None else 1
    blocks = range(0, len(counts), BLOCK)
    return np.concatenate([_gaps_of(oracle, counts[at : at + BLOCK] / divisor, open_cells) for at in blocks])


def _gaps_of(oracle: Oracle, gaps: FloatArray, open_cells: IntArray) -> FloatArray:
    """MPR (B,) of lotteries by their shares (B, open cells), which become gaps: other cells have no share."""
    cells = oracle.cells
    gaps -= cells.reference_shares[open_cells]
    if open_cells.size < cells.size:
        differences = np.zeros((len(gaps), cells.size))
        differences[:, open_cells] = gaps
        gaps = differences
    if isinstance(oracle, TreeOracle):
        return oracle.gaps(gaps)
    found = closed_form_gaps(oracle, gaps)
    assert found is not None
    return found


def _products_per_lottery(oracle: Oracle, cells: int) -> float:
    """Multiplications of one lottery."""
    if isinstance(oracle, GroupsOracle):
        # Groups that the pool alone has are in no lottery.
        return float(np.count_nonzero(oracle.totals(oracle.cells.reference_shares)) * cells)
    return float(oracle.work) if isinstance(oracle, TreeOracle) else float(cells)
