import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif

import mprlib
from mprlib import InputError, Problem
from mprlib.baselines.clip_clip import column_order
from mprlib.baselines.mutual_information import mutual_information

GOLDEN = json.loads((Path(__file__).resolve().parents[2] / "golden" / "baseline_golden.json").read_text())


def problem_of(embeddings, query, k, labels=None) -> Problem:
    embeddings, query = np.asarray(embeddings, dtype=float), np.asarray(query, dtype=float)
    rows = np.ones((len(embeddings), 1)) if labels is None else labels
    return Problem(scores=embeddings @ query, labels=rows, reference=rows, k=k, embeddings=embeddings, query=query)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"seed{case['seed']}")
def test_equals_the_authors_order_and_selections(case):
    order = column_order(np.asarray(case["embeddings"]), np.asarray(case["clip_clip"]["gender"]))
    assert order.tolist() == case["clip_clip"]["order"]
    problem = problem_of(case["embeddings"], case["query"], case["k"])
    for dropped, items in case["clip_clip"]["selected"].items():
        assert set(mprlib.select(problem, "clip_clip", int(dropped), order=order).items.tolist()) == set(items)


@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mutual_information_is_that_of_scikit_learn(levels, dtype):
    generator = np.random.default_rng(levels)
    labels = generator.integers(0, levels, 400)
    embeddings = generator.standard_normal((400, 12)).astype(dtype)
    embeddings[:, 0] += labels
    embeddings[:, 1] = np.round(embeddings[:, 1])
    embeddings[:, 2] = 0.25
    expected = mutual_info_classif(embeddings, labels, n_neighbors=10, random_state=1)
    assert np.allclose(mutual_information(embeddings, labels), expected, rtol=0, atol=1e-12)


def test_mutual_information_of_few_items():
    embeddings = np.random.default_rng(0).standard_normal((6, 3))
    assert mutual_information(embeddings, np.arange(6)).tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(mutual_information(embeddings, np.array([0, 0, 0, 1, 1, 2]))).all()
    assert mutual_information(embeddings, np.zeros(6)).tolist() == [0.0, 0.0, 0.0]


def test_dropping_by_hand_and_similarity_stays_the_original():
    """Without its first column the third item is best; its similarity is still the whole one."""
    problem = problem_of([[0.9, 0.1], [0.8, 0.2], [0.0, 0.7]], [1.0, 1.0], 1)
    selection = mprlib.select(problem, "clip_clip", 1, order=[0, 1])
    assert selection.items.tolist() == [2]
    assert selection.similarity == pytest.approx(0.7)
    assert mprlib.select(problem, "clip_clip", 0, order=[0, 1]).items.tolist() == [0]


def test_the_default_order_drops_what_tells_the_labels_apart():
    generator = np.random.default_rng(1)
    group = generator.integers(0, 2, 200)
    embeddings = generator.standard_normal((200, 5))
    embeddings[:, 3] = 3 * group + 0.1 * generator.standard_normal(200)
    query = np.array([0.1, 0.0, 0.0, 1.0, 0.0])
    problem = problem_of(embeddings, query, 20, np.eye(2)[group])
    top, dropped = mprlib.sweep(problem, "clip_clip", [0, 1])
    assert group[top.items].mean() == 1.0
    assert dropped.mpr < top.mpr
    assert set(dropped.items.tolist()) == set(np.argsort(-embeddings[:, 0])[:20].tolist())


def test_equal_items_are_ordered_by_position():
    problem = problem_of(np.ones((40, 24)) / 3, np.arange(24) / 7, 11)
    assert mprlib.select(problem, "clip_clip", 5, order=np.arange(24)).items.tolist() == list(range(11))


@pytest.mark.parametrize("value", [-1, 2, 0.5, None])
def test_a_number_of_columns_that_leaves_none(value):
    with pytest.raises(InputError, match="from 0 to 1"):
        mprlib.select(problem_of(np.eye(2), [1.0, 0.0], 1), "clip_clip", value)


@pytest.mark.parametrize("order", [[0], [0, 0], [1, 2]])
def test_an_order_that_is_no_permutation(order):
    with pytest.raises(InputError, match="permutation"):
        mprlib.select(problem_of(np.eye(2), [1.0, 0.0], 1), "clip_clip", 1, order=order)


def test_without_a_query():
    problem = Problem(scores=[1.0], labels=[[1.0]], reference=[[1.0]], k=1, embeddings=[[1.0, 0.0]])
    with pytest.raises(InputError, match="query"):
        mprlib.select(problem, "clip_clip", 1)
