"""One order for everybody: scores in a fixed-order float64, ties by item id.

Kernels differ in the last digits of float32, and so do the orders they give. So a kernel only
proposes: every row within a margin of the cut is kept, survivors are scored again by one dot
product a row in float64, and that score and the item id decide. The pool is then the same
whatever the backend, the sharding or the number of workers.
"""

from __future__ import annotations

import math

import numpy as np

from jobs.search import Kernel

# Kernels' float32 scores of unit vectors differ from exact ones by less than this; those of longer
# vectors by as much more as their lengths say.
MARGIN = 1e-5
# Rows scored again at a time: bounds memory at some tens of megabytes.
RESCORED_ROWS = 4096


def candidates(kernel: Kernel, vectors: np.ndarray, queries: np.ndarray, depth: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each query, positions and float64 scores of all rows that may be among its best `depth`.

    Shapes:  vectors (n, d), queries (q, d), float32. Returned arrays (c,), c >= min(depth, n),
             by falling score.
    """
    size = vectors.shape[0]
    if size == 0 or queries.shape[0] == 0:
        return [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in queries]
    lengths = (float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max())) for rows in (vectors, queries))
    margin = MARGIN * max(1.0, math.prod(lengths))
    found = _with_margin(kernel, vectors, queries, min(depth, size), margin)
    return [_rescored(vectors, query, positions) for query, positions in zip(queries, found)]


def best(ids: np.ndarray, scores: np.ndarray, depth: int) -> np.ndarray:
    """Positions of the best `depth` by (-score, id)."""
    return np.lexsort((ids, -scores))[:depth]


def _with_margin(kernel: Kernel, vectors: np.ndarray, queries: np.ndarray, depth: int, margin: float) -> list[np.ndarray]:
    """Positions whose kernel score is within the margin of the depth-th, all ties included."""
    size, asked = vectors.shape[0], depth
    while True:
        positions, scores = kernel(vectors, queries, asked)
        # Twice the margin: the cut and the row may each be off by one.
        cut = scores[:, depth - 1] - 2 * margin
        if asked == size or (scores[:, -1] < cut).all():
            return [row[score >= limit] for row, score, limit in zip(positions, scores, cut)]
        asked = min(2 * asked, size)


def _rescored(vectors: np.ndarray, query: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    exact = query.astype(np.float64)
    positions = np.sort(positions)
    scores = np.concatenate(
        [
            # A sum along the row: its order depends on the row's length alone.
            np.sum(vectors[positions[start : start + RESCORED_ROWS]].astype(np.float64) * exact, axis=1)
            for start in range(0, positions.size, RESCORED_ROWS)
        ]
    )
    order = np.argsort(-scores, kind="stable")
    return positions[order], scores[order]
