"""Top rows of a shard by FAISS, flat inner product, the shard not copied. The only owner of faiss."""

from __future__ import annotations

import numpy as np


def top(vectors: np.ndarray, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (q, depth) and float32 scores (q, depth), best first.

    Shapes:  vectors (n, d) and queries (q, d), float32; depth at most n.
    """
    try:
        import faiss
    except ImportError as error:
        raise ImportError("prefilter backend faiss needs faiss: pip install 'mprlib[cpu]' (or [gpu])") from error
    scores, positions = faiss.knn(
        np.ascontiguousarray(queries), np.ascontiguousarray(vectors), depth, metric=faiss.METRIC_INNER_PRODUCT
    )
    return positions, scores
