"""From the relaxation's fractional counts to k whole items that meet rho.

Start with the floor of the counts and give the missing items to the cells with the largest
fractions. Then climb by swaps on the merit

    similarity - weight * max(0, value - rho),

which is an exact penalty: with the weight at what rho is worth in the relaxation a climb pays for
violation about what it costs, and a climb that ends outside goes on with a higher weight. Inside,
the same climb is the plain improvement by swaps.
"""

from __future__ import annotations

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import Region
from mprlib.problem import FloatArray, IntArray

# A fraction this close to a whole number is one, rounded by the solver.
INTEGRALITY = 1e-6
# Gains below this are rounding of sums of k scores; climbing on them could go in circles.
SMALLEST_GAIN = 1e-12
# Climbs with rising weight: the last one pays 4^6 times the relaxation's price.
LARGEST_WEIGHT_STEPS = 7
WEIGHT_GROWTH = 4.0
# A climb moves k items a few times over at most.
LARGEST_SWAPS_PER_ITEM = 4


def rounded(counts: FloatArray, pool: CellPool) -> IntArray:
    """Whole counts (G,) next to fractional ones: largest fractions first, first cells on ties."""
    floor = np.minimum(np.floor(counts + INTEGRALITY).astype(np.intp), pool.capacity)
    missing = pool.k - int(floor.sum())
    fraction = np.where(floor < pool.capacity, counts - floor, -np.inf)
    floor[np.argsort(-fraction, kind="stable")[:missing]] += 1
    missing = pool.k - int(floor.sum())
    for cell in np.flatnonzero(floor < pool.capacity):
        # Only reached when the fractions of fewer cells than items are missing.
        if missing <= 0:
            break
        step = min(missing, int(pool.capacity[cell] - floor[cell]))
        floor[cell] += step
        missing -= step
    return floor


def climb(counts: IntArray, pool: CellPool, region: Region, rho: float, multiplier: float) -> IntArray:
    """Whole counts that no swap improves; outside of rho only where no climb led inside."""
    weight = max(multiplier, smallest_weight(pool))
    for _ in range(LARGEST_WEIGHT_STEPS):
        counts = _ascend(counts, pool, region, rho, weight)
        if region.value(counts) <= rho:
            break
        weight *= WEIGHT_GROWTH
    return counts


def smallest_weight(pool: CellPool) -> float:
    """A weight that means something where the relaxation gives rho no worth: the range of scores."""
    return float(np.ptp(pool.scores)) * pool.k + 1.0


def _ascend(counts: IntArray, pool: CellPool, region: Region, rho: float, weight: float) -> IntArray:
    counts = counts.copy()
    excess = max(0.0, region.value(counts) - rho)
    for _ in range(LARGEST_SWAPS_PER_ITEM * pool.k):
        gain = pool.winning(counts)[None, :] - pool.losing(counts)[:, None]
        after = region.swap_values(counts)
        after -= rho
        # Outside by a hair is outside: what counts as inside must be so for the measuring code.
        np.maximum(after, 0.0, out=after)
        gain -= weight * (after - excess)
        if excess == 0.0:
            gain[after > 0.0] = -np.inf
        np.fill_diagonal(gain, -np.inf)
        best = int(np.argmax(gain))
        if not gain.flat[best] > SMALLEST_GAIN:
            break
        giving, taking = divmod(best, counts.size)
        counts[giving] -= 1
        counts[taking] += 1
        excess = max(0.0, region.value(counts) - rho)
    return counts
