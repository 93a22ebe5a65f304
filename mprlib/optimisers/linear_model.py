"""The linear and integer programmes of the optimisers, as `highs` and `gurobi` solve them.

    maximise  s . a     subject to  sum a = open_count,  0 <= a <= 1,  cut_j . counts(a) - t <= 0,  t = rho

over the columns of a window: items near the margin of their cell; all better items of the cell are selected
and all worse ones are not. rho enters as the bounds of one column t, so that a sweep over rho changes
nothing else, and with t free and minimised the same model gives rho_min.

Worked example: scores (0.9, 0.8, 0.7) in cells (0, 1, 0), k = 2, counts between (1, 0) and (2, 1): the
window's columns are the items 1 and 2, one of which is to be selected beside item 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool

# Items on either side of each cell's fractional count that a window holds; doubled when an optimum needs more.
FIRST_MARGIN = 6


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Window:
    """The items that remain open under bounds on the counts.

    Shapes:  cell (W,), scores (W,) of the open items, in the pool's order cell by cell;
             low and high (G,), the bounds on the counts. open_count: how many open items are selected.
    """

    cell: IntArray
    scores: FloatArray
    low: IntArray
    high: IntArray
    open_count: int

    @classmethod
    def of(cls, pool: CellPool, low: IntArray, high: IntArray) -> Window:
        """The window of counts between low and high (G,)."""
        is_open = (pool.rank >= low[pool.cell]) & (pool.rank < high[pool.cell])
        return cls(
            cell=pool.cell[is_open],
            scores=pool.scores[is_open],
            low=low,
            high=high,
            open_count=pool.k - int(low.sum()),
        )

    @classmethod
    def around(cls, pool: CellPool, counts: FloatArray, margin: int) -> Window:
        """The window of so many items on either side of fractional counts (G,)."""
        low = np.maximum(np.floor(counts).astype(np.intp) - margin, 0)
        return cls.of(pool, low, np.minimum(np.ceil(counts).astype(np.intp) + margin, pool.capacity))

    def is_partial(self, pool: CellPool) -> bool:
        """Whether it leaves out some counts of the pool."""
        return bool((self.low > 0).any() or (self.high < pool.capacity).any())

    def is_touched(self, pool: CellPool, counts: FloatArray, tolerance: float) -> bool:
        """Whether counts (G,) are at an edge of the window that is none of the pool."""
        is_low = (counts <= self.low + tolerance) & (self.low > 0)
        is_high = (counts >= self.high - tolerance) & (self.high < pool.capacity)
        return bool((is_low | is_high).any())

    def counts(self, weights: FloatArray) -> FloatArray:
        """Counts (G,) of weights (W,) on the open items."""
        selected = np.bincount(self.cell, weights=weights, minlength=self.low.size)
        return np.asarray(self.low + selected, dtype=np.float64)

    def weights(self, counts: IntArray) -> FloatArray:
        """The open items (W,) that whole counts (G,) select: the best of each cell first."""
        starts = np.searchsorted(self.cell, self.cell)
        return ((np.arange(self.cell.size) - starts) < (counts - self.low)[self.cell]).astype(float)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LinearSolution:
    """An optimal vertex: counts (G,), and the dual prices (cuts,) >= 0 of the cuts.

    bound: on the similarity of sets that meet rho, by these prices; None where the solver does not say it.
    """

    counts: FloatArray
    rho: float
    prices: FloatArray
    bound: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class IntegerSolution:
    """The incumbent, whole counts (G,), None when none was found, and what is proven.

    bound: a dual bound on the total similarity of the open items. is_complete: no limit was hit.
    nodes: nodes of the search tree that were explored.
    """

    counts: IntArray | None
    bound: float
    is_complete: bool = False
    is_infeasible: bool = False
    is_out_of_time: bool = False
    nodes: int = 0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Priced:
    """Multipliers (groups,) of a programme's ranges; of a ray that proves it infeasible, where it is."""

    price: FloatArray
    is_infeasible: bool


class LinearModel(Protocol):
    """The programme of one window, over a growing set of cuts."""

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        ...

    def maximise_similarity(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when infeasible."""
        ...

    def minimise_rho(self) -> LinearSolution:
        """The smallest t, whatever the similarity."""
        ...

    def maximise_whole(
        self, rho: float, *, start: IntArray | None, node_limit: int, time_limit_seconds: float
    ) -> IntegerSolution:
        """Branch and bound over whole items at this rho, within limits, from whole counts (G,)."""
        ...
