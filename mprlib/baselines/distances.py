"""Euclidean distances from a few items to all of a pool: fast ones with a bound on their error, and exact ones."""

from __future__ import annotations

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray

# Norms between these keep squares and products of float32 far from its limits (1e-38, 3e38).
SMALLEST_NORM, LARGEST_NORM = 1e-12, 1e12
# Roundings of one squared distance beside those of the d products and sums of a dot product: the
# two norms, the difference, the root and the rounding of the input itself.
OTHER_ROUNDINGS = 8
# A product with one vector takes another path in BLAS: fewer than this are faster one by one.
SMALLEST_BATCH = 4
# Columns that are kept for other lambda, in bytes; further ones are computed when needed.
LARGEST_CACHE_BYTES = 128 * 1024 * 1024


def _in_float32(embeddings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Vectors (n, d) and squared norms (n,), in double precision where float32 would overflow or vanish."""
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = embeddings.astype(np.float32, copy=False)
        squares = np.einsum("ij,ij->i", vectors, vectors)
    largest = squares.max()
    if (largest == 0 and not embeddings.any()) or SMALLEST_NORM**2 < largest < LARGEST_NORM**2:
        return vectors, squares
    vectors = embeddings.astype(np.float64, copy=False)
    return vectors, np.einsum("ij,ij->i", vectors, vectors)


class DistanceColumns:
    """Distances to one item after another, kept for whoever asks next.

    |x - y|^2 = |x|^2 + |y|^2 - 2 x.y. A dot product of d terms is off by at most about
    d * unit roundoff * |x||y|, in whatever order it is summed (Higham, Accuracy and Stability,
    section 3.1); with M the largest norm, a squared distance is off by at most
    4 (d + 8) roundoff M^2 =: E, and a distance r by at most E / max(r, sqrt(E)).
    """

    def __init__(self, embeddings: FloatArray) -> None:
        self._given = embeddings
        self._vectors, self._squares = _in_float32(embeddings)
        roundoff = np.finfo(self._vectors.dtype).eps / 2
        bound = 4.0 * (embeddings.shape[1] + OTHER_ROUNDINGS) * roundoff * float(self._squares.max(initial=0.0))
        # The bound itself is computed with rounded norms.
        self._square_error = self._vectors.dtype.type(1.01 * bound + np.finfo(self._vectors.dtype).tiny)
        self._cache: dict[int, FloatArray] = {}
        self._capacity = max(1, LARGEST_CACHE_BYTES // max(1, self._squares.nbytes))

    def __contains__(self, item: int) -> bool:
        return item in self._cache

    def prepare(self, items: IntArray) -> None:
        """Compute the columns of those items that lack one, together, as far as they can be kept."""
        missing = [item for item in items.tolist() if item not in self._cache]
        missing = missing[: self._capacity - len(self._cache)]
        self._cache.update(zip(missing, self._compute(np.array(missing, dtype=np.intp))))

    def columns(self, items: IntArray) -> dict[int, FloatArray]:
        """For each of some distinct items the distances (n,) to all, off by at most what `error_terms` say."""
        missing = [item for item in items.tolist() if item not in self._cache]
        computed = dict(zip(missing, self._compute(np.array(missing, dtype=np.intp))))
        return {item: computed[item] if item in computed else self._cache[item] for item in items.tolist()}

    @property
    def error_terms(self) -> tuple[float, float]:
        """E and its root: a distance r is off by at most E / max(r, root)."""
        return float(self._square_error), float(np.sqrt(self._square_error))

    def exact(self, candidates: IntArray, items: IntArray) -> FloatArray:
        """Distances (candidates, items) in double precision, by differences: near-duplicates keep theirs."""
        distances: FloatArray = scipy.spatial.distance.cdist(self._given[candidates], self._given[items])
        return distances

    def _compute(self, items: IntArray) -> FloatArray:
        if items.size == 0:
            return np.empty((0, self._squares.size), dtype=self._vectors.dtype)
        if items.size < SMALLEST_BATCH:
            products = np.stack([self._vectors @ self._vectors[item] for item in items])
        else:
            products = self._vectors[items] @ self._vectors.T
        squares = np.multiply(products, -2.0, out=products)
        squares += self._squares
        squares += self._squares[items][:, None]
        distances: FloatArray = np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
        return distances
