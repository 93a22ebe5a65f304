import numpy as np
import pytest
from jobs.search import KERNELS
from jobs.search.canonical import best, candidates


def vectors(rows: int, seed: int = 0, width: int = 16) -> np.ndarray:
    """Unit vectors of which one in ten repeats another exactly."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((rows, width))
    copies = generator.integers(0, rows, rows // 10)
    matrix[generator.integers(0, rows, copies.size)] = matrix[copies]
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def exact_pool(items: np.ndarray, query: np.ndarray, ids: np.ndarray, depth: int) -> list[str]:
    scores = np.sum(items.astype(np.float64) * query.astype(np.float64), axis=1)
    return ids[np.lexsort((ids, -scores))[:depth]].tolist()


def merged_pool(kernel, items, query, ids, depth, shards) -> list[str]:
    rows, scores, start = [], [], 0
    for shard in np.array_split(items, shards):
        [(positions, exact)] = candidates(kernel, shard, query[None], depth)
        rows.append(positions + start)
        scores.append(exact)
        start += len(shard)
    row, score = np.concatenate(rows), np.concatenate(scores)
    return ids[row][best(ids[row], score, depth)].tolist()


@pytest.mark.parametrize("backend", KERNELS)
@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("depth", [1, 25, 300, 1000])
def test_pool_is_the_same_whatever_backend_and_sharding(backend, shards, depth):
    items, queries = vectors(300), vectors(4, seed=1)
    ids = np.random.default_rng(2).permutation([f"i{number:04d}" for number in range(300)])
    for query in queries:
        assert merged_pool(KERNELS[backend], items, query, ids, depth, shards) == exact_pool(items, query, ids, depth)


@pytest.mark.parametrize("backend", KERNELS)
def test_all_ties_at_the_cut_are_kept(backend):
    items = np.repeat(np.eye(2, 4, dtype=np.float32), [50, 5], axis=0)
    [(positions, scores)] = candidates(KERNELS[backend], items, np.eye(1, 4, dtype=np.float32), 3)
    assert sorted(positions) == list(range(50))
    assert (scores == 1.0).all()


@pytest.mark.parametrize("backend", KERNELS)
def test_an_empty_shard_and_one_vector(backend):
    query = np.eye(1, 4, dtype=np.float32)
    [(positions, scores)] = candidates(KERNELS[backend], np.empty((0, 4), dtype=np.float32), query, 3)
    assert positions.size == scores.size == 0
    [(positions, scores)] = candidates(KERNELS[backend], np.zeros((1, 4), dtype=np.float32), query, 3)
    assert positions.tolist() == [0]
    assert scores.tolist() == [0.0]
