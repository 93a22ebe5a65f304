"""The pool as the optimiser sees it: how many items to take from each cell.

Within a cell only similarity matters, so a selection is a vector of counts x (G,) and takes the
x_g best items of cell g. Two reductions follow, both without loss: of each cell its k best items
suffice, and the similarity of counts is a sum of concave functions F_g(x_g), the prefix sums of
the cell's falling scores. Masses and shares of the cells stay those of all rows.

Worked example: scores (0.9, 0.8, 0.7), cells (0, 1, 0), k = 2: counts (1, 1) take the items 0 and
1, counts (2, 0) the items 0 and 2, and F_0 = (0, 0.9, 1.6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mprlib.cells import Cells
from mprlib.problem import FloatArray, IntArray, Problem

# What rounding takes from the mean of k scores, as a part of the largest.
MEAN_ROUNDING = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreScale:
    """The caller's scores brought to [0, 1], so that no tolerance of an optimiser or solver has their unit.

    scaled = (scores / 2^size - lowest) / 2^spread: the largest score, then the range of scores is brought to
    1. Powers of two change no digit, and the difference is as exact as the scores are beside the largest.
    """

    lowest: float
    size: int
    spread: int

    @classmethod
    def of(cls, scores: FloatArray) -> ScoreScale:
        """The scale of these scores."""
        size = _exponent(float(np.abs(scores).max()))
        near_one = np.ldexp(scores, -size)
        return cls(lowest=float(near_one.min()), size=size, spread=_exponent(float(np.ptp(near_one))))

    def scaled(self, scores: FloatArray) -> FloatArray:
        """Scores in [0, 1]."""
        return np.ldexp(np.ldexp(scores, -self.size) - self.lowest, -self.spread)

    def mean(self, total: float, k: int) -> float:
        """The caller's mean over k items of a total of scaled scores."""
        return float(np.ldexp(self.lowest + np.ldexp(total / k, self.spread), self.size))

    def tolerance(self, part: float) -> float:
        """A part of the range of scores, and no less than a mean's own rounding, in the caller's unit."""
        return float(np.ldexp(np.ldexp(part, self.spread) + MEAN_ROUNDING, self.size))


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellPool:
    """The N <= sum_g min(n_g, k) items that any best selection is made of, cell by cell.

    Shapes:  items (N,), positions in the pool; cell (N,), their cells, rising; scores (N,),
             falling within a cell, brought to [0, 1] by `scale`; rank (N,), place in the own cell from 0.
             capacity (G,) = min(n_g, k); first (G,), where a cell starts.
             ladder (N + 2G,), for each cell +inf, its scores, -inf: see `losing` and `winning`.
             sums (N + G,), for each cell 0 and its prefix sums.
    """

    k: int
    scale: ScoreScale
    items: IntArray
    cell: IntArray
    scores: FloatArray
    rank: IntArray
    capacity: IntArray
    first: IntArray
    ladder: FloatArray
    sums: FloatArray

    @property
    def cell_count(self) -> int:
        """G."""
        return self.capacity.size

    def losing(self, counts: IntArray) -> FloatArray:
        """Similarity (G,) that each cell loses with its last item; +inf where it has none."""
        return self.ladder[self.first + 2 * np.arange(self.cell_count) + counts]

    def winning(self, counts: IntArray) -> FloatArray:
        """Similarity (G,) that each cell wins with its next item; -inf where none is left."""
        return self.ladder[self.first + 2 * np.arange(self.cell_count) + 1 + counts]

    def similarity(self, counts: IntArray) -> float:
        """Total similarity of whole counts."""
        return float(self.sums[self.first + np.arange(self.cell_count) + counts].sum())

    def fractional_similarity(self, counts: FloatArray) -> float:
        """Total similarity of counts between 0 and capacity, the parts taken from the next best items."""
        whole = np.minimum(np.floor(counts), self.capacity).astype(np.intp)
        part = counts - whole
        winning = np.where(part > 0, self.winning(whole), 0.0)
        # A part above the capacity is rounding, worth nothing.
        return self.similarity(whole) + float(part @ np.where(np.isfinite(winning), winning, 0.0))

    def chosen(self, counts: IntArray) -> IntArray:
        """Positions in the pool of the items that whole counts take."""
        return self.items[self.rank < counts[self.cell]]

    def counts_of(self, weights: FloatArray) -> FloatArray:
        """Counts (G,) of weights (N,) on the reduced items."""
        return np.bincount(self.cell, weights=weights, minlength=self.cell_count)

    def top_counts(self, problem: Problem) -> IntArray:
        """Counts of the k most similar items, ties by item id."""
        is_top = np.zeros(problem.n, dtype=bool)
        is_top[problem.best_first[: self.k]] = True
        return np.bincount(self.cell[is_top[self.items]], minlength=self.cell_count)

    def of_cells(self, cells: IntArray) -> CellPool:
        """The same pool over those cells alone (rising), which hold all items."""
        capacity = self.capacity[cells]
        first, cell = np.cumsum(capacity) - capacity, np.searchsorted(cells, self.cell)
        return replace(
            self,
            cell=cell,
            capacity=capacity,
            first=first,
            ladder=_ladder(self.scores, cell, self.rank, capacity, first),
            sums=_prefix_sums(self.scores, cell, self.rank, capacity, first),
        )


def _exponent(value: float) -> int:
    """The smallest e with value <= 2^e."""
    part, exponent = math.frexp(value)
    return exponent - (part == 0.5)


def cell_pool_of(problem: Problem, cells: Cells) -> CellPool:
    """The reduced pool of a problem under these cells."""
    order = problem.best_first
    cell = cells.pool_cell[order]
    # Numpy sorts 16-bit integers by radix, several times faster than 64-bit ones.
    sortable = cell.astype(np.uint16) if cells.size <= np.iinfo(np.uint16).max else cell
    by_cell = np.argsort(sortable, kind="stable")
    sizes = np.bincount(cell, minlength=cells.size)
    rank = np.arange(problem.n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = rank < problem.k
    items, rank = order[by_cell[kept]], rank[kept]
    capacity = np.minimum(sizes, problem.k)
    first = np.cumsum(capacity) - capacity
    scale = ScoreScale.of(problem.scores)
    scores = scale.scaled(problem.scores[items])
    cell = cells.pool_cell[items]
    return CellPool(
        k=problem.k,
        scale=scale,
        items=items,
        cell=cell,
        scores=scores,
        rank=rank,
        capacity=capacity,
        first=first,
        ladder=_ladder(scores, cell, rank, capacity, first),
        sums=_prefix_sums(scores, cell, rank, capacity, first),
    )


def _ladder(scores: FloatArray, cell: IntArray, rank: IntArray, capacity: IntArray, first: IntArray) -> FloatArray:
    start = first + 2 * np.arange(capacity.size)
    ladder = np.empty(scores.size + 2 * capacity.size)
    ladder[start] = np.inf
    ladder[start + capacity + 1] = -np.inf
    ladder[start[cell] + 1 + rank] = scores
    return ladder


def _prefix_sums(scores: FloatArray, cell: IntArray, rank: IntArray, capacity: IntArray, first: IntArray) -> FloatArray:
    start = first + np.arange(capacity.size)
    sums = np.zeros(scores.size + capacity.size)
    running = np.concatenate([[0.0], np.cumsum(scores)])
    sums[start[cell] + 1 + rank] = running[np.arange(scores.size) + 1] - running[first[cell]]
    return sums
