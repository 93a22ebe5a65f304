"""What the optimisers ask of a linear or integer solver; `highs` and `backend` answer it.

    maximise  s . a     subject to  sum a = take,  0 <= a <= 1,  cut_j . counts(a) - t <= 0,  t = rho

over the columns of a window: items of the pool near the margin, all better ones of their cell being
taken and all worse ones left. rho enters as the bounds of one column t, so that a walk over rho
changes nothing else, and with t free and minimised the same model gives rho_min.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.problem import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Window:
    """The items that are still open.

    Shapes:  cell (W,), scores (W,), items in the pool's order cell by cell;
             taken (G,), counts that are settled; low and high (G,), the counts that are possible.
    """

    cell: IntArray
    scores: FloatArray
    taken: IntArray
    low: IntArray
    high: IntArray
    take: int

    @classmethod
    def of(cls, pool: CellPool, low: IntArray, high: IntArray) -> Window:
        """The window of counts between low and high (G,)."""
        is_open = (pool.rank >= low[pool.cell]) & (pool.rank < high[pool.cell])
        return cls(
            cell=pool.cell[is_open],
            scores=pool.scores[is_open],
            taken=low,
            low=low,
            high=high,
            take=pool.k - int(low.sum()),
        )

    def counts(self, weights: FloatArray) -> FloatArray:
        """Counts (G,) of weights (W,) on the open items."""
        return self.taken + np.bincount(self.cell, weights=weights, minlength=self.taken.size)

    def weights(self, counts: IntArray) -> FloatArray:
        """The open items (W,) that whole counts (G,) take: the best of each cell first."""
        starts = np.searchsorted(self.cell, self.cell)
        return ((np.arange(self.cell.size) - starts) < (counts - self.taken)[self.cell]).astype(float)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LinearSolution:
    """An optimal vertex: counts (G,), prices (cuts,) >= 0."""

    counts: FloatArray
    rho: float
    prices: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class IntegerSolution:
    """The best whole counts (G,) found, None when there are none, and what is proven.

    bound is on the total similarity of the window's items; is_complete: no limit was hit; nodes: those
    that branch and bound looked at.
    """

    counts: IntArray | None
    bound: float
    is_complete: bool = False
    is_infeasible: bool = False
    is_out_of_time: bool = False
    nodes: int = 0


class LinearModel(Protocol):
    """The programme over a growing set of cuts."""

    def add_cut(self, cut: FloatArray) -> None: ...

    def maximise_similarity(self, rho: float) -> LinearSolution | None: ...

    def minimise_rho(self) -> LinearSolution: ...

    def maximise_whole(
        self, rho: float, *, start: IntArray | None, node_limit: int, time_limit_seconds: float
    ) -> IntegerSolution: ...


ModelFactory = Callable[[Window], LinearModel]
