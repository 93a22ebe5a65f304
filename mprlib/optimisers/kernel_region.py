"""The ball of a kernel on many rows: exact products of pool items, and features that bound from below.

A kernel over thousands of rows has no features at hand, but a selection's v = sum_i x_i M_i lies in the
span of the pool's items, whose products are those of the centred kernel,

    M_i . M_j = (K(i, j) - f_i - f_j + c) / k^2,     f = K q,  c = q' K q.

Swaps of items need just rows of it. A pivoted Cholesky factor F of it, cut off at a rank, gives features
with |F' x| <= |v|: what is left out is positive semidefinite. A relaxation over F admits every set that
meets rho, so its bound and its proofs of infeasibility hold; of pools up to LARGEST_RANK cells F is whole.

Source: Harbrecht, Peters and Schneider 2012, on the pivoted Cholesky decomposition.
"""

from __future__ import annotations

import numpy as np

from mprlib.function_classes.rkhs import KernelOracle
from mprlib.optimisers.region import BallRegion
from mprlib.problem import FloatArray, IntArray

# Features of a pool: the walk over them takes seconds at most.
LARGEST_RANK = 256
# A remaining square below this part of the largest is rounding.
RESIDUAL = 1e-13


class KernelRegion(BallRegion):
    """Exact products from the kernel; features (G, r) that see a part of v, zero on cells without items."""

    def __init__(self, oracle: KernelOracle, k: int) -> None:
        self._oracle, self._k = oracle, k
        cells = np.flatnonzero(oracle.cells.pool_counts)
        features = np.zeros((oracle.cells.size, min(LARGEST_RANK, cells.size)))
        factor = self._factor(cells, features.shape[1])
        features[cells] = factor
        super().__init__(features, oracle.unit)

    def value(self, counts: IntArray) -> float:
        taken = np.flatnonzero(counts)
        square = sum(float(counts[cell] * (self.products(taken, cell) @ counts[taken])) for cell in taken)
        return float(np.sqrt(max(square, 0.0)))

    def products(self, cells: IntArray, cell: int) -> FloatArray:
        labels, function = self._oracle.cells.labels, self._oracle.reference_function
        own = self._oracle.kernel.matrix(labels[cells], labels[cell : cell + 1])[:, 0]
        return (own - function[cells] - function[cell] + self._oracle.reference_square) / self._k**2

    def squares(self, cells: IntArray) -> FloatArray:
        oracle = self._oracle
        own = oracle.kernel.squares(oracle.cells.labels[cells])
        square = own - 2.0 * oracle.reference_function[cells] + oracle.reference_square
        return np.maximum(square, 0.0) / self._k**2

    def _factor(self, cells: IntArray, rank: int) -> FloatArray:
        """F (cells, rank) with F F' at most the cells' products, the largest remaining square first."""
        factor = np.zeros((cells.size, rank))
        left = self.squares(cells)
        smallest = RESIDUAL * float(left.max(initial=0.0))
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
