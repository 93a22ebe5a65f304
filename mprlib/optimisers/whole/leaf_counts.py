"""What trees allow the whole counts of their leaves.

With t_L = k q_L a leaf of count c_L is worth

    w_L (c_L - t_L)^2,  w_L = D / (N_L k^2)      (values {-1, +1}: |c_L - t_L| / k),

and the leaves of each tree are worth rho^2 (rho) at most in all. Two kinds of inequalities follow that hold for whole
counts, and that counts which may be fractions break:

*Limits.* A leaf and the union of a tree's other leaves, which is worth no more than these, leave c_L an interval around
t_L, which is rounded to whole numbers.

*Secants.* Between two neighbouring whole numbers the line through a leaf's worths at both is a lower bound at every
whole count. Their sum over a tree's leaves is a cut: at fractional counts it lies above what the tree is worth there,
so that the tree which sees most of it is found as any best tree is.

Worked example: one attribute of two levels, t = 3/2, k = 3: at counts (3/2, 3/2) a tree sees nothing, and the secant
between 1 and 2 says w / 4 for either leaf, as much as any whole counts have at least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

# A count is nearer to a whole number than this through rounding.
WHOLE = 1e-9
# What rounding may take from a sum of a secant's terms, in parts of their sizes.
ROUNDING = 1e-13
# A tree is worth more than rho allows, relative, where this is no rounding.
SMALLEST_VIOLATION = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Secant:
    """row . x <= factor * (what rho allows) + offset for all whole counts; row (G,), of size 1 at most."""

    row: FloatArray
    factor: float
    offset: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LeafCounts:
    """The sets of cells that leaves may hold.

    Shapes:  members (G, U), as 0 and 1; target (U,) = k q; weight (U,); reach (U,), what a leaf and all others together
             are worth for one item beside the target; floor (U,), what the others of some tree are worth at least at
             whole counts; fewest, most (U,), items of k that the pool has for them.
    """

    oracle: TreeOracle
    members: FloatArray
    target: FloatArray
    weight: FloatArray
    reach: FloatArray
    floor: FloatArray
    fewest: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, pool: CellPool, oracle: TreeOracle) -> LeafCounts:
        """Those of one pool."""
        sets, k, masses, capacity = oracle.leaf_sets, pool.k, oracle.cells.masses, pool.capacity.astype(float)
        rest, beside = ((1.0 - sets) @ np.column_stack([masses, capacity])).T
        weight, others = np.full(len(sets), 1.0 / k), np.full(len(sets), 1.0 / k)
        if not oracle.is_signed:
            weight = oracle.scale / (sets @ masses) / k**2
            others = np.divide(oracle.scale / k**2, rest, out=np.zeros_like(rest), where=rest > 0)
        made = cls(
            oracle=oracle,
            members=np.ascontiguousarray(sets.T),
            target=k * (sets @ oracle.cells.reference_shares),
            weight=weight,
            reach=weight + others,
            floor=np.zeros(len(sets)),
            fewest=np.maximum(k - beside, 0.0),
            most=np.minimum(sets @ capacity, k),
        )
        # Rounding of the targets may take a little.
        nearest = np.clip(np.rint(made.target), made.fewest, made.most)
        least = np.maximum(np.abs(nearest - made.target) - WHOLE, 0.0)
        return replace(made, floor=oracle.worths_of_others(made.worths(made.target + least)))

    def held(self, counts: FloatArray) -> FloatArray:
        """The counts (U,) of the sets at counts (G,) of the cells."""
        from mprlib.optimisers.whole.leaf_kernel import combined

        return combined(counts, self.members)

    def allowed(self, rho: float) -> float:
        """What the leaves of a tree may be worth in all."""
        limit = rho + SMALLEST_EXCESS
        return limit if self.oracle.is_signed else limit**2

    def limits(self, rho: float) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest whole count (U,) of each set; none where the first is larger."""
        allowed = self.allowed(rho)
        distance = np.minimum(allowed / self.reach, np.maximum(allowed - self.floor, 0.0) / self.weight)
        if not self.oracle.is_signed:
            distance = np.sqrt(distance)
        low, high = np.ceil(self.target - distance - WHOLE), np.floor(self.target + distance + WHOLE)
        return np.maximum(low, self.fewest), np.minimum(high, self.most)

    def secants(self, held: FloatArray, rho: float, most: int) -> list[Secant]:
        """The cuts of the trees that are worth most at counts of the sets (U,), which break them."""
        from mprlib.optimisers.whole import leaf_kernel as kernel

        secants = np.empty((4, held.size))
        kernel.secant_worths(held, self.target, self.weight, self.oracle.is_signed, WHOLE, secants)
        found = []
        least = self.allowed(rho) * (1.0 + SMALLEST_VIOLATION)
        for _, place in self.oracle.best_partitions(secants[3], most, least):
            row = np.empty(place.size)
            size, offset, terms = kernel.write_secant(secants, place, row)
            found.append(Secant(row=row, factor=1.0 / size, offset=(offset + ROUNDING * terms) / size))
        return found

    def worths(self, counts: FloatArray) -> FloatArray:
        """What each set (U,) is worth as a leaf."""
        distance = np.abs(counts - self.target)
        return self.weight * (distance if self.oracle.is_signed else distance**2)
