"""Vectors as `mmr` multiplies them, with a proven bound on the error of the distances that follow.

|x - y|^2 = |x|^2 + |y|^2 - 2 x.y. A dot product of d terms is off by at most about
d * unit roundoff * |x||y|, in whatever order it is summed (Higham, Accuracy and Stability,
section 3.1); with M the largest norm, a squared distance is off by at most
4 (d + 8) roundoff M^2 =: E, and a distance r by at most E / max(r, sqrt(E)).
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray

# Norms between these keep squares and products of float32 far from its limits (1e-38, 3e38).
SMALLEST_NORM, LARGEST_NORM = 1e-12, 1e12
# Roundings of one squared distance beside those of the d products and sums of a dot product: the
# two norms, the difference, the root and the rounding of the input itself.
OTHER_ROUNDINGS = 8


def products_of(embeddings: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Vectors (n, d), squares (n,) of their lengths, and E: in float32 where that neither overflows nor vanishes."""
    vectors, squares = _in_float32(embeddings)
    roundoff = np.finfo(vectors.dtype).eps / 2
    bound = 4.0 * (embeddings.shape[1] + OTHER_ROUNDINGS) * roundoff * float(squares.max(initial=0.0))
    # The bound itself is computed with rounded norms.
    return vectors, squares, float(vectors.dtype.type(1.01 * bound + np.finfo(vectors.dtype).tiny))


def _in_float32(embeddings: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = np.ascontiguousarray(embeddings, dtype=np.float32)
        squares = np.einsum("ij,ij->i", vectors, vectors)
    largest = squares.max()
    if (largest == 0 and not embeddings.any()) or SMALLEST_NORM**2 < largest < LARGEST_NORM**2:
        return vectors, squares
    vectors = np.ascontiguousarray(embeddings, dtype=np.float64)
    return vectors, np.einsum("ij,ij->i", vectors, vectors)
