"""The ball of a kernel over many rows: exact products of items, and features that bound from below.

A kernel over thousands of rows has no features at hand, but a selection's v = sum_i x_i M_i is in the
span of the pool's items, whose products are those of the centred kernel,

    M_i . M_j = (K(i, j) - f_i - f_j + c) / k^2,     f = K q,  c = q' K q.

Exchanging items needs only rows of this matrix. Its pivoted Cholesky factor F, truncated at a rank, gives
features with |F' x| <= |v|, since the remainder is positive semidefinite. A relaxation over F contains
every set that meets rho, so its bound and its proofs of infeasibility are valid for the class; for pools
of up to LARGEST_RANK cells F is complete.

Source: Harbrecht, Peters and Schneider 2012, on the pivoted Cholesky decomposition.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells
from mprlib.function_classes.base import CentredProducts
from mprlib.optimisers.ball_region import BallRegion

# Rank of the truncated factor: with 256 features the relaxation of one rho takes seconds at most.
LARGEST_RANK = 256
# A pivot below this part of the first one is rounding error.
SMALLEST_PIVOT = 1e-13


class KernelRegion(BallRegion):
    """Exact products from the kernel; features (G, r) that see a part of v, zero on cells without items."""

    def __init__(self, products: CentredProducts, cells: Cells, unit: float, k: int) -> None:
        self._products, self._k = products, k
        filled = np.flatnonzero(cells.pool_counts)
        self.is_complete = filled.size <= LARGEST_RANK
        features = np.zeros((cells.size, min(LARGEST_RANK, filled.size)))
        features[filled] = self._truncated_cholesky(filled, features.shape[1])
        super().__init__(features, unit)

    def value(self, counts: IntArray) -> float:
        """|v|, from the products of the selected items."""
        selected = np.flatnonzero(counts)
        square = sum(
            (float(counts[cell] * (self.products(selected, int(cell)) @ counts[selected])) for cell in selected), 0.0
        )
        return float(np.sqrt(max(square, 0.0)))

    def products(self, cells: IntArray, cell: int) -> FloatArray:
        """M_g . M_h (c,) of some cells g with one cell h."""
        return self._products.centred_products(cells, cell) / self._k**2

    def squares(self, cells: IntArray) -> FloatArray:
        """|M_g|^2 (c,) of some cells."""
        squares: FloatArray = np.maximum(self._products.centred_squares(cells), 0.0) / self._k**2
        return squares

    def _truncated_cholesky(self, cells: IntArray, rank: int) -> FloatArray:
        """F (cells, rank) with F F' at most the cells' products; the largest remaining square is the next pivot."""
        factor = np.zeros((cells.size, rank))
        left = self.squares(cells)
        smallest = SMALLEST_PIVOT * float(left.max(initial=0.0))
        for column in range(rank):
            pivot = int(left.argmax())
            if left[pivot] <= smallest:
                break
            own = self.products(cells, int(cells[pivot]))
            # No BLAS: its sums may depend on the number of threads.
            own -= np.einsum("ij,j->i", factor[:, :column], factor[pivot, :column])
            factor[:, column] = own / np.sqrt(left[pivot])
            left = np.maximum(left - factor[:, column] ** 2, 0.0)
        return factor
