"""Simulated annealing between the cells of a ball, where a proof has ended far from the best set known.

A local search ends at sets that no exchange of one or two items improves. Annealing accepts losses on its way, fewer as
its temperature falls, and needs only products of items that are at hand: half a million exchanges take a few
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.local_search import BORDER
from mprlib.optimisers.relaxation import Relaxation

# Temperatures in the unit of scaled scores: from a few ranks of a cell to less than two scores differ, as a rule.
# The second start leaves more of the first set behind: it finds others where the relaxation's optimum misleads.
WARMEST, COLDEST, STEPS = (0.05, 0.2), 0.002, 450_000
# Penalty per unit beyond rho, in multipliers of rho: whole sets pay more for rho than fractional ones.
PENALTY = 4.0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class BallAnnealing:
    """Annealing over one pool.

    Shapes:  cells (C,), those with items; products (C, C) of their features.
    """

    pool: CellPool
    unit: float
    cells: IntArray
    products: FloatArray

    @classmethod
    def of(cls, pool: CellPool, ball: BallRegion) -> BallAnnealing:
        """The annealing over the cells with items of a ball whose features are complete."""
        cells = np.flatnonzero(pool.capacity)
        own = ball.features[cells]
        # No BLAS: its sums may depend on the number of threads.
        return cls(pool=pool, unit=ball.unit, cells=cells, products=np.einsum("ij,kj->ik", own, own))

    def best(self, relaxation: Relaxation, known: float) -> IntArray | None:
        """Counts (G,) inside rho, more similar than `known`; None where none were found."""
        from mprlib.optimisers import ball_anneal_kernel as kernel
        from mprlib.optimisers.random_kernel import exponential_quantiles

        pool = self.pool
        first = pool.first + 2 * np.arange(pool.cell_count)
        cells = kernel.Cells(self.products, pool.marginals, first[self.cells].astype(np.int64))
        cooling = kernel.Cooling(
            # The measuring code cuts the last digits of a value; a set at rho in the ball may exceed it by those.
            rho=relaxation.rho - BORDER * self.unit,
            penalty=PENALTY * max(relaxation.multiplier, 1.0 / self.unit),
            first=WARMEST[0],
            last=COLDEST,
            steps=STEPS,
            allowance=exponential_quantiles(),
        )
        value = pool.scores - relaxation.price[pool.cell]
        start = np.searchsorted(self.cells, pool.cell[np.argsort(-value, kind="stable")[: pool.k]]).astype(np.int64)
        chosen = np.full(pool.k, -1, np.int64)
        for warmest in WARMEST:
            known = kernel.annealed(cells, cooling._replace(first=warmest), known, start.copy(), chosen)
        return None if chosen[0] < 0 else np.bincount(self.cells[chosen], minlength=pool.cell_count)
