import json
from pathlib import Path

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem

GOLDEN = json.loads((Path(__file__).resolve().parents[2] / "golden" / "baseline_golden.json").read_text())


def problem_of(embeddings, query, k, **more) -> Problem:
    embeddings, query = np.asarray(embeddings), np.asarray(query)
    ones = np.ones((len(embeddings), 1))
    return Problem(scores=embeddings @ query, labels=ones, reference=ones, k=k, embeddings=embeddings, query=query, **more)


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
