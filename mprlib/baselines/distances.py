"""Vectors as `mmr` multiplies them, with a proven bound on the error of the distances that follow.

|x - y|^2 = |x|^2 + |y|^2 - 2 x.y. A dot product of d terms is off by at most about
d * unit roundoff * |x||y|, in whatever order it is summed (Higham, Accuracy and Stability,
section 3.1); with M the largest norm, a squared distance is off by at most
4 (d + 8) roundoff M^2 =: E, and a distance r by at most E / max(r, sqrt(E)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.problem import OF_EMBEDDINGS, Problem

if TYPE_CHECKING:
    from mprlib.baselines.mmr_columns_kernel import Kept

# Norms between these keep squares and products of float32 far from its limits (1e-38, 3e38).
SMALLEST_NORM, LARGEST_NORM = 1e-12, 1e12
# Roundings of one squared distance beside those of the d products and sums of a dot product: the
# two norms, the difference, the root and the rounding of the input itself.
OTHER_ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class PoolDistances:
    """What distances between the items of a pool are computed of.

    Shapes:  vectors (N, d) and squares (N,) of their lengths, of one precision; given (N, d), the vectors as they were
             given; rows (n,), which of them are the pool's items.
    square_error: E. kept: columns of distances between all N, for pools that share items; None where each has its own.
    """

    vectors: FloatArray
    squares: FloatArray
    given: FloatArray
    rows: IntArray
    square_error: float
    kept: Kept | None = None

    @classmethod
    def of(cls, embeddings: FloatArray) -> PoolDistances:
        """Of one pool's vectors (n, d)."""
        vectors, squares, square_error = products_of(embeddings)
        return cls(
            vectors=vectors,
            squares=squares,
            given=np.ascontiguousarray(embeddings),
            rows=np.arange(len(embeddings), dtype=np.int32),
            square_error=square_error,
        )


def handed_in(problem: Problem) -> PoolDistances | None:
    """Distances that are known beside the problem's embeddings, or in their place."""
    known = problem.cached(OF_EMBEDDINGS, lambda: None)
    return known if isinstance(known, PoolDistances) else None


class DistanceColumns:
    """Distances between all items of a data set, computed column by column and kept for pools that share its items.

    Pools take turns: what is kept changes while one is walked through. Most bytes are used for columns, of which the
    one that was asked for longest ago gives way to the next.

    >>> import mprlib
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], dtype=np.float32)
    >>> shared = DistanceColumns(vectors, most_bytes=1_000_000)
    >>> problem = mprlib.Problem(scores=[0.9, 0.7, 0.6], labels=[[1], [0], [1]], reference=[[1], [0]], k=2)
    >>> problem = problem.with_vectors(None, known=shared.of_pool(np.array([0, 2, 3])))
    >>> mprlib.METHODS["mmr"]().choose_all(problem, [0.9])[0].items.tolist()
    [0, 1]
    """

    def __init__(self, vectors: FloatArray, most_bytes: int) -> None:
        from mprlib.baselines.mmr_columns_kernel import NONE, Kept

        self._all = PoolDistances.of(vectors)
        number, item_bytes = len(vectors), self._all.vectors.itemsize
        columns = max(1, min(number, most_bytes // (number * item_bytes)))
        # Memory is taken when a row is first written.
        self._kept = Kept(
            table=np.empty((columns, number), dtype=self._all.vectors.dtype),
            slot=np.full(number, NONE, dtype=np.int64),
            owner=np.full(columns, NONE, dtype=np.int64),
            used=np.zeros(columns, dtype=np.int64),
            clock=np.zeros(1, dtype=np.int64),
        )

    def of_pool(self, rows: IntArray) -> PoolDistances:
        """For the pool of these vectors (n,), by their places among all, in the pool's order of items."""
        return replace(self._all, rows=np.ascontiguousarray(rows, dtype=np.int32), kept=self._kept)


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
        squares = np.vecdot(vectors, vectors)
    largest = squares.max()
    if (largest == 0 and not embeddings.any()) or SMALLEST_NORM**2 < largest < LARGEST_NORM**2:
        return vectors, squares
    vectors = np.ascontiguousarray(embeddings, dtype=np.float64)
    return vectors, np.vecdot(vectors, vectors)
