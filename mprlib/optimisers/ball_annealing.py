"""Simulated annealing between the cells of a ball, where a bound is far from the best set known.

A local search ends at sets that no exchange of one or two items improves. Annealing accepts losses on its way, fewer as
its temperature falls, and needs only products of items that are at hand: a million exchanges take tens of
milliseconds. Where cells are made of attributes, two items may exchange their levels of one.
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


# Between cells: from a few ranks of a cell to less than two scores differ, as a rule. The first finds the better sets;
# near the smallest rho, where it may find none, the second's penalty keeps it inside.
CELL_SCHEDULES = (
    Schedule(warmest=0.1, coldest=0.002, penalty=4.0, steps=900_000),
    Schedule(warmest=0.05, coldest=0.002, penalty=16.0, steps=450_000),
)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class BallAnnealing:
    """Annealing over one pool.

    Shapes:  cells (C,), rising, those whose items may be selected; products (C, C) of their features; column
             (C, attributes), their levels, numbered through; turned (C, levels), see `turned`.
    """

    pool: CellPool
    unit: float
    cells: IntArray
    products: FloatArray
    column: IntArray
    turned: IntArray
    schedules: tuple[Schedule, ...]

    @classmethod
    def of(
        cls, pool: CellPool, ball: BallRegion, column: IntArray, schedules: tuple[Schedule, ...] = CELL_SCHEDULES
    ) -> BallAnnealing:
        """The annealing over the cells with items of a ball whose features are complete.

        column (G, attributes): the levels of all cells, numbered through; of no attributes where they are made of none.
        """
        cells = np.flatnonzero(pool.capacity)
        own = np.empty((cells.size, cells.size))
        ball.complete(cells, 0, own)
        held = column[cells].astype(np.int64)
        return cls(
            pool=pool,
            unit=ball.unit,
            cells=cells,
            products=own,
            column=held,
            turned=turned(held),
            schedules=schedules,
        )

    def best(self, relaxation: Relaxation, known: float) -> IntArray | None:
        """Counts (G,) inside rho, more similar than `known`; None where none were found."""
        from mprlib.optimisers import ball_anneal_kernel as kernel
        from mprlib.optimisers.cooling_kernel import cooling

        pool = self.pool
        first = pool.first + 2 * np.arange(pool.cell_count)
        offset = first[self.cells].astype(np.int64)
        cells = kernel.Cells(self.products, pool.marginals, offset, self.column, self.turned)
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


def turned(column: IntArray) -> IntArray:
    """The cell (C, levels) that each becomes with another level; -1 where there is none.

    column (C, attributes): the levels of the cells, numbered through.

    >>> turned(np.array([[0, 2], [1, 2], [1, 3]])).tolist()
    [[0, 1, 0, -1], [0, 1, 1, 2], [-1, 2, 1, 2]]
    """
    cells, attributes = column.shape
    found = np.full((cells, int(column.max(initial=-1)) + 1), -1)
    for attribute in range(attributes):
        _, rest = np.unique(np.delete(column, attribute, axis=1), axis=0, return_inverse=True)
        own = np.unique(column[:, attribute])
        with_level = np.full((cells, found.shape[1]), -1)
        with_level[rest.reshape(-1), column[:, attribute]] = np.arange(cells)
        found[:, own] = with_level[rest.reshape(-1)][:, own]
    return found
