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
from mprlib.function_classes.base import CentredProducts, CentredRows
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
        features[filled] = _truncated_cholesky(products.centred_rows(filled), features.shape[1]) / k
        super().__init__(features, unit)

    def value(self, counts: IntArray) -> float:
        """|v|, from the products of the selected items."""
        selected = np.flatnonzero(counts)
        products = self._products.centred_rows(selected).products(np.arange(selected.size))
        square = float(counts[selected] @ (products @ counts[selected]))
        return float(np.sqrt(max(square, 0.0))) / self._k

    def complete(self, cells: IntArray, known: int, products: FloatArray) -> None:
        """Write the products (c, c) of some cells (c,) with each other, but for those of the first `known`."""
        new = np.arange(known, cells.size)
        own = self._products.centred_rows(cells).products(new) / self._k**2
        products[:, new], products[new] = own, own.T
        products[new, new] = np.maximum(products[new, new], 0.0)


def _truncated_cholesky(rows: CentredRows, rank: int) -> FloatArray:
    """F (c, rank) with F F' at most the rows' products; the largest remaining square is the next pivot."""
    left = np.maximum(rows.squares, 0.0)
    # By column, so that products with the columns before run along contiguous numbers.
    columns = np.zeros((rank, left.size))
    smallest = SMALLEST_PIVOT * float(left.max(initial=0.0))
    for column in range(rank):
        pivot = int(left.argmax())
        if left[pivot] <= smallest:
            break
        own = rows.products(np.array([pivot]))[:, 0]
        # No BLAS: its sums may depend on the number of threads.
        own -= np.einsum("ji,j->i", columns[:column], columns[:column, pivot])
        columns[column] = own / np.sqrt(left[pivot])
        left = np.maximum(left - columns[column] ** 2, 0.0)
    return columns.T
