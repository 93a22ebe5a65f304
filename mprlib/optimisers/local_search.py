"""Local search over whole counts: steepest ascent by moves of one item between cells.

The merit of counts is  similarity - penalty * max(0, value - rho),  an exact penalty: with a penalty of at
least the relaxation's multiplier, violating rho costs about as much as it gains. An ascent that ends outside
rho is continued with a larger penalty. Inside, merit is similarity, and moves that violate rho are excluded.
At a local optimum of single moves, pairs of moves are tried.

The relaxation also selects the neighbourhood. At its prices, the similarity by which a set is below the dual
bound is a sum over cells of what its count loses against the best count at those prices; so a cell whose
last and next items are far from the margin at those prices keeps its count in a good set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.near_counts import margin_of
from mprlib.optimisers.region import Region
from mprlib.optimisers.relaxation import Relaxation

# A region's value may exceed rho by this, in the class's unit: the measuring code, which decides, cuts such digits.
BORDER = 1e-13
# A gain below this is rounding of sums of k scores, on which the ascent could cycle.
SMALLEST_GAIN = 1e-12
# Ascents, each with a penalty larger by the factor: the last one has 4^6 times the relaxation's multiplier.
LARGEST_PENALTY_STEPS = 7
PENALTY_GROWTH = 4.0
# Moves of one ascent per item: an ascent needs each item once or twice.
LARGEST_MOVES_PER_ITEM = 4
# Relative gap to the dual bound below which pairs of moves are not tried: their gain would be smaller yet.
SMALL_GAP = 3e-4


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Moves:
    """Moves of one item each.  Shapes: giving, taking (w,), cells; gain (w,), in similarity."""

    giving: IntArray
    taking: IntArray
    gain: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LocalSearch:
    """The search for one rho.

    Shapes:  cells (c,), those whose counts may change; price (G,), of one item of each cell.
    penalty: similarity per unit of violation. enough: a similarity that pairs of moves need not improve.
    """

    pool: CellPool
    region: Region
    rho: float
    cells: IntArray
    price: FloatArray
    penalty: float
    enough: float

    @classmethod
    def of(cls, relaxation: Relaxation, pool: CellPool, region: Region, slack: float = BORDER) -> LocalSearch:
        """The search that belongs to a relaxation; values up to rho + slack, in the class's unit, meet rho."""
        return cls(
            pool=pool,
            region=region,
            rho=relaxation.rho + slack * region.unit,
            cells=nearest_to_the_margin(relaxation, pool, region.neighbourhood.cells),
            price=relaxation.price,
            # With a multiplier of 0 the range of all similarities is the first penalty.
            penalty=max(relaxation.multiplier, float(np.ptp(pool.scores)) * pool.k),
            enough=enough_of(relaxation),
        )

    def optimum(self, counts: IntArray) -> IntArray:
        """A local optimum from whole counts (G,); it violates rho only where no penalty led inside."""
        penalty = self.penalty
        for _ in range(LARGEST_PENALTY_STEPS):
            counts, value = self._ascend(counts, penalty)
            if value <= self.rho:
                break
            penalty *= PENALTY_GROWTH
        return counts

    def next_inside(self, counts: IntArray) -> IntArray | None:
        """Counts after the move that gains most among those that the region values at most rho; None at an optimum."""
        # Whatever the value here is, no move may violate rho.
        after, _, gain = self._after_best_swap(counts, self.rho, 0.0)
        return after if gain > SMALLEST_GAIN else None

    def _after_best_swap(self, counts: IntArray, value: float, penalty: float) -> tuple[IntArray, float, float]:
        """Counts after the best move from counts of this value, their own value, and what is gained in merit."""
        from mprlib.optimisers import local_search_kernel as kernel

        cells, values = self.cells, self.region.swap_values(counts, self.cells)
        gains, losses = self.pool.next_gains(counts)[cells], self.pool.last_losses(counts)[cells]
        giving, taking, merit = kernel.best_swap(values, gains, losses, value, self.rho, penalty)
        after = counts.copy()
        after[cells[giving]] -= 1
        after[cells[taking]] += 1
        return after, float(values[giving, taking]), merit

    def _ascend(self, counts: IntArray, penalty: float) -> tuple[IntArray, float]:
        """Counts that no move improves at this penalty, and their value."""
        counts = counts.copy()
        value = self.region.value(counts)
        pair_steps = 0
        for _ in range(LARGEST_MOVES_PER_ITEM * self.pool.k):
            after, value_after, merit = self._after_best_swap(counts, value, penalty)
            if merit > SMALLEST_GAIN:
                counts, value = after, value_after
                continue
            is_enough = value <= self.rho and self.pool.similarity(counts) >= self.enough
            if pair_steps >= self.region.neighbourhood.pair_steps or is_enough:
                break
            pair_steps += 1
            value_after_pair = self._move_pair(counts, value, penalty)
            if value_after_pair is None:
                break
            value = value_after_pair
        # Differences accumulate rounding; the value of the result is summed anew.
        return counts, self.region.value(counts)

    def _move_pair(self, counts: IntArray, value: float, penalty: float) -> float | None:
        """Apply the best pair of moves that share no cell, in place; the value after it, None when none improves."""
        from mprlib.optimisers import local_search_kernel as kernel

        moves = self._cheapest_moves(counts)
        giving, taking = moves.giving, moves.taking
        if giving.size < 2:
            return None
        values = self.region.pair_values(counts, giving, taking)
        first, second, merit = kernel.best_pair(values, (giving, taking, moves.gain), value, self.rho, penalty)
        if not merit > SMALLEST_GAIN:
            return None
        for move in (first, second):
            counts[giving[move]] -= 1
            counts[taking[move]] += 1
        return float(values[first, second])

    def _cheapest_moves(self, counts: IntArray) -> _Moves:
        """The possible moves that lose least at the relaxation's prices."""
        cells, price = self.cells, self.price[self.cells]
        gains, losses = self.pool.next_gains(counts), self.pool.last_losses(counts)
        cost = (losses[cells] - price)[:, None] - (gains[cells] - price)[None, :]
        np.fill_diagonal(cost, np.inf)
        size = min(self.region.neighbourhood.moves_in_pairs, cost.size)
        moves = np.argpartition(cost.ravel(), size - 1)[:size]
        moves.sort()
        rows, columns = np.divmod(moves[np.isfinite(cost.ravel()[moves])], cells.size)
        giving, taking = cells[rows], cells[columns]
        return _Moves(giving=giving, taking=taking, gain=gains[taking] - losses[giving])


def enough_of(relaxation: Relaxation) -> float:
    """A similarity that pairs of moves need not improve."""
    bound = relaxation.bound
    return np.inf if relaxation.is_infeasible else bound - SMALL_GAP * abs(bound)


def nearest_to_the_margin(relaxation: Relaxation, pool: CellPool, limit: int) -> IntArray:
    """The cells (at most `limit`, rising) with an item nearest to the margin at the relaxation's prices."""
    if pool.cell_count <= limit:
        return np.arange(pool.cell_count)
    from mprlib.optimisers.near_kernel import distances

    margin = margin_of(relaxation, pool)
    distance = distances(pool.scores, pool.first, pool.capacity, relaxation.price, margin)
    return np.sort(np.argpartition(distance, limit)[:limit])
