"""The linear programme of the relaxation over all items of a pool, by a dual simplex method that knows cells.

    maximise  sum_g F_g(x_g)   subject to  sum_g x_g = k,  cut_j . x <= rho,  0 <= x_g <= capacity_g

It starts from the last optimum, whether a cut was added or rho has changed, and takes tens of microseconds where a
general solver takes a millisecond to begin (`simplex_kernel`). Ties in score, on which it could cycle, are broken by
a perturbation; prices are computed from the scores as given. An optimum that is not feasible, or does not attain its
own dual bound, is rounding's: whoever asked is told, and solves it by another method.

Worked example: two cells of one item each, scores 1 and 0, k = 1, and the cut (1, -1) at rho = 1/2.

>>> from mprlib import Problem
>>> from mprlib.cells import cells_of
>>> from mprlib.optimisers.cell_pool import cell_pool_of
>>> problem = Problem(scores=[1, 0], labels=[[1], [0]], reference=[[1], [0]], k=1)
>>> cells = cells_of(problem)
>>> programme = CellProgramme(cell_pool_of(problem, cells))
>>> programme.add_cut(2.0 * cells.labels[:, 0] - 1.0)
>>> solution = programme.maximised(0.5)
>>> solution.counts[cells.pool_cell].tolist(), solution.prices.tolist()
([0.75, 0.25], [0.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import LinearSolution
from mprlib.optimisers.relaxation import similarity_bound

if TYPE_CHECKING:
    from mprlib.optimisers.basis_kernel import Basis, Items

# Error above which an optimum is discarded: in items, in rho, and relative to the similarity.
ACCURACY = 1e-8
# Steps per cell and item; an optimum takes a few, more means that the method cycles.
LARGEST_STEPS_PER_PLACE = 20
# Room for cuts and for free cells at first; it doubles.
FIRST_CUTS, FIRST_FREE = 64, 64


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Vertex:
    """Where the simplex method ended.

    Shapes:  counts (G,), but for rounding; prices (J,) >= 0 of the cuts; price (G,), what these make of an item of each
             cell.
    bound: proven, on the similarity of all counts that meet the cuts. level: of the k-th best item net of prices.
    room: the cuts' right sides at their prices.
    is_infeasible: no counts meet the cuts, and their sum with the prices says so, but for rounding: the bound on 0 that
    it proves is below 0. work: steps taken, times the size of the last basis.
    """

    counts: FloatArray
    prices: FloatArray
    price: FloatArray
    bound: float
    level: float
    room: float
    is_infeasible: bool
    work: int


class CellProgramme:
    """The programme of one pool, over a changing set of cuts."""

    def __init__(self, pool: CellPool) -> None:
        from mprlib.optimisers import basis_kernel, simplex_kernel, vertex_kernel

        self._kernel, self._vertex, self._of_basis, self._pool = simplex_kernel, vertex_kernel, basis_kernel, pool
        self._items = items_of(pool)
        self._given = basis_kernel.Items(pool.k, pool.marginals, pool.offset)
        rows = np.zeros((FIRST_CUTS, pool.cell_count))
        self._cuts = basis_kernel.Cut(rows, np.zeros(FIRST_CUTS), np.zeros(FIRST_CUTS))
        self._used = 0
        self._basis = top_basis(self._items, FIRST_CUTS)
        self._most_steps = LARGEST_STEPS_PER_PLACE * (pool.cell_count + pool.k)

    @property
    def cuts(self) -> FloatArray:
        """The cuts (J, G) that are held now."""
        return self._cuts.rows[: self._used]

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        # A cut of zeros sees no gap in any counts.
        size = float(np.abs(cut).max(initial=0.0)) or 1.0
        if self._used == self._cuts.size.size:
            self._resize(np.arange(self._used), 2 * self._used)
        self._cuts.rows[self._used], self._cuts.size[self._used] = cut, size
        self._used += 1

    def is_needed(self) -> BoolArray:
        """Which cuts (J,) the last optimum's basis holds; these cannot be dropped."""
        needed: BoolArray = self._basis.is_tight[: self._used] == 1
        return needed

    def keep(self, kept: Sequence[int]) -> None:
        """Drop all cuts but these, among them the tight ones."""
        self._resize(np.asarray(kept, dtype=np.intp), self._cuts.size.size)

    def maximised(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when infeasible.

        Raises:  PathLost where rounding has spoilt it.
        """
        vertex = self.under(np.full(self._used, rho))
        if vertex.is_infeasible:
            return None
        inside = np.clip(vertex.counts, 0.0, self._pool.capacity)
        bound = similarity_bound(self._pool, vertex.prices @ self.cuts, float(vertex.prices.sum()), rho)
        solution = LinearSolution(counts=inside, rho=rho, prices=vertex.prices, bound=bound)
        if not self._is_optimal(solution, vertex.counts):
            raise PathLost
        return solution

    def under(self, right: FloatArray) -> Vertex:
        """The last basis of the dual simplex method where each cut (J,) has a right side of its own.

        Raises:  PathLost where rounding has spoilt it.
        """
        cells, room = self._pool.cell_count, self._cuts.size.size
        written = self._vertex.Priced(np.empty(cells), np.empty(room), np.empty(cells))
        self._cuts.right[: self._used] = right
        work, found = 0, self._kernel.FULL
        while found == self._kernel.FULL:
            found, steps, bound, level, unused = self._vertex.priced_vertex(
                self._items, self._given, self._cuts, self._used, self._basis, self._most_steps, written
            )
            work += steps * int(self._basis.number[0])
            if found == self._kernel.FULL:
                self._basis = widened(self._basis)
        if found == self._kernel.LOST:
            raise PathLost
        return Vertex(
            counts=written.counts,
            prices=written.prices[: self._used],
            price=written.price,
            bound=bound,
            level=level,
            room=unused,
            is_infeasible=found == self._kernel.INFEASIBLE,
            work=work,
        )

    def penalties(self, counts: FloatArray, whole: float) -> FloatArray:
        """By how much the optimum falls at least where a cell's count becomes the next smaller or the next larger whole
        number: (2, G), -1 of counts (G,) that are whole within a distance. They are estimates, and prove nothing."""
        from mprlib.optimisers import penalty_kernel

        found = np.empty((2, counts.size))
        penalty_kernel.write_penalties(self._items, self._cuts, self._basis, whole, counts, found)
        return found

    def _resize(self, kept: IntArray, room: int) -> None:
        """Room for so many cuts, of which these are kept."""
        basis, number = self._basis, len(kept)
        rows, size, is_tight = np.zeros((room, self._pool.cell_count)), np.zeros(room), np.zeros(room, np.int64)
        rows[:number], size[:number] = self._cuts.rows[kept], self._cuts.size[kept]
        is_tight[:number] = basis.is_tight[kept]
        place = np.zeros(self._used, np.int64)
        place[kept] = np.arange(number)
        held = basis.number[1]
        basis.tight[:held] = place[basis.tight[:held]]
        self._cuts = self._of_basis.Cut(rows, np.zeros(room), size)
        self._basis = basis._replace(is_tight=is_tight)
        self._used = number

    def _is_optimal(self, solution: LinearSolution, counts: FloatArray) -> bool:
        pool, inside = self._pool, solution.counts
        off = float(np.abs(inside - counts).max()) + abs(float(inside.sum()) - pool.k)
        excess = float((self.cuts @ inside).max(initial=-np.inf)) - solution.rho
        assert solution.bound is not None
        gap = abs(solution.bound - pool.fractional_similarity(inside))
        return off <= ACCURACY and excess <= ACCURACY and gap <= ACCURACY * max(1.0, abs(solution.bound))


def items_of(pool: CellPool) -> Items:
    """The items of a pool, by scores without ties."""
    from mprlib.optimisers import basis_kernel
    from mprlib.optimisers.cell_pool_kernel import without_ties

    marginals = without_ties(pool.scores, pool.capacity, pool.marginals, False)
    return basis_kernel.Items(pool.k, marginals, pool.offset)


def top_basis(items: Items, room: int) -> Basis:
    """The basis of the k best items, the last of them free; room for so many cuts."""
    from mprlib.optimisers import basis_kernel
    from mprlib.optimisers.cell_pool_kernel import take_best

    taken = np.zeros(items.offset.size, np.int64)
    last = take_best(items.marginals, items.offset, items.k, taken)
    taken[last] -= 1
    places = np.zeros((2, taken.size + 1), np.int64)
    places[0, 0] = last
    return basis_kernel.Basis(
        taken=taken,
        free=places[0],
        tight=places[1],
        is_tight=np.zeros(room, np.int64),
        number=np.array([1, 0, -1]),
        inverse=np.empty((FIRST_FREE, FIRST_FREE)),
    )


def widened(basis: Basis) -> Basis:
    """The basis with room for twice as many free cells."""
    room = 2 * len(basis.inverse)
    basis.number[2] = -1
    return basis._replace(inverse=np.empty((room, room)))
