"""The canonical order of items: scores in float64, summed in a fixed order, ties by item id.

Kernels differ in the last digits of float32, and so do the orders they give. So a kernel only
proposes: every row within a margin of the cut is kept, what survives the merge of all shards is scored
again by one dot product a row in float64, and that score and the item id decide. The pool is then the
same whatever the backend, the sharding or the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from . import Kernel
from .survivors import Survivors, depth_th

# Kernels' float32 scores of unit vectors differ from exact ones by less than this; those of longer
# vectors by as much more as their lengths say.
MARGIN = 1e-5
# Rows scored again at a time: in float64 they should stay in a core's cache.
RESCORED_ROWS = 128


def margins(queries: np.ndarray, largest_length: float) -> np.ndarray:
    """How far a kernel's score of each query (q,) may be from the exact one.

    largest_length is that of the longest item vector.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries, dtype=np.float64))
    allowed: np.ndarray = MARGIN * np.maximum(1.0, lengths * largest_length)
    return allowed


def proposals(
    kernel: Kernel, arrays: Iterable[np.ndarray], queries: np.ndarray, depth: int, largest_length: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each query, positions and kernel scores of all rows that may be among its best `depth`.

    Shapes:  arrays (n, d) each, float32 or float16; positions count through all of them. queries (q, d)
             float32. Returned arrays (c,), c >= min(depth, rows), positions ascending.
    Raises:  NotFiniteError for a row that is not finite.
    """
    survivors = Survivors(margins=margins(queries, largest_length), depth=depth)
    if len(queries):
        kernel((vectors for vectors in arrays if len(vectors)), queries, survivors)
    return survivors.found()


def within_margin(scores: np.ndarray, depth: int, margin: float) -> np.ndarray:
    """Which of one query's kernel scores (c,) may be among its best `depth`."""
    # Twice the margin: the cut and the row may each be off by one.
    return scores >= depth_th(scores, depth) - 2 * margin if scores.size > depth else np.ones(scores.size, dtype=bool)


def exact_scores(vectors: np.ndarray, query: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Canonical scores (c,) float64 of some rows (n, d) for one query (d,).

    Products of float32 numbers are exact in float64; the order of the sum depends on d alone: einsum
    runs along each row by itself, with the instructions that numpy was built for, not those of the machine.
    """
    exact, scores = query.astype(np.float64), np.empty(positions.size)
    for start in range(0, positions.size, RESCORED_ROWS):
        rows = vectors[positions[start : start + RESCORED_ROWS]].astype(np.float64)
        np.einsum("ij,j->i", rows, exact, out=scores[start : start + RESCORED_ROWS])
    return scores


def best(ids: np.ndarray, scores: np.ndarray, depth: int) -> np.ndarray:
    """Positions of the best `depth` by (-score, id)."""
    return np.lexsort((ids, -scores))[:depth]
