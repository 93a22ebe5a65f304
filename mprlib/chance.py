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
from functools import lru_cache

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.cells import MANY_CELLS, Cells, cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import DECIMALS, FunctionClass, Oracle
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.function_classes.tree import TreeOracle
from mprlib.lottery_reuse import kept_groups, reused, reused_place
from mprlib.problem import Problem

# Share of lotteries that stay within the level.
CONFIDENCE = 0.95
SEED = 20240711
# Lotteries, by what they cost: of each number plus one, 95% is whole. p values are known to their inverse.
DRAWS = (9_999, 4_999, 1_999, 999, 499, 199)
# Multiplications that all lotteries of a class may take: some 50 ms of one core; trees of many cells get fewer.
LARGEST_WORK = 300_000_000
# Lotteries that are worked on at once: their counts stay in the processor's cache.
BLOCK = 1_000
# Above this many draws, counts are drawn cell by cell.
MOST_ROWS = 500
# Entries of a block of drawn rows, 40 MB.
LARGEST_BLOCK = 5_000_000
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
        least = observed * (1.0 - ROUNDING)
        if self.bound is not None and self.values[-1] < least and (bound := self.bound(observed)) <= SMALL_BOUND:
            return bound
        as_far = self.values.size - int(np.searchsorted(self.values, least, side="left"))
        return (1 + as_far) / (1 + self.values.size)


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
            return kept_groups(problem, function_class, "level", lambda: level(oracle))
        if problem.place_weights is None:
            found = reused_place(problem, oracle, _counts_of(problem, oracle), _place_of_level)
            if found is not None:
                return _rounded(found, oracle)
        return level(oracle)

    def level(oracle: Oracle) -> float | None:
        values = _lottery_values(problem, function_class, oracle)
        return None if values is None else _level(values, oracle)

    return problem.cached(("chance level", function_class), build)


def gap_p_values(selected: FloatArray, reference: FloatArray, k: int) -> FloatArray:
    """Exact p value of each group by itself: the chance of at least its gap, either way, among k draws.

    Shapes:  selected and reference (groups,), shares of the selection and of the reference; returns (groups,).
    """
    return _beyond(np.abs(np.asarray(selected) - reference), np.asarray(reference, dtype=float), k)


def _beyond(gaps: FloatArray, shares: FloatArray, k: int) -> FloatArray:
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
    values = _lottery_values(problem, function_class, oracle)
    if values is None:
        return None
    return Chance(values=np.sort(values), level=_level(values, oracle), bound=_union_bound(problem, oracle))


def _level(values: FloatArray, oracle: Oracle) -> float:
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


def _counts_of(problem: Problem, oracle: Oracle) -> Callable[[int], IntArray]:
    """Makes the counts (B, open cells) of lotteries."""

    def counts(open_cells: int) -> IntArray:
        shares = oracle.cells.reference_shares
        draws = _draws_for(_work(oracle, open_cells))
        return lottery_counts(shares[shares > 0].tobytes(), problem.k, draws)

    return counts


def _lottery_values(problem: Problem, function_class: FunctionClass, oracle: Oracle) -> FloatArray | None:
    """MPR (B,) of B lotteries; what does not depend on the pool is kept with the reference."""
    if problem.place_weights is not None:
        return _values(problem, oracle)
    if _is_of_reference(problem, oracle):
        return kept_groups(problem, function_class, "values", lambda: _values(problem, oracle))
    found = reused(problem, function_class, oracle, _counts_of(problem, oracle))
    return _values(problem, oracle) if found is None else found


def _union_bound(problem: Problem, oracle: Oracle) -> Callable[[float], float] | None:
    if not isinstance(oracle, GroupsOracle) or problem.place_weights is not None:
        return None
    shares, unit = oracle.totals(oracle.cells.reference_shares), 2.0 if oracle.signed else 1.0

    def bound(observed: float) -> float:
        return float(min(_beyond(np.full(shares.size, observed / unit), shares, problem.k).sum(), 1.0))

    return bound


def _values(problem: Problem, oracle: Oracle) -> FloatArray | None:
    """MPR (B,) of B lotteries."""
    cells = cells_of(problem)
    if isinstance(oracle, KernelOracle):
        return _kernel_values(problem, cells, oracle)
    if not isinstance(oracle, (Ball, SaturatedOracle, GroupsOracle, TreeOracle)):
        return None
    if cells.size > MANY_CELLS:
        return _values_of_rows(problem, cells, oracle)
    open_cells = np.flatnonzero(cells.reference_shares > 0)
    shares = cells.reference_shares[open_cells]
    draws = _draws_for(_work(oracle, open_cells.size))
    counts: FloatArray | IntArray
    if problem.place_weights is None:
        counts, divisor = lottery_counts(shares.tobytes(), problem.k, draws), problem.k
    else:
        counts, divisor = weighted_lotteries(shares.tobytes(), problem.place_weights.tobytes(), draws), 1
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


def _work(oracle: Oracle, cells: int) -> float:
    """Multiplications of one lottery."""
    if isinstance(oracle, GroupsOracle):
        return float(len(oracle.names) * cells)
    return float(oracle.work) if isinstance(oracle, TreeOracle) else float(cells)


def _draws_for(work: float) -> int:
    return next((draws for draws in DRAWS if draws * work <= LARGEST_WORK), DRAWS[-1])


# A worker solves queries of one reference and k one after the other.
@lru_cache(maxsize=4)
def lottery_counts(shares: bytes, k: int, draws: int) -> IntArray:
    """Counts (draws, G) of lotteries of k draws from these shares (G,), given as bytes of doubles."""
    given = np.frombuffer(shares)
    random = np.random.default_rng([SEED, k])
    counts = np.empty((draws, given.size), dtype=np.uint16 if k < 2**16 else np.int64)
    for start in range(0, draws, BLOCK):
        size = min(BLOCK, draws - start)
        if k > MOST_ROWS:
            counts[start : start + size] = random.multinomial(k, given / given.sum(), size=size)
            continue
        drawn = drawn_cells(given, (size, k), random)
        drawn += np.arange(0, size * given.size, given.size)[:, None]
        counts[start : start + size] = np.bincount(drawn.ravel(), minlength=size * given.size).reshape(size, -1)
    counts.flags.writeable = False
    return counts


@lru_cache(maxsize=4)
def weighted_lotteries(shares: bytes, weights: bytes, draws: int) -> FloatArray:
    """Attention (draws, G) to the cells of lotteries: one draw a place from shares (G,), weights (k,) of the places."""
    given, of_places = np.frombuffer(shares), np.frombuffer(weights)
    random = np.random.default_rng([SEED, of_places.size])
    found, block = np.empty((draws, given.size)), max(1, min(BLOCK, LARGEST_BLOCK // of_places.size))
    for start in range(0, draws, block):
        drawn = drawn_cells(given, (min(block, draws - start), of_places.size), random)
        found[start : start + len(drawn)] = _attention_to(drawn, of_places, given.size)
    found.flags.writeable = False
    return found


def _attention_to(drawn: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Sums (B, size) of the weights (k,) of places by what is at each, drawn (B, k)."""
    codes = drawn + np.arange(0, size * len(drawn), size)[:, None]
    return sums_by(codes.ravel(), np.tile(weights, len(drawn)), size * len(drawn)).reshape(len(drawn), size)


def drawn_cells(shares: FloatArray, shape: tuple[int, int], random: np.random.Generator) -> IntArray:
    """Independent draws of cells with these shares (G,).

    Source:  Walker's alias method (Vose 1991): one look-up a draw, whatever the number of cells.
    """
    keep, alias = _alias_table(shares)
    place = random.random(shape)
    place *= shares.size
    cell = np.minimum(place.astype(np.intp), shares.size - 1)
    place -= cell
    drawn: IntArray = np.where(place < keep[cell], cell, alias[cell])
    return drawn


def _alias_table(shares: FloatArray) -> tuple[FloatArray, IntArray]:
    scaled = (shares * (shares.size / shares.sum())).tolist()
    keep, alias = np.ones(shares.size), np.arange(shares.size)
    small = [cell for cell, share in enumerate(scaled) if share < 1.0]
    large = [cell for cell, share in enumerate(scaled) if share >= 1.0]
    while small and large:
        less, more = small.pop(), large[-1]
        keep[less], alias[less] = scaled[less], more
        scaled[more] -= 1.0 - scaled[less]
        if scaled[more] < 1.0:
            small.append(large.pop())
    return keep, alias


def _values_of_rows(problem: Problem, cells: Cells, oracle: Oracle) -> FloatArray | None:
    """The same where cells are too many to count: by the cells of each drawn row."""
    k, shares, weights = problem.k, cells.reference_shares, problem.place_weights
    if isinstance(oracle, Ball):
        return _in_blocks(cells, k, oracle.features.shape[1], lambda drawn: _ball_values(oracle, drawn, weights))
    if isinstance(oracle, SaturatedOracle):
        inverse = 1.0 / cells.masses
        rest = float(shares**2 @ inverse)
        return _in_blocks(
            cells,
            k,
            4,
            lambda drawn: np.sqrt(oracle.scale * np.maximum(_squares(drawn, shares, inverse, weights) + rest, 0.0)),
        )
    if isinstance(oracle, GroupsOracle):
        return _in_blocks(cells, k, 4 * len(oracle.codes), lambda drawn: _group_values(oracle, drawn, weights))
    return None


def _in_blocks(cells: Cells, k: int, width: int, values_of: Callable[[IntArray], FloatArray]) -> FloatArray:
    draws = _draws_for(float(k * width * 4))
    random = np.random.default_rng([SEED, k])
    block = max(1, LARGEST_BLOCK // max(k * width, 1))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]
    return np.concatenate([values_of(drawn_cells(cells.reference_shares, (size, k), random)) for size in sizes])


def _ball_values(ball: Ball, drawn: IntArray, weights: FloatArray | None) -> FloatArray:
    features = ball.features[drawn]
    means = features.mean(axis=1) if weights is None else np.einsum("bkr,k->br", features, weights)
    lengths: FloatArray = np.linalg.norm(means - ball.reference_mean, axis=1)
    return lengths


def _squares(drawn: IntArray, shares: FloatArray, inverse: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """sum over drawn cells of (p^2 - 2 p q) / N; a cell that is drawn twice counts with the square of both."""
    if weights is not None:
        return _weighted_squares(drawn, shares, inverse, weights)
    ordered = np.sort(drawn, axis=1)
    k = drawn.shape[1]
    # Each pair of equal draws adds 2 / k^2: the i-th of a run of equals adds (2 i - 1) / k^2.
    place = np.arange(k)
    is_first = np.concatenate([np.ones((len(ordered), 1), bool), np.diff(ordered, axis=1) > 0], axis=1)
    starts = np.where(is_first, place, 0)
    run = place - np.maximum.accumulate(starts, axis=1)
    found: FloatArray = (((2 * run + 1) / k**2 - 2.0 * shares[ordered] / k) * inverse[ordered]).sum(axis=1)
    return found


def _weighted_squares(drawn: IntArray, shares: FloatArray, inverse: FloatArray, weights: FloatArray) -> FloatArray:
    """The same where places have weights: w_i (w_i + 2 w_j) over the places j of the same cell before i."""
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered, own = np.take_along_axis(drawn, order, axis=1), weights[order]
    before = np.cumsum(own, axis=1) - own
    is_first = np.concatenate([np.ones((len(ordered), 1), bool), np.diff(ordered, axis=1) > 0], axis=1)
    at_first = np.maximum.accumulate(np.where(is_first, before, 0.0), axis=1)
    found: FloatArray = (own * (own + 2.0 * (before - at_first) - 2.0 * shares[ordered]) * inverse[ordered]).sum(axis=1)
    return found


def _group_values(oracle: GroupsOracle, drawn: IntArray, weights: FloatArray | None) -> FloatArray:
    draws, k = drawn.shape
    groups = len(oracle.names)
    shares = oracle.totals(oracle.cells.reference_shares)
    largest = np.zeros(draws)
    for code in oracle.codes:
        first, last = int(code.min()), int(code.max())
        members = _attention_to(code[drawn] - first, np.ones(k) if weights is None else weights, last - first + 1)
        assert last < groups
        of_groups = members / k if weights is None else members
        largest = np.maximum(largest, np.abs(of_groups - shares[first : last + 1]).max(axis=1))
    return largest * (2.0 if oracle.signed else 1.0)


def _kernel_values(problem: Problem, cells: Cells, oracle: KernelOracle) -> FloatArray:
    """MMD (B,) of lotteries: kernels between a lottery's own rows, and the reference's mean at each."""
    k, weights = problem.k, problem.place_weights
    width = k * cells.labels.shape[1]

    def values_of(drawn: IntArray) -> FloatArray:
        kernels = (oracle.kernel.matrix(cells.labels[row], cells.labels[row]) for row in drawn)
        if weights is None:
            within = np.array([kernel.mean() for kernel in kernels])
            across = oracle.reference_function[drawn].mean(axis=1)
        else:
            within = np.array([weights @ kernel @ weights for kernel in kernels])
            across = oracle.reference_function[drawn] @ weights
        lengths: FloatArray = np.sqrt(np.maximum(within - 2.0 * across + oracle.reference_square, 0.0))
        return lengths

    return _in_blocks(cells, k, width, values_of)
