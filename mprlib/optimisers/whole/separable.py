"""Whole counts of the saturated class: a price on the square of MPR, for which a greedy is exact.

    MPR^2 = sum_g u_g (x_g - k q_g)^2,       u_g = D / (N_g k^2)

is separable, and convex in each count. With a price mu >= 0 every set that meets rho has

    similarity(x)  <=  max over whole y, sum y = k, of  sum_g F_g(y_g) - mu u_g (y_g - k q_g)^2   +  mu rho^2,

and the maximum is attained by the k largest increments, since each term is concave in whole counts. The same
greedy without scores gives the smallest MPR of all sets. Sets better than the incumbent lose less, against the
maximum at the best mu, than the bound exceeds the incumbent; they are searched depth first.

Worked example: two cells of equal shares and masses, k = 1: u (1 - 1/2)^2 + u (0 - 1/2)^2 = u / 2 for either set,
so no rho below sqrt(u / 2) is met, although half an item of each would have MPR 0.

Source:  Ibaraki and Katoh 1988, on the greedy algorithm for separable resource allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import IntArray
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.separable_kernel import Separable

# A node has two sums here, in the place of a lattice's row.
CHEAPER = 6


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class SeparableProof:
    """Proofs for one problem's saturated class."""

    pool: CellPool
    oracle: SaturatedOracle

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest MPR of whole counts, and the counts of the greedy, whatever the closest known ones."""
        nearest, square = self._nearest()
        return Floor(rho=float(np.sqrt(square)) - SMALLEST_EXCESS, counts=nearest, is_attained=True)

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best counts at the best price, then the depth-first search."""
        from mprlib.optimisers.whole import separable_kernel as kernel

        problem = self._problem()
        limit = (relaxation.rho + SMALLEST_EXCESS) ** 2
        nearest, square = self._nearest()
        if square > limit:
            return Searched(counts=None, bound=-np.inf, is_complete=True)
        counts, best = np.zeros_like(nearest), np.zeros_like(nearest)
        price, bound, similarity = kernel.best_price(problem, limit, nearest, counts, best)
        if incumbent is not None and self.pool.similarity(incumbent) >= similarity:
            best, similarity = incumbent.astype(np.int64), self.pool.similarity(incumbent)
        visited = 0
        if bound - similarity > kernel.ROUNDING:
            near = kernel.choices(problem, price, counts, bound - similarity)
            terms = kernel.Terms(self.pool.k, limit, price, bound)
            similarity, visited = kernel.search(near, terms, similarity, CHEAPER * nodes, best)
        is_complete = visited <= CHEAPER * nodes
        return Searched(
            counts=best.astype(np.intp),
            bound=similarity if is_complete else bound,
            is_complete=is_complete,
            nodes=visited,
        )

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _nearest(self) -> tuple[IntArray, float]:
        from mprlib.optimisers.whole import separable_kernel as kernel

        counts = np.zeros(self.pool.cell_count, np.int64)
        _, square = kernel.greedy(self._problem(), 1.0, 0.0, counts)
        return counts, square

    def _problem(self) -> Separable:
        from mprlib.optimisers.whole.separable_kernel import Separable

        pool, cells = self.pool, self.oracle.cells
        return Separable(
            k=pool.k,
            first=pool.first.astype(np.int64),
            capacity=pool.capacity.astype(np.int64),
            scores=pool.scores,
            target=pool.k * cells.reference_shares,
            weight=self.oracle.scale / cells.masses / pool.k**2,
        )
