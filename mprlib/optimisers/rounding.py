"""From the relaxation's fractional counts to k whole items that meet rho.

Start with the floor of the counts and give the missing items to the cells with the largest
fractions. Then climb by swaps on the merit

    similarity - weight * max(0, value - rho),

which is an exact penalty: with the weight at what rho is worth in the relaxation a climb pays for
violation about what it costs, and a climb that ends outside goes on with a higher weight. Inside,
the same climb is the plain improvement. Where no swap helps, pairs of swaps are tried.

Which cells and swaps are tried is the relaxation's choice. At its prices the similarity that a
set falls short of the bound is the sum over cells of what its count loses against the best count
at those prices, so cells whose next or last item is dearest at the prices cannot be in a good set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.problem import FloatArray, IntArray

# A fraction this close to a whole number is one, rounded by the solver.
INTEGRALITY = 1e-6
# A region's value this little above rho, in the class's unit, is rho: the measuring code, which decides, drops
# such digits.
BORDER = 1e-13
# Gains below this are rounding of sums of k scores; climbing on them could go in circles.
SMALLEST_GAIN = 1e-12
# Climbs with rising weight: the last one pays 4^6 times the relaxation's price.
LARGEST_WEIGHT_STEPS = 7
WEIGHT_GROWTH = 4.0
# A climb moves k items a few times over at most.
LARGEST_SWAPS_PER_ITEM = 4
# Below this part of the bound a gap is not worth pairs of swaps.
WORTHWHILE_GAP = 3e-4


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Climb:
    """The landscape of one rho.

    Shapes:  cells (c,), those that may change; price (G,) of one item of each.
    weight: similarity a unit of violation. enough: a similarity that needs no improvement.
    """

    pool: CellPool
    region: Region
    rho: float
    cells: IntArray
    price: FloatArray
    weight: float
    enough: float

    @classmethod
    def of(cls, relaxation: Relaxation, pool: CellPool, region: Region, slack: float = BORDER) -> Climb:
        """The landscape that goes with a relaxation; values up to rho + slack, in the class's unit, lie inside."""
        bound = relaxation.bound
        return cls(
            pool=pool,
            region=region,
            rho=relaxation.rho + slack * region.unit,
            cells=_promising(relaxation, pool, region.cell_limit),
            price=relaxation.price,
            # Where rho has no worth, the range of scores stands in: some weight has to be tried first.
            weight=max(relaxation.multiplier, float(np.ptp(pool.scores)) * pool.k),
            enough=np.inf if bound is None else bound - WORTHWHILE_GAP * abs(bound),
        )

    def top(self, counts: IntArray) -> IntArray:
        """Whole counts that no move improves; outside of rho only where no climb led inside."""
        weight = self.weight
        for _ in range(LARGEST_WEIGHT_STEPS):
            counts, value = self._ascend(counts, weight)
            if value <= self.rho:
                break
            weight *= WEIGHT_GROWTH
        return counts

    def next_inside(self, counts: IntArray) -> IntArray | None:
        """Counts after the swap that gains most similarity among those that the region calls inside."""
        winning, losing = self.pool.winning(counts), self.pool.losing(counts)
        gain = winning[self.cells][None, :] - losing[self.cells][:, None]
        gain[self.region.swap_values(counts, self.cells) > self.rho] = -np.inf
        np.fill_diagonal(gain, -np.inf)
        best = int(gain.argmax())
        if not gain.flat[best] > SMALLEST_GAIN:
            return None
        giving, taking = divmod(best, self.cells.size)
        after = counts.copy()
        after[self.cells[giving]] -= 1
        after[self.cells[taking]] += 1
        return after

    def _ascend(self, counts: IntArray, weight: float) -> tuple[IntArray, float]:
        counts = counts.copy()
        value = self.region.value(counts)
        pair_steps = 0
        for _ in range(LARGEST_SWAPS_PER_ITEM * self.pool.k):
            winning, losing = self.pool.winning(counts), self.pool.losing(counts)
            after = self.region.swap_values(counts, self.cells)
            gain = self._gain(winning[self.cells][None, :] - losing[self.cells][:, None], after, value, weight)
            np.fill_diagonal(gain, -np.inf)
            best = int(gain.argmax())
            if gain.flat[best] > SMALLEST_GAIN:
                giving, taking = divmod(best, self.cells.size)
                counts[self.cells[giving]] -= 1
                counts[self.cells[taking]] += 1
                value = float(after.flat[best])
                continue
            is_enough = value <= self.rho and self.pool.similarity(counts) >= self.enough
            if pair_steps >= self.region.pair_steps or is_enough:
                break
            pair_steps += 1
            value_after_pair = self._pair(counts, winning, losing, value, weight)
            if value_after_pair is None:
                break
            value = value_after_pair
        # Differences pile up rounding; what decides is the sum.
        return counts, self.region.value(counts)

    def _gain(self, similarity: FloatArray, after: FloatArray, value: float, weight: float) -> FloatArray:
        """What a move adds to the merit; a move from inside to outside is none."""
        excess = np.maximum(after - self.rho, 0.0)
        if value <= self.rho:
            similarity[excess > 0.0] = -np.inf
            return similarity
        excess -= value - self.rho
        excess *= weight
        similarity -= excess
        return similarity

    def _pair(
        self, counts: IntArray, winning: FloatArray, losing: FloatArray, value: float, weight: float
    ) -> float | None:
        """Take the best pair of swaps that share no cell, in place; its value, None when none helps."""
        cells, price = self.cells, self.price[self.cells]
        cost = (losing[cells] - price)[:, None] - (winning[cells] - price)[None, :]
        np.fill_diagonal(cost, np.inf)
        size = min(self.region.pair_moves, cost.size)
        moves = np.argpartition(cost.ravel(), size - 1)[:size]
        moves.sort()
        giving, taking = np.divmod(moves, cells.size)
        possible = np.isfinite(cost.ravel()[moves])
        giving, taking = cells[giving[possible]], cells[taking[possible]]
        if giving.size < 2:
            return None
        after = self.region.pair_values(counts, giving, taking)
        single = winning[taking] - losing[giving]
        gain = self._gain(single[:, None] + single[None, :], after, value, weight)
        # Two swaps through one cell would count its margin twice.
        gain[giving[:, None] == giving] = -np.inf
        gain[taking[:, None] == taking] = -np.inf
        gain[giving[:, None] == taking] = -np.inf
        gain[taking[:, None] == giving] = -np.inf
        best = int(gain.argmax())
        if not gain.flat[best] > SMALLEST_GAIN:
            return None
        for move in divmod(best, giving.size):
            counts[giving[move]] -= 1
            counts[taking[move]] += 1
        return float(after.flat[best])


def rounded(counts: FloatArray, pool: CellPool) -> IntArray:
    """Whole counts (G,) next to fractional ones: largest fractions first, first cells on ties."""
    floor = np.clip(np.floor(counts + INTEGRALITY).astype(np.intp), 0, pool.capacity)
    missing = max(pool.k - int(floor.sum()), 0)
    fraction = np.where(floor < pool.capacity, counts - floor, -np.inf)
    floor[np.argsort(-fraction, kind="stable")[:missing]] += 1
    np.minimum(floor, pool.capacity, out=floor)
    missing = pool.k - int(floor.sum())
    # Left over, or too many, only where a solver's counts do not sum to k: any room will do.
    for cell in np.flatnonzero(floor):
        step = min(max(-missing, 0), int(floor[cell]))
        floor[cell] -= step
        missing += step
    for cell in np.flatnonzero(floor < pool.capacity):
        step = min(missing, int(pool.capacity[cell] - floor[cell]))
        floor[cell] += step
        missing -= step
    return floor


def _promising(relaxation: Relaxation, pool: CellPool, limit: int) -> IntArray:
    """The cells whose next or last item costs least at the relaxation's prices, in cell order."""
    if pool.cell_count <= limit:
        return np.arange(pool.cell_count)
    value = pool.scores - relaxation.price[pool.cell]
    margin = np.partition(value, value.size - pool.k)[value.size - pool.k] if pool.k < value.size else value.min()
    near = np.full(pool.cell_count, np.inf)
    np.minimum.at(near, pool.cell, np.abs(value - margin))
    return np.sort(np.argpartition(near, limit)[:limit])
