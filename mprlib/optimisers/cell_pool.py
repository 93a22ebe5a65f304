"""The optimisers' variables: how many items to select from each cell.

Within a cell only similarity matters, so a selection is a vector of counts x (G,) and consists of
the x_g best items of cell g. Two reductions follow, both without loss: the k best items of each
cell suffice, and the similarity of counts is a sum of concave functions F_g(x_g), the prefix sums of
the cell's scores in falling order. Masses and shares of the cells stay those of all rows.

Worked example: scores (0.9, 0.8, 0.7), cells (0, 1, 0), k = 2: counts (1, 1) select the items 0 and
1, counts (2, 0) the items 0 and 2, and F_0 = (0, 0.9, 1.6). The score of the next item of a cell is the
marginal gain of its count; the score of the last one is the marginal loss.

>>> from mprlib import Problem
>>> from mprlib.cells import cells_of
>>> problem = Problem(scores=[0.9, 0.8, 0.7], labels=[[0], [1], [0]], reference=[[0], [1]], k=2)
>>> pool = cell_pool_of(problem, cells_of(problem))
>>> one_each = pool.top_counts(problem)
>>> one_each.tolist(), sorted(pool.chosen(one_each).tolist())
([1, 1], [0, 1])
>>> round(pool.scale.mean(pool.similarity(one_each), k=2), 3)
0.85
>>> np.isneginf(pool.next_gains(one_each)).tolist() == (pool.capacity == 1).tolist()
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import MANY_CELLS, Cells
from mprlib.problem import Problem

# Error of a mean of k scores by rounding, as a part of the largest score.
MEAN_ROUNDING = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreScale:
    """An affine map of the caller's scores to [0, 1], so that tolerances of optimisers and solvers have no unit.

    scaled = (scores / 2^size - lowest) / 2^spread: first the largest score, then the range of scores is divided
    to at most 1. Dividing by powers of two is exact, and the difference loses no more than the scores had lost.
    """

    lowest: float
    size: int
    spread: int

    @classmethod
    def of(cls, scores: FloatArray) -> ScoreScale:
        """The scale of these scores."""
        lowest, highest = float(scores.min()), float(scores.max())
        size = _exponent(max(abs(lowest), abs(highest)))
        lowest, highest = math.ldexp(lowest, -size), math.ldexp(highest, -size)
        return cls(lowest=lowest, size=size, spread=_exponent(highest - lowest))

    def scaled(self, scores: FloatArray) -> FloatArray:
        """Scores in [0, 1]."""
        return np.ldexp(np.ldexp(scores, -self.size) - self.lowest, -self.spread)

    def mean(self, total: float, k: int) -> float:
        """The mean over k items in the caller's scores, given the total of their scaled scores."""
        return _times_power(self.lowest + _times_power(total / k, self.spread), self.size)

    def tolerance(self, part: float) -> float:
        """A part of the range of scores in the caller's unit, plus the rounding of a mean."""
        return _times_power(_times_power(part, self.spread) + MEAN_ROUNDING, self.size)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellPool:
    """The N = sum_g min(n_g, k) items that some best selection consists of, cell by cell.

    Shapes:  items (N,), positions in the pool; cell (N,), their cells, rising; scores (N,),
             falling within a cell, mapped to [0, 1] by `scale`; rank (N,), from 0 within the own cell.
             capacity (G,) = min(n_g, k); first (G,), where a cell starts.
             marginals (N + 2G,), for each cell +inf, its scores, -inf: see `last_losses` and `next_gains`.
             sums (N + G,), for each cell 0 and its prefix sums; offset, starts (G,), where a cell's marginals and its
             sums begin.
    """

    k: int
    scale: ScoreScale
    items: IntArray
    cell: IntArray
    scores: FloatArray
    rank: IntArray
    capacity: IntArray
    first: IntArray
    marginals: FloatArray
    sums: FloatArray
    offset: IntArray
    starts: IntArray

    @property
    def cell_count(self) -> int:
        """G."""
        return self.capacity.size

    @property
    def has_many_cells(self) -> bool:
        """Whether sets are searched item by item instead of cell by cell."""
        return self.cell_count > MANY_CELLS

    @property
    def has_many_filled_cells(self) -> bool:
        """Whether the exact path would have too many breakpoints: each cell with items has some."""
        return int(np.count_nonzero(self.capacity)) > MANY_CELLS

    def last_losses(self, counts: IntArray) -> FloatArray:
        """Marginal loss (G,) of each cell's last selected item; +inf where none is selected."""
        gains: FloatArray = self.marginals[self.offset + counts]
        return gains

    def next_gains(self, counts: IntArray) -> FloatArray:
        """Marginal gain (G,) of each cell's next item; -inf where all are selected."""
        losses: FloatArray = self.marginals[self.offset + 1 + counts]
        return losses

    def similarity(self, counts: IntArray) -> float:
        """Total similarity of whole counts."""
        return float(np.add.reduce(self.sums.take(self.starts + counts)))

    def fractional_similarity(self, counts: FloatArray) -> float:
        """Total similarity of counts between 0 and capacity; a fraction is a part of the next best item."""
        whole = np.minimum(np.floor(counts), self.capacity).astype(np.intp)
        part = counts - whole
        gains = np.where(part > 0, self.next_gains(whole), 0.0)
        # A part above the capacity is rounding error and adds nothing.
        return self.similarity(whole) + float(part @ np.where(np.isfinite(gains), gains, 0.0))

    def chosen(self, counts: IntArray) -> IntArray:
        """Positions in the pool of the items that whole counts select."""
        return self.items[self.rank < counts[self.cell]]

    def counts_of(self, weights: FloatArray) -> FloatArray:
        """Counts (G,) of weights (N,) on the reduced items."""
        return np.asarray(np.bincount(self.cell, weights=weights, minlength=self.cell_count), dtype=np.float64)

    def top_counts(self, problem: Problem) -> IntArray:
        """Counts of the k most similar items, ties by item id."""
        is_top = np.zeros(problem.n, dtype=bool)
        is_top[problem.best_first[: self.k]] = True
        return np.bincount(self.cell[is_top[self.items]], minlength=self.cell_count)


def _times_power(value: float, exponent: int) -> float:
    """value * 2^exponent, infinite where it is too large for a double."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _exponent(value: float) -> int:
    """The smallest e with value <= 2^e."""
    part, exponent = math.frexp(value)
    return exponent - (part == 0.5)


def cell_pool_of(problem: Problem, cells: Cells, items: IntArray | None = None) -> CellPool:
    """The reduced pool of a problem under these cells, or of some of its items."""
    from mprlib.optimisers.cell_pool_kernel import pooled

    order = problem.best_first if items is None else problem.ranked(items)
    scale = ScoreScale.of(problem.scores)
    powers = scale.lowest, scale.size, scale.spread
    found = pooled(order, cells.pool_cell, problem.scores, problem.k, cells.size, powers)
    return CellPool(k=problem.k, scale=scale, **found._asdict())
