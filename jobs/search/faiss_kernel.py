"""Rows of a shard by FAISS, flat inner product on CPUs, the shard not copied. The only owner of faiss."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .survivors import Survivors, require_finite

# FAISS takes float32 only: float16 rows are converted this many at a time.
CONVERTED_ROWS = 131_072
# Rows asked beyond the depth, a share and a number: enough that ties and near ties seldom need a second search.
SPARE_SHARE, SPARE_ROWS = 0.05, 32


def search(arrays: Iterable[np.ndarray], queries: np.ndarray, survivors: Survivors) -> None:
    """Hand every row that reaches its query's limit to the collector.

    Shapes:  arrays (n, d) each, float32 or float16, queries (q, d) float32.
    Raises:  NotFiniteError for a row that is not finite.
    """
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    for vectors in arrays:
        _search_one(vectors, queries, survivors)


def _search_one(vectors: np.ndarray, queries: np.ndarray, survivors: Survivors) -> None:
    step = len(vectors) if vectors.dtype == np.float32 else CONVERTED_ROWS
    for start in range(0, len(vectors), max(1, step)):
        block = np.ascontiguousarray(vectors[start : start + step], dtype=np.float32)
        with np.errstate(invalid="ignore", over="ignore"):
            require_finite(block @ queries[0], survivors.seen + start)
        for query, (positions, scores) in enumerate(_survivors_of(block, queries, survivors)):
            survivors.add(query, positions + start, scores)
    survivors.advance(len(vectors))


def _survivors_of(block: np.ndarray, queries: np.ndarray, survivors: Survivors) -> list[tuple[np.ndarray, np.ndarray]]:
    try:
        import faiss
    except ImportError as error:
        raise ImportError("prefilter backend faiss needs faiss: pip install 'mprlib[cpu]' (or [gpu])") from error
    depth = min(survivors.depth, len(block))
    asked = min(len(block), int(depth * (1 + SPARE_SHARE)) + SPARE_ROWS)
    while True:
        scores, positions = faiss.knn(queries, block, asked, metric=faiss.METRIC_INNER_PRODUCT)
        limits = np.maximum(survivors.limits, scores[:, depth - 1] - survivors.allowances)
        # A query whose last row still survives has more of them, unless that was the whole block.
        if asked == len(block) or (scores[:, -1] < limits).all():
            return [_by_position(*kept) for kept in zip(positions, scores, scores >= limits[:, None])]
        asked = min(2 * asked, len(block))


def _by_position(positions: np.ndarray, scores: np.ndarray, is_kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(positions[is_kept])
    return positions[is_kept][order], scores[is_kept][order]


def version() -> str:
    """FAISS's version.

    Raises:  ImportError where it is not installed.
    """
    import faiss

    return faiss.__version__
