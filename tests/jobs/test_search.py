import importlib.util

import numpy as np
import pytest

from jobs.search import KERNELS, kernel, torch_kernel
from jobs.search.canonical import best, exact_scores, proposals, within_margin
from jobs.search.survivors import NotFiniteError, Survivors


def vectors(rows: int, seed: int = 0, width: int = 16) -> np.ndarray:
    """Unit vectors of which one in ten repeats another exactly."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((rows, width))
    copies = generator.integers(0, rows, rows // 10)
    matrix[generator.integers(0, rows, copies.size)] = matrix[copies]
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def exact_pool(items: np.ndarray, query: np.ndarray, ids: np.ndarray, depth: int) -> list[str]:
    scores = np.array([exact_scores(items, query, np.array([row]))[0] for row in range(len(items))])
    return ids[np.lexsort((ids, -scores))[:depth]].tolist()


def found_pools(backend, items, queries, ids, depth, shards) -> list[list[str]]:
    found = proposals(KERNELS[backend], np.array_split(items, shards), queries, depth, 1.01)
    pools = []
    for query, (positions, _) in zip(queries, found):
        kept = ids[positions]
        pools.append(kept[best(kept, exact_scores(items, query, positions), depth)].tolist())
    return pools


@pytest.mark.parametrize("backend", KERNELS)
@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("depth", [1, 25, 300, 1000])
@pytest.mark.parametrize("storage", [np.float32, np.float16])
def test_pool_is_the_same_whatever_backend_and_sharding(backend, shards, depth, storage):
    items, queries = vectors(300).astype(storage), vectors(4, seed=1)
    ids = np.random.default_rng(2).permutation([f"i{number:04d}" for number in range(300)])
    expected = [exact_pool(items, query, ids, depth) for query in queries]
    assert found_pools(backend, items, queries, ids, depth, shards) == expected


@pytest.mark.parametrize("backend", KERNELS)
@pytest.mark.parametrize("order", [1, -1])
def test_many_blocks_in_rising_and_in_falling_order(backend, order, monkeypatch):
    monkeypatch.setattr(torch_kernel, "LEAST_ROWS", 16)
    monkeypatch.setattr(torch_kernel, "CPU_SCORE_BYTES", 0)
    items, query = vectors(2000), vectors(1, seed=1)
    items = items[np.argsort(order * (items @ query[0]))]
    ids = np.array([f"i{number:04d}" for number in range(2000)])
    assert found_pools(backend, items, query, ids, 40, 2) == [exact_pool(items, query[0], ids, 40)]


def test_the_filter_of_a_gpu_finds_the_same(monkeypatch):
    items, queries = vectors(500), vectors(3, seed=1)
    expected = proposals(KERNELS["torch"], [items], queries, 20, 1.0)
    monkeypatch.setattr(torch_kernel, "_filter_here", torch_kernel._filter_there)
    for here, there in zip(expected, proposals(KERNELS["torch"], [items], queries, 20, 1.0)):
        assert np.array_equal(here[0], there[0])
        assert np.array_equal(here[1], there[1])


@pytest.mark.parametrize("backend", KERNELS)
def test_all_ties_at_the_cut_are_kept(backend):
    items = np.repeat(np.eye(2, 4, dtype=np.float32), [50, 5], axis=0)
    [(positions, scores)] = proposals(KERNELS[backend], [items], np.eye(1, 4, dtype=np.float32), 3, 1.0)
    assert positions.tolist() == list(range(50))
    assert (scores == 1.0).all()


@pytest.mark.parametrize("backend", KERNELS)
def test_no_vector_one_vector_zero_vectors_and_no_query(backend):
    query, none = np.eye(1, 4, dtype=np.float32), np.empty((0, 4), dtype=np.float32)
    [(positions, scores)] = proposals(KERNELS[backend], [none, none], query, 3, 0.0)
    assert positions.size == scores.size == 0
    [(positions, scores)] = proposals(KERNELS[backend], [none, np.zeros((1, 4), dtype=np.float32), none], query, 3, 0.0)
    assert positions.tolist() == [0]
    assert scores.tolist() == [0.0]
    [(positions, _)] = proposals(KERNELS[backend], [np.zeros((5, 4), dtype=np.float32)], query, 3, 0.0)
    assert positions.tolist() == [0, 1, 2, 3, 4]
    assert proposals(KERNELS[backend], [np.zeros((5, 4), dtype=np.float32)], none, 3, 0.0) == []


@pytest.mark.parametrize("backend", KERNELS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(backend, value):
    items = vectors(40)
    items[27, 3] = value
    with pytest.raises(NotFiniteError) as caught:
        proposals(KERNELS[backend], np.array_split(items, 4), vectors(2, seed=1), 5, 1.0)
    assert caught.value.row == 27


@pytest.mark.parametrize("backend", KERNELS)
def test_the_margin_grows_with_the_vectors(backend):
    # Scores of about 1e6 that differ by less than float32 shows: only the exact scores tell them apart.
    items, query = 1000 * vectors(400, width=64), 1000 * vectors(1, seed=1, width=64)
    items[:200] = items[0] * (1 + 1e-7 * np.random.default_rng(3).standard_normal((200, 64))).astype(np.float32)
    if items[0] @ query[0] < 0:
        query = -query
    longest = float(np.linalg.norm(items, axis=1).max()) * 1.001
    [(positions, _)] = proposals(KERNELS[backend], [items], query, 30, longest)
    exact = exact_scores(items, query[0], np.arange(400))
    assert set(np.argsort(-exact)[:30]) <= set(positions.tolist())


def test_a_score_depends_on_its_row_alone():
    items, queries = vectors(1000, width=123), vectors(3, seed=1, width=123)
    for query in queries:
        scores = exact_scores(items, query, np.arange(1000))
        alone = [exact_scores(items, query, np.array([row]))[0] for row in range(0, 1000, 37)]
        assert np.array_equal(alone, scores[::37])
        assert np.allclose(scores, items.astype(np.longdouble) @ query.astype(np.longdouble), rtol=0, atol=1e-15)


def test_survivors_hold_about_twice_the_depth():
    survivors = Survivors(margins=np.zeros(1), depth=10)
    for start in range(0, 10_000, 5):
        survivors.add(0, np.arange(5), np.arange(start, start + 5, dtype=np.float32))
        survivors.advance(5)
        assert survivors._counts[0] <= 20
    [(positions, scores)] = survivors.found()
    assert positions.tolist() == list(range(9990, 10_000))
    assert scores.tolist() == positions.tolist()


def test_within_margin_keeps_what_may_be_among_the_best():
    scores = np.array([0.9, 0.5, 0.5 - 1.9e-5, 0.5 - 2.1e-5])
    assert within_margin(scores, 2, 1e-5).tolist() == [True, True, True, False]
    assert within_margin(scores, 5, 1e-5).all()


def test_the_cut_is_taken_in_the_scores_own_precision():
    """Subtracted in float64 and rounded after that, this cut would be one float32 lower, and merges keep one more."""
    last, margin = np.float32(0.25756904), 1.0006130095116104e-05
    cut = last - np.float32(2 * margin)
    below = np.nextafter(cut, np.float32(0))
    scores = np.array([below, cut, last, 0.3], dtype=np.float32)
    assert within_margin(scores, 2, margin).tolist() == [False, True, True, True]


def test_auto_goes_by_what_is_installed(monkeypatch):
    assert kernel("faiss") is KERNELS["faiss"]
    assert kernel("auto") is KERNELS["torch"]
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    assert kernel("auto") is KERNELS["faiss"]
