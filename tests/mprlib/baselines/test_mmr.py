import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem
from mprlib.baselines.distances import DistanceColumns, PoolDistances
from mprlib.baselines.mmr import Walk

GOLDEN = json.loads((Path(__file__).resolve().parents[2] / "golden" / "baseline_golden.json").read_text())


def problem_of(embeddings, query, k, **more) -> Problem:
    embeddings, query = np.asarray(embeddings), np.asarray(query)
    ones = np.ones((len(embeddings), 1))
    scores = embeddings @ query
    return Problem(scores=scores, labels=ones, reference=ones, k=k, embeddings=embeddings, query=query, **more)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"seed{case['seed']}")
def test_equals_the_authors_selections(case):
    problem = problem_of(case["embeddings"], case["query"], case["k"])
    for trade_off, items in case["mmr"].items():
        assert set(mprlib.select(problem, "mmr", float(trade_off)).items.tolist()) == set(items)


def test_equals_the_definition_on_random_vectors():
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((40, 5))
    query = generator.standard_normal(5)
    for trade_off in (0.0, 0.3, 0.9, 1.0):
        chosen = [int(np.argmax(vectors @ query))]
        while len(chosen) < 8:
            merit = [
                (1 - trade_off) * (vectors[item] @ query)
                + trade_off * np.mean([np.linalg.norm(vectors[item] - vectors[other]) for other in chosen])
                if item not in chosen
                else -np.inf
                for item in range(40)
            ]
            chosen.append(int(np.argmax(merit)))
        assert set(mprlib.select(problem_of(vectors, query, 8), "mmr", trade_off).items.tolist()) == set(chosen)


@pytest.mark.parametrize(("spread", "combine"), [("mean", np.mean), ("nearest", np.min), ("farthest", np.max)])
def test_equals_the_definition_at_every_step(spread, combine):
    generator = np.random.default_rng(4)
    vectors = generator.standard_normal((60, 6)).astype(np.float32)
    exact = vectors.astype(float)
    query = generator.standard_normal(6)
    for trade_off in (0.2, 0.6, 1.0):
        chosen = [int(np.argmax(exact @ query))]
        while len(chosen) < 12:
            apart = combine(np.linalg.norm(exact[:, None] - exact[chosen], axis=2), axis=1)
            merit = (1 - trade_off) * (exact @ query) + trade_off * apart
            merit[chosen] = -np.inf
            chosen.append(int(np.argmax(merit)))
        problem = problem_of(exact, query, 12)
        for embeddings in (vectors, exact):
            same = replace(problem, embeddings=embeddings)
            assert set(mprlib.select(same, "mmr", trade_off, spread=spread).items.tolist()) == set(chosen)


def test_near_duplicates_are_told_apart_below_the_precision_of_float32():
    """Offsets of 1e-9 from one vector: in float32 all are the same, in double precision one is farthest."""
    base = np.random.default_rng(5).standard_normal(300)
    offsets = 1e-9 * np.array([0.0, 3.0, 1.0, 7.0, 2.0])
    vectors = base + offsets[:, None] * np.eye(300)[0]
    ones = np.ones((5, 1))
    problem = Problem(scores=[1.0, 0, 0, 0, 0], labels=ones, reference=ones, k=3, embeddings=vectors)
    assert set(mprlib.select(problem, "mmr", 1.0).items.tolist()) == {0, 3, 1}
    # 2 is nearest to none of {0, 3}: 3 stands at 3e-9 of 0, 2 at 2e-9.
    assert set(mprlib.select(problem, "mmr", 1.0, spread="nearest").items.tolist()) == {0, 3, 1}


def test_vectors_far_outside_the_range_of_float32():
    generator = np.random.default_rng(6)
    vectors, query = generator.standard_normal((40, 4)), np.array([1.0, 0, 0, 0])
    plain = mprlib.select(problem_of(vectors, query, 8), "mmr", 1.0).items
    for scale in (1e-40, 1e40):
        scaled = mprlib.select(problem_of(vectors * scale, query, 8), "mmr", 1.0).items
        assert set(scaled.tolist()) == set(plain.tolist())


def test_an_unknown_spread_lists_the_known():
    with pytest.raises(InputError, match="mean, nearest, farthest"):
        mprlib.select(problem_of(np.eye(3), [1.0, 0.0, 0.0], 2), "mmr", 0.5, spread="median")


@pytest.mark.parametrize("near", [0, 10**9])
def test_a_sweep_computes_few_columns_more_than_it_needs(near, monkeypatch):
    """A step's columns are shared by all lambda: 20 lambda cost far less than 20 times one."""
    monkeypatch.setattr("mprlib.baselines.mmr.NEAR_BYTES", near)
    generator = np.random.default_rng(7)
    problem = problem_of(generator.standard_normal((500, 16)), generator.standard_normal(16), 20)
    distances = PoolDistances.of(problem.embeddings)
    chosen, computed = Walk.of(problem, distances, "mean").with_columns(np.arange(20) / 20)
    distinct = np.unique(chosen).size
    assert computed < 2 * distinct + 64
    monkeypatch.setattr("mprlib.baselines.mmr.LARGEST_CACHE_BYTES", 0)
    again, _ = Walk.of(problem, distances, "mean").with_columns(np.arange(20) / 20)
    assert again.tolist() == chosen.tolist()


@pytest.mark.parametrize("spread", ["mean", "nearest"])
@pytest.mark.parametrize("most_bytes", [0, 5_000, 10**9], ids=["one column", "some columns", "all columns"])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_columns_kept_for_other_pools_change_no_choice(spread, most_bytes, precision):
    """Near duplicates, so that float32 alone does not tell them apart."""
    generator = np.random.default_rng(8)
    vectors = generator.standard_normal((150, 12))
    vectors[75:] = vectors[:75] * (1 + 1e-7 * generator.standard_normal((75, 1)))
    vectors = vectors.astype(precision)
    shared, computed = DistanceColumns(vectors, most_bytes=most_bytes), []
    for rows in (np.arange(0, 150), np.arange(20, 140), generator.permutation(150)[:100], np.arange(0, 150)):
        own = problem_of(vectors[rows], vectors[rows[3]], 15)
        trade_offs = np.arange(10) / 10
        walks = [Walk.of(own, one, spread) for one in (PoolDistances.of(vectors[rows]), shared.of_pool(rows))]
        (expected, _), (chosen, number) = (walk.with_columns(trade_offs) for walk in walks)
        assert chosen.tolist() == expected.tolist()
        computed.append(number)
    assert (computed[-1] == 0) == (most_bytes == 10**9)


def test_distances_that_are_handed_in_stand_for_embeddings_until_others_are_given():
    vectors, ones = np.eye(4), np.ones((4, 1))
    plain = Problem(scores=[4.0, 3, 2, 1], labels=ones, reference=ones, k=2)
    known = plain.with_vectors(None, known=DistanceColumns(vectors, most_bytes=10**6).of_pool(np.array([0, 1, 2, 3])))
    mmr = mprlib.METHODS["mmr"]()
    assert mmr.choose_all(known, [0.0])[0].items.tolist() == [0, 1]
    others = known.with_vectors(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]]))
    assert mmr.choose_all(others, [0.9])[0].items.tolist() == [0, 3]


def test_lambda_zero_is_top_k():
    generator = np.random.default_rng(1)
    problem = problem_of(generator.standard_normal((30, 4)), generator.standard_normal(4), 7)
    assert mprlib.select(problem, "mmr", 0.0).items.tolist() == mprlib.select(problem, "top_k").items.tolist()


def test_a_sweep_equals_single_selections_and_does_not_change_embeddings():
    generator = np.random.default_rng(2)
    problem = problem_of(generator.standard_normal((50, 6)), generator.standard_normal(6), 10)
    values = [0.7, 0.1, 0.7]
    swept = mprlib.sweep(problem, "mmr", values)
    for value, selection in zip(values, swept):
        assert selection.value == value
        assert selection.items.tolist() == mprlib.select(problem, "mmr", value).items.tolist()


def test_equal_items_are_ordered_by_id():
    problem = problem_of(np.ones((5, 2)), [1.0, 0.0], 3, item_ids=["e", "d", "c", "b", "a"])
    assert mprlib.select(problem, "mmr", 0.5).items.tolist() == [4, 3, 2]


@pytest.mark.parametrize("k", [1, 6])
def test_one_item_and_all_items(k):
    problem = problem_of(np.random.default_rng(3).standard_normal((6, 3)), [1.0, 0.0, 0.0], k)
    items = mprlib.select(problem, "mmr", 0.5).items
    assert len(set(items.tolist())) == k


@pytest.mark.parametrize("value", [-0.1, 1.1, None, np.nan])
def test_a_lambda_outside_its_range(value):
    with pytest.raises(InputError, match="lambda"):
        mprlib.select(problem_of(np.eye(3), [1.0, 0.0, 0.0], 2), "mmr", value)


def test_without_embeddings():
    with pytest.raises(InputError, match="embeddings"):
        mprlib.select(Problem(scores=[1.0], labels=[[1.0]], reference=[[1.0]], k=1), "mmr", 0.5)
