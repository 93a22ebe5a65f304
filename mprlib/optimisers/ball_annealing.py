"""Simulated annealing between the cells of a ball, where a bound is far from the best set known.

A local search ends at sets that no exchange of one or two items improves. Annealing accepts losses on its way, fewer as
its temperature falls, and needs only products of items that are at hand: half a million exchanges take a few
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.local_search import BORDER
from mprlib.optimisers.relaxation import Relaxation


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """One annealing: temperatures from warmest to coldest, in similarity, in so many steps.

    penalty: per unit beyond rho, in multipliers of the relaxation: whole sets pay more for rho than fractional ones.
    """

    warmest: float
    coldest: float
    penalty: float
    steps: int


# Between cells: from a few ranks of a cell to less than two scores differ, as a rule. The second leaves more of its
# start behind, and finds other sets where the relaxation's optimum misleads.
CELL_SCHEDULES = (
    Schedule(warmest=0.05, coldest=0.002, penalty=4.0, steps=450_000),
    Schedule(warmest=0.2, coldest=0.002, penalty=4.0, steps=450_000),
)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class BallAnnealing:
    """Annealing over one pool.

    Shapes:  cells (C,), rising, those whose items may be selected; products (C, C) of their features.
    """

    pool: CellPool
    unit: float
    cells: IntArray
    products: FloatArray
    schedules: tuple[Schedule, ...]

    @classmethod
    def of(
        cls, pool: CellPool, ball: BallRegion, cells: IntArray, schedules: tuple[Schedule, ...] = CELL_SCHEDULES
    ) -> BallAnnealing:
        """The annealing over some cells with items of a ball whose features are complete."""
        own = np.empty((cells.size, cells.size))
        ball.complete(cells, 0, own)
        return cls(pool=pool, unit=ball.unit, cells=cells, products=own, schedules=schedules)

    def best(self, relaxation: Relaxation, known: float) -> IntArray | None:
        """Counts (G,) inside rho, more similar than `known`; None where none were found."""
        from mprlib.optimisers import ball_anneal_kernel as kernel
        from mprlib.optimisers.cooling_kernel import cooling

        pool = self.pool
        first = pool.first + 2 * np.arange(pool.cell_count)
        cells = kernel.Cells(self.products, pool.marginals, first[self.cells].astype(np.int64))
        start, chosen = self._start(relaxation), np.full(pool.k, -1, np.int64)
        # The measuring code cuts the last digits of a value; a set at rho in the ball may exceed it by those.
        rho, multiplier = relaxation.rho - BORDER * self.unit, max(relaxation.multiplier, 1.0 / self.unit)
        for one in self.schedules:
            limit, cooled = kernel.Limit(rho, one.penalty * multiplier), cooling(one.warmest, one.coldest, one.steps)
            known = kernel.annealed(cells, limit, cooled, known, start.copy(), chosen)
        return None if chosen[0] < 0 else np.bincount(self.cells[chosen], minlength=pool.cell_count)

    def _start(self, relaxation: Relaxation) -> IntArray:
        """The places (k,) among the cells of the k best items at the relaxation's prices."""
        pool = self.pool
        own = np.flatnonzero(np.isin(pool.cell, self.cells))
        value = pool.scores[own] - relaxation.price[pool.cell[own]]
        items = own[np.argsort(-value, kind="stable")[: pool.k]]
        return np.searchsorted(self.cells, pool.cell[items]).astype(np.int64)
