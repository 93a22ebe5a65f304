"""Branch and bound for seats: counts of items by cell that miss targets least, then are most similar.

A selection takes x_g items of cell g, the best ones of the cell. A level's seats are the sum of x over
its cells, and |seats - target| summed over all levels is what is missed. Two searches follow each other:

    fewest missed    min  sum_l lacking_l + surplus_l    seats_l + lacking_l - surplus_l = target_l, sum x = k
    most similar     max  sum_g F_g(x_g)                 the same, and sum_l lacking_l + surplus_l = fewest

F_g, the prefix sums of a cell's falling scores, is concave, so a linear programme over single items
takes a cell's items in their order. Branching is on a cell's count, x_g <= c or x_g >= c + 1. The seats
of two attributes are a transport problem, whose vertices are whole; with more, few nodes are usual.

Every linear programme is bounded in simplex iterations, and a search in nodes and in the iterations of
all its programmes: it ends whatever the numbers are, and reruns agree. A mixed-integer solver gives no
such bound: presolve, which comes before any node, can loop.

Scores enter as their distance from the one nearest to 0, in units of the largest distance, so that
tolerances are shares of their range; neither what all have in common nor the small ones are rounded off.
Where a few scores are outliers, the items that those tolerances cannot distinguish are searched once more,
by their reduced costs, which equal the scores up to a constant and have a smaller range.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool

if TYPE_CHECKING:
    from mprlib.optimisers.highs.programmes import ProgrammeAnswer

# Nodes of one search: with ten attributes over 2,000 items about 1,000 prove the best set.
NODE_LIMIT = 3_000
# Simplex iterations of one search, all nodes together: up to 10 s with 10,000 items.
ITERATION_LIMIT = 20_000
# Back-stop of a search, far above what those limits take.
TIME_LIMIT_SECONDS = 60.0
# A count this close to a whole number is that number, spoilt by the solver's tolerance of 1e-9.
WHOLE = 1e-6
# What a node must promise beyond the best set, the largest cost being 1: the solver's tolerance.
SMALLEST_GAIN = 1e-9
# A reduced cost this far above the gap fixes an item, whatever the solver's tolerance.
SETTLED = 1e-6
# Open items are searched once more when their costs have become this small beside the range ...
SMALL_RANGE = 1e-3
# ... and are more than the rounding of differences of scores.
ROUNDING = 1e-15


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Seats:
    """The best counts (G,) found, by how many seats they miss the targets, and what is proven of them."""

    counts: IntArray
    missed: int
    is_fewest: bool
    is_most_similar: bool
    is_out_of_time: bool


def search_seats(pool: CellPool, membership: scipy.sparse.csr_array, targets: IntArray, start: IntArray) -> Seats:
    """Counts that miss the targets least, the most similar among those.

    Shapes:  membership (levels, G), 1 where a level holds a cell; targets (levels,), whole, each
             attribute's summing to k; start (G,), any counts of k items.
    """
    items, levels = pool.items.size, targets.size
    costs = np.concatenate([np.zeros(items), np.ones(2 * levels)])
    fewest = _Search(pool, membership, targets, None).run(costs, start, 0 * pool.capacity, pool.capacity)
    missed = int(np.abs(membership @ fewest.counts - targets).sum())
    similar = _most_similar(_Search(pool, membership, targets, missed), pool, fewest.counts)
    return Seats(
        counts=similar.counts,
        missed=missed,
        is_fewest=fewest.is_complete,
        is_most_similar=similar.is_complete,
        is_out_of_time=fewest.is_out_of_time or similar.is_out_of_time,
    )


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Found:
    """Best counts (G,) of a search; gap and reduced costs (columns,) of its first programme, None if unsolved."""

    counts: IntArray
    is_complete: bool
    is_out_of_time: bool
    gap: float
    reduced_costs: FloatArray | None


def _most_similar(search: _Search, pool: CellPool, start: IntArray) -> _Found:
    items = pool.items.size
    nearest = pool.scores[np.argmin(np.abs(pool.scores))]
    costs = np.concatenate([nearest - pool.scores, np.zeros(search.columns - items)])
    low, high = 0 * pool.capacity, pool.capacity
    span, resolution = np.abs(costs).max(), 1.0
    while True:
        # Equal scores cost nothing: all sets are equally similar.
        found = search.run(costs / span if span > 0 else costs, start, low, high)
        if not found.is_complete or found.reduced_costs is None:
            return found
        costs, start, settled = found.reduced_costs, found.counts, found.gap + SETTLED
        low, high = _open_counts(pool, costs[:items], settled, low, high)
        span = np.abs(costs[np.abs(costs) <= settled]).max(initial=0.0)
        resolution *= span
        if span > SMALL_RANGE or resolution <= ROUNDING:
            return found


def _open_counts(
    pool: CellPool, reduced_costs: FloatArray, settled: float, low: IntArray, high: IntArray
) -> tuple[IntArray, IntArray]:
    """Counts (G,) that a set as good as the best found can have, at least and at most."""
    low, high = low.copy(), high.copy()
    is_in, is_out = reduced_costs < -settled, reduced_costs > settled
    np.maximum.at(low, pool.cell[is_in], pool.rank[is_in] + 1)
    np.minimum.at(high, pool.cell[is_out], pool.rank[is_out])
    return low, np.maximum(low, high)


class _Search:
    """The linear programme of both searches, with a column per item, then each level's shortfall, then its surplus.

    missed: by how many seats the targets must be missed; None where that is what is minimised.
    """

    def __init__(
        self, pool: CellPool, membership: scipy.sparse.csr_array, targets: IntArray, missed: int | None
    ) -> None:
        from mprlib.optimisers.highs.programmes import LinearProgramme

        self.pool = pool
        self._membership, self._targets, self._missed = membership, targets, missed
        items, levels = pool.items.size, targets.size
        self.columns = items + 2 * levels
        eye, is_item = scipy.sparse.identity(levels, format="csr"), np.arange(self.columns)[None, :] < items
        of_levels = scipy.sparse.hstack([membership[:, pool.cell], eye, -eye])
        of_items, of_misses = scipy.sparse.csr_array(is_item * 1.0), scipy.sparse.csr_array(~is_item * 1.0)
        matrix = scipy.sparse.vstack([of_items, of_levels, of_misses], format="csr")
        exact = np.array([pool.k, *targets], dtype=float)
        self._programme = LinearProgramme(
            matrix,
            np.append(exact, 0.0 if missed is None else missed),
            np.append(exact, np.inf if missed is None else missed),
            time_limit_seconds=TIME_LIMIT_SECONDS,
        )

    def run(self, costs: FloatArray, start: IntArray, low: IntArray, high: IntArray) -> _Found:
        """Least costs (columns,) over counts between low and high (G,), from counts `start` among them."""
        return _Tree(self, costs, start, low, high).grown()

    def cost(self, costs: FloatArray, counts: IntArray) -> float:
        """What whole counts (G,) cost; +inf where they miss the targets otherwise than they must."""
        surplus = self._membership @ counts - self._targets
        if self._missed is not None and np.abs(surplus).sum() != self._missed:
            return np.inf
        taken = self.pool.rank < counts[self.pool.cell]
        return float(costs @ np.concatenate([taken, np.maximum(-surplus, 0), np.maximum(surplus, 0)]))

    def bound(self, objective: float) -> float:
        """A bound on whole counts: too much in one level is lacking in another, so that even numbers are missed."""
        return objective if self._missed is not None else 2.0 * np.ceil(objective / 2.0 - WHOLE)

    def solved(self, costs: FloatArray, low: IntArray, high: IntArray, iteration_limit: int) -> ProgrammeAnswer:
        """The relaxation with counts between low and high (G,)."""
        cell, rank = self.pool.cell, self.pool.rank
        lower, upper = np.zeros(self.columns), np.full(self.columns, np.inf)
        lower[: cell.size], upper[: cell.size] = rank < low[cell], rank < high[cell]
        return self._programme.minimised(
            np.asarray(costs, dtype=np.float64), lower, upper, iteration_limit=iteration_limit
        )


# Bounds on counts that lead to a node: cell, least and most.
_Steps = tuple[tuple[int, int, int], ...]


class _Tree:
    """One branch and bound. The node of lowest bound comes first, and is followed down to a whole point."""

    def __init__(self, search: _Search, costs: FloatArray, start: IntArray, low: IntArray, high: IntArray) -> None:
        self._search, self._costs, self._low, self._high = search, costs, low, high
        self._best, self._best_cost = start, search.cost(costs, start)
        self._first: ProgrammeAnswer | None = None
        self._waiting: list[tuple[float, int, _Steps]] = [(-np.inf, 0, ())]
        self._nodes = self._iterations = 0
        self._is_complete, self._is_out_of_time = True, False

    def grown(self) -> _Found:
        while self._waiting and self._is_promising(self._waiting[0][0]) and not self._is_at_limit():
            steps: _Steps | None = heapq.heappop(self._waiting)[2]
            while steps is not None and not self._is_at_limit():
                steps = self._branched(steps)
            self._is_complete = self._is_complete and steps is None
        is_left = bool(self._waiting) and self._is_promising(self._waiting[0][0])
        return _Found(
            counts=self._best,
            is_complete=self._is_complete and not is_left,
            is_out_of_time=self._is_out_of_time,
            gap=0.0 if self._first is None else max(0.0, self._best_cost - self._first.objective),
            reduced_costs=None if self._first is None else self._first.reduced_costs,
        )

    def _is_promising(self, bound: float) -> bool:
        return bound < self._best_cost - SMALLEST_GAIN

    def _is_at_limit(self) -> bool:
        return self._is_out_of_time or self._nodes >= NODE_LIMIT or self._iterations >= ITERATION_LIMIT

    def _branched(self, steps: _Steps) -> _Steps | None:
        """Solve a node and put one of its branches aside; the other, None where the node is closed."""
        pool, low, high = self._search.pool, self._low.copy(), self._high.copy()
        for cell, least, most in steps:
            low[cell], high[cell] = least, most
        answer = self._search.solved(self._costs, low, high, ITERATION_LIMIT - self._iterations)
        self._first = self._first or answer
        self._nodes, self._iterations = self._nodes + 1, self._iterations + answer.iterations
        self._is_out_of_time = answer.is_out_of_time
        if answer.values is None:
            # Unless it is infeasible, this node's sets stay unknown.
            self._is_complete = self._is_complete and bool(np.isposinf(answer.objective))
            return None
        bound = self._search.bound(answer.objective)
        counts = pool.counts_of(answer.values[: pool.items.size])
        distances = np.abs(counts - np.rint(counts))
        if distances.max() <= WHOLE:
            self._take(np.rint(counts).astype(np.intp))
            return None
        if not self._is_promising(bound):
            return None
        cell = int(np.argmax(distances))
        below = int(counts[cell])
        branches = [(*steps, (cell, int(low[cell]), below)), (*steps, (cell, below + 1, int(high[cell])))]
        nearer = int(counts[cell] - below > 0.5)
        # Of equal bounds the latest goes first: it has fewer parts left.
        heapq.heappush(self._waiting, (bound, -self._nodes, branches[1 - nearer]))
        return branches[nearer]

    def _take(self, counts: IntArray) -> None:
        cost = self._search.cost(self._costs, counts)
        if cost < self._best_cost:
            self._best, self._best_cost = counts, cost
