"""The linear programme of items whose groups' counts have ranges, by the simplex method over cells, or HiGHS.

    maximise  sum_g F_g(x_g)   subject to  sum_g x_g = k,  low_j <= sum of x over the cells of group j <= high_j

Limits become cuts when an optimum breaks them: a few dozen of hundreds do. Only multipliers are read. What they prove
does not depend on tolerances, so that an optimum which rounding has spoilt costs a sharper bound at most; HiGHS goes on
where the method ends without one.

Worked example: two women, more similar than two men, k = 2, and one woman at most: a place more is worth 0.9 - 0.5.

>>> from mprlib import Problem
>>> from mprlib.cells import cells_of
>>> from mprlib.optimisers.cell_pool import cell_pool_of
>>> problem = Problem(scores=[1, 0.9, 0.5, 0.4], labels=[[1], [1], [0], [0]], reference=[[1], [0]], k=2)
>>> cells = cells_of(problem)
>>> programme = RangedCells(cell_pool_of(problem, cells), (cells.labels[:, 0] == 0).astype(int)[None, :], 2)
>>> programme.priced(np.array([0.0, 0.0]), np.array([1.0, 2.0])).price.round(6).tolist()
[0.4, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cell_programme import LARGEST_STEPS_PER_PLACE, items_of, top_basis, widened
from mprlib.optimisers.linear_model import Priced

if TYPE_CHECKING:
    from mprlib.optimisers.highs.programmes import RangedProgramme


class RangedCells:
    """The programme of one pool, for ranges that change between solves. codes (sets, G): each cell's groups."""

    def __init__(self, pool: CellPool, codes: IntArray, groups: int) -> None:
        from mprlib.optimisers import basis_kernel, ranged_kernel, simplex_kernel

        self._kernel, self._simplex, self._of_basis = ranged_kernel, simplex_kernel, basis_kernel
        self._pool, self._codes, self._groups = pool, np.ascontiguousarray(codes, dtype=np.int64), groups
        self._items = items_of(pool)
        self._given = basis_kernel.Items(pool.k, pool.marginals, pool.offset)
        room = 2 * groups
        self._cuts = basis_kernel.Cut(np.empty((room, pool.cell_count)), np.zeros(room), np.zeros(room))
        self._basis = top_basis(self._items, room)
        self._cut, self._number = np.full((2, groups), -1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._most_steps = LARGEST_STEPS_PER_PLACE * (pool.cell_count + pool.k)
        self._other: RangedProgramme | None = None

    def priced(self, low: FloatArray, high: FloatArray) -> Priced:
        """The multipliers for these ranges (groups,)."""
        if self._other is None:
            found = self._priced(low, high)
            if found is not None:
                return found
            self._other = self._by_highs()
        return self._other.priced(low, high)

    def _priced(self, low: FloatArray, high: FloatArray) -> Priced | None:
        """None where rounding has spoilt the basis."""
        ranges = self._kernel.Ranges(self._codes, low, high, self._cut, self._number)
        counts, ray = np.empty(self._pool.cell_count), np.empty(self._cuts.right.size)
        found = self._simplex.FULL
        while found == self._simplex.FULL:
            found = self._kernel.optimise_ranged(
                self._items, ranges, self._cuts, self._basis, self._most_steps, counts, ray
            )
            if found == self._simplex.FULL:
                self._basis = widened(self._basis)
        if found == self._simplex.LOST:
            return None
        is_infeasible = found == self._simplex.INFEASIBLE
        multipliers = ray if is_infeasible else self._multipliers()
        return Priced(price=self._of_groups(multipliers), is_infeasible=is_infeasible)

    def _multipliers(self) -> FloatArray:
        """Those of the cuts, by the scores as given."""
        price, multipliers = np.empty(self._pool.cell_count), np.empty(self._pool.cell_count + 1)
        self._of_basis.priced(self._given, self._cuts, self._basis, multipliers, price)
        size = int(self._basis.number[0])
        found = np.zeros(self._cuts.right.size)
        found[self._basis.tight[: size - 1]] = np.maximum(multipliers[1:size], 0.0)
        return found

    def _of_groups(self, multipliers: FloatArray) -> FloatArray:
        """Prices (groups,): the upper limit's multiplier less the lower one's."""
        sides = np.where(self._cut >= 0, multipliers[np.maximum(self._cut, 0)], 0.0)
        price: FloatArray = sides[0] - sides[1]
        return price

    def _by_highs(self) -> RangedProgramme:
        from mprlib.optimisers.highs.programmes import RangedProgramme

        return RangedProgramme(self._pool.scores, self._codes[:, self._pool.cell], self._groups, self._pool.k)
