"""The linear programme over cells under what trees allow whole counts of their leaves, and under limits of counts.

    maximise  sum_g F_g(x_g)   subject to  sum_g x_g = k,  limits of leaves, secants of trees,  low_g <= x_g <= high_g

Rows become cuts when an optimum breaks them, and those that have not been tight for longest are dropped. Only their
multipliers are read, which prove a bound whatever the solver's tolerances; right sides alone depend on rho and on the
limits of cells, so that each optimum starts from the last one, whichever it was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cell_programme import CellProgramme
from mprlib.optimisers.whole.leaf_counts import LeafCounts, Secant

# What is violated by less is met.
FEASIBILITY = 1e-6
# Limits that become rows at once, the ones violated most, and trees whose secants do.
MOST_LIMITS, MOST_TREES = 8, 4
# Rows that are held beside one for each cell, at most, and coefficients of them; and what stays when some are dropped.
MORE_ROWS, MORE_ENTRIES, KEPT = 250, 32_000, 0.6
# So many steps of the simplex method, times the size of the basis, take as long as all else of one programme.
STEPS = 1_000
# Programmes that one optimum takes at most.
LARGEST_ROUNDS = 60
# A penalty is no smaller, so that products of two compare the other one.
SMALLEST_PENALTY = 1e-7
# A proof that no counts meet the rows exceeds the rounding of its sums, in parts of the largest multiplier.
SMALLEST_CERTIFICATE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Optimum:
    """bound: proven, -inf where no counts meet the rows, inf where that is not clear; counts (G,), but for the solver's
    tolerance.

    price (G,): of one item of each cell, and level, of the k-th best item net of it; a set leaves room - price.x of the
    rows unused. rows (J, G) and right (J,): those held, until there are others.
    """

    bound: float
    counts: FloatArray
    price: FloatArray
    level: float
    room: float
    rows: FloatArray
    right: FloatArray


class LeafProgramme:
    """The programme of one pool; `solved` counts those solved, one that took many steps as several.

    A row's right side is factor * (what rho allows) + offset, or one of the limits: of sets from above and from below,
    then of cells.
    """

    def __init__(self, pool: CellPool, oracle: TreeOracle) -> None:
        self.leaves = LeafCounts.of(pool, oracle)
        self.solved = 0
        self._pool = pool
        self._most_rows = pool.cell_count + min(MORE_ROWS, MORE_ENTRIES // pool.cell_count)
        self._forget()

    @property
    def held(self) -> int:
        """How many rows are held."""
        return self._used

    def at(self, rho: float) -> bool:
        """Go on to another rho; whether every set has some whole count."""
        self._rho, self._allowed = rho, self.leaves.allowed(rho)
        self._low, self._high = self.leaves.limits(rho)
        return bool((self._low <= self._high).all())

    def optimum(self, low: FloatArray, high: FloatArray, enough: float, trees: int) -> Optimum:
        """The optimum with counts in [low, high], (G,) each, after rounds of separation.

        enough: a bound that needs no more of them. trees: how often the trees are asked at most.

        Raises:  PathLost where rounding has spoilt it.
        """
        limits: FloatArray = np.concatenate([self._high, -self._low, high, -low])
        for _ in range(LARGEST_ROUNDS):
            found = self._solved(limits)
            if found.bound <= enough or found.bound == np.inf:
                break
            held = self.leaves.held(found.counts)
            is_new = self._add_limits(limits, held, found.counts)
            if trees > 0:
                trees -= 1
                is_new = self.add_trees(held) or is_new
            if not is_new:
                break
        return found

    def parting(self, counts: FloatArray, whole: float) -> tuple[int, bool]:
        """The cell whose count at the last optimum is best made whole, -1 where all are within a distance, and whether
        the larger whole number costs less."""
        down, up = self._programme.penalties(counts, whole)
        score = np.where(down < 0.0, -1.0, np.maximum(down, SMALLEST_PENALTY) * np.maximum(up, SMALLEST_PENALTY))
        cell = int(np.argmax(score))
        return (cell if score[cell] > 0.0 else -1), bool(up[cell] < down[cell])

    def add_trees(self, held: FloatArray) -> bool:
        """Cuts of the trees that are worth more at counts of the sets (U,) than rho allows."""
        secants = self.leaves.secants(held, self._rho, MOST_TREES)
        for one in secants:
            self._add(one, -1)
        return len(secants) > 0

    def _add_limits(self, limits: FloatArray, held: FloatArray, counts: FloatArray) -> bool:
        """Rows of the limits (2U + 2G,) that counts of the sets (U,) and of the cells (G,) exceed most, as far as they
        are not held."""
        from mprlib.optimisers.whole.leaf_kernel import broken_limits

        worst = broken_limits(limits, held, counts, self._limit[: self._used], FEASIBILITY, MOST_LIMITS)
        for one in worst.tolist():
            self._add(Secant(row=self._row_of(one), factor=0.0, offset=0.0), one)
        return worst.size > 0

    def _row_of(self, limit: int) -> FloatArray:
        """The coefficients (G,) of a limit."""
        sets, cells = self.leaves.target.size, self._pool.cell_count
        if limit < 2 * sets:
            members = self.leaves.members[:, limit % sets]
            return members if limit < sets else -members
        own = np.zeros(cells)
        place = limit - 2 * sets
        own[place % cells] = 1.0 if place < cells else -1.0
        return own

    def _forget(self) -> None:
        """Begin without rows."""
        self._programme = CellProgramme(self._pool)
        # For each row: its factor and its offset, its limit or -1, and for how many optima it has not been tight.
        room = 2 * self._most_rows
        self._terms, self._used = np.empty((2, room)), 0
        self._limit, self._idle = np.empty(room, np.int64), np.empty(room, np.int64)

    def _add(self, secant: Secant, limit: int) -> None:
        self._programme.add_cut(secant.row)
        row = self._used
        self._terms[:, row] = secant.factor, secant.offset
        self._limit[row], self._idle[row] = limit, 0
        self._used += 1

    def _solved(self, limits: FloatArray) -> Optimum:
        """The optimum under the rows that are held."""
        from mprlib.optimisers.whole.leaf_kernel import right_sides

        self._drop()
        right = right_sides(limits, self._limit[: self._used], self._terms, self._allowed)
        try:
            vertex = self._programme.under(right)
        except PathLost:
            self._forget()
            raise
        self.solved += 1 + vertex.work // STEPS
        bound = vertex.bound
        if vertex.is_infeasible:
            is_proven = bound < -SMALLEST_CERTIFICATE * float(vertex.prices.max(initial=0.0))
            bound = -np.inf if is_proven else np.inf
        else:
            idle = self._idle[: self._used]
            idle += 1
            idle[self._programme.is_needed()] = 0
        return Optimum(
            bound=bound,
            counts=np.minimum(np.maximum(vertex.counts, 0.0), self._pool.capacity),
            price=vertex.price,
            level=vertex.level,
            room=vertex.room,
            rows=self._programme.cuts,
            right=right,
        )

    def _drop(self) -> None:
        """Drop the rows that have not been tight for longest, where there are too many."""
        if self._used <= self._most_rows:
            return
        is_needed = self._programme.is_needed()
        order = np.argsort(np.where(is_needed, -1, self._idle[: self._used]), kind="stable")
        kept = np.sort(order[: max(int(KEPT * self._most_rows), int(is_needed.sum()))])
        self._programme.keep(kept.tolist())
        self._used = kept.size
        for held in (self._terms, self._limit, self._idle):
            held[..., : kept.size] = held[..., kept]
