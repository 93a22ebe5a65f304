"""Whole counts of any ball over few cells: the lattice of the cells' counts.

With one cell taking what is left of k, v = k M_last + sum_g x_g (M_g - M_last) is a lattice point in as many
dimensions as there are other cells. Counts are decided cell by cell; the ball bounds the part of v that is decided,
and the gap bounds the sum of the losses so far (see `ball_prices`). For a kernel, whose cells are all apart, both
bounds are strong together: either alone leaves far too many counts.

Worked example: two cells, M = (1, -1) / k, k = 3: v = -1 + 2 x_1 / 3 is 1/3 from 0 at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.whole.ball_prices import BallPrices
from mprlib.optimisers.whole.deepening import deepened, over_all, with_counts
from mprlib.optimisers.whole.lattice import Triangular, basis_of, sorted_qr
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.cell_kernel import Counted
    from mprlib.optimisers.whole.decoder_kernel import Basis


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellProof:
    """Proofs by counts of cells.

    Shapes:  cells (F,), those with items. features (F, r), centred, per item and in
             the class's unit. constant (r,) = k M_last.
    """

    pool: CellPool
    cells: IntArray
    form: Triangular
    counted: Counted
    features: FloatArray
    constant: FloatArray
    unit: float

    @classmethod
    def of(cls, pool: CellPool, ball: BallRegion) -> CellProof:
        """The proof for a ball over these cells."""
        cells = np.flatnonzero(pool.capacity)
        features = ball.features[cells] / ball.unit
        last = int(np.argmax(pool.capacity[cells]))
        others = np.setdiff1d(np.arange(cells.size), [last])
        steps = (features[others] - features[last]).T
        # Those in the span of the others come last, so that they are decided first.
        form = sorted_qr(steps).with_dependent(steps)
        counted = _counted(pool, cells, others[form.order], last)
        determined = (np.arange(others.size) < others.size - form.dependent.size).astype(np.int64)
        return cls(
            pool=pool,
            cells=cells,
            form=form,
            counted=counted._replace(is_determined=determined),
            features=features,
            constant=pool.k * features[last],
            unit=ball.unit,
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest MPR of whole counts, by a ball that shrinks from the closest known ones."""
        from mprlib.optimisers.whole import cell_kernel as kernel

        task = kernel.CountTask(self.pool.k, value / self.unit + SMALLEST_EXCESS, 0.0, 0.0, nodes, True)
        counts = closest[self.cells].astype(np.int64)
        _, square, is_complete, _ = kernel.counted(
            self._basis(np.zeros_like(self.constant)), self.counted, task, -np.inf, counts
        )
        if not is_complete or not np.isfinite(square):
            return Floor(rho=0.0, counts=over_all(counts, self.cells, self.pool.cell_count))
        smallest = (float(np.sqrt(square)) - SMALLEST_EXCESS) * self.unit
        return Floor(
            rho=max(smallest, 0.0), counts=over_all(counts, self.cells, self.pool.cell_count), is_attained=True
        )

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best counts in the cap."""
        from mprlib.optimisers.whole import cell_kernel as kernel

        prices = BallPrices.of(relaxation, self.pool, self.cells, self.features, self.unit)
        start = -np.inf if incumbent is None else self.pool.similarity(incumbent)
        rho, length = relaxation.rho / self.unit + SMALLEST_EXCESS, relaxation.multiplier * self.unit
        bound = prices.bound + SMALLEST_EXCESS * length
        basis, cells = self._basis(prices.direction), self.counted._replace(loss=prices.loss)
        counts = np.zeros(self.cells.size, np.int64)

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            task = kernel.CountTask(self.pool.k, rho, length, bound, left, False)
            best, _, is_complete, visited = kernel.counted(basis, cells, task, threshold, counts)
            return best, is_complete, visited

        found = deepened(search, bound, start, nodes, self.pool.k)
        return with_counts(found, counts, self.cells, self.pool.cell_count)

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _basis(self, direction: FloatArray) -> Basis:
        return basis_of(self.form, self.constant, direction)


def _counted(pool: CellPool, cells: IntArray, others: IntArray, last: int) -> Counted:
    """The cells in order of the coordinates, without losses."""
    from mprlib.optimisers.whole.cell_kernel import Counted

    capacity = pool.capacity[cells].astype(np.int64)
    own = capacity[others]
    return Counted(
        cell=others.astype(np.int64),
        capacity=own,
        rest=np.cumsum(own) - own + capacity[last],
        is_determined=np.ones_like(own),
        loss=np.zeros((cells.size, pool.k + 1)),
        last=last,
        last_capacity=int(capacity[last]),
    )
