import numpy as np
import pytest

from mprlib import InputError, Problem


def arguments(**changes):
    base = {
        "scores": [0.3, 0.1, 0.2],
        "labels": [[1, 0], [0, 1], [1, 0]],
        "reference": [[1, 0], [0, 1]],
        "k": 2,
    }
    return base | changes


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"scores": [0.1, np.nan, 0.2]}, "scores"),
        ({"scores": [0.1, np.inf, 0.2]}, "scores"),
        ({"scores": [0.1, 0.2]}, "scores"),
        ({"scores": [[0.1, 0.2, 0.3]]}, "scores"),
        ({"scores": ["a", "b", "c"]}, "scores"),
        ({"scores": [], "labels": np.empty((0, 2))}, "scores"),
        ({"labels": [1, 0, 1]}, "labels"),
        ({"labels": [[1, 0], [0, np.inf], [1, 0]]}, "labels"),
        ({"labels": np.empty((3, 0)), "reference": np.empty((2, 0))}, "labels"),
        ({"reference": np.empty((0, 2))}, "reference"),
        ({"reference": [[1.0]]}, "reference"),
        ({"reference": [[np.nan, 1.0]]}, "reference"),
        ({"k": 0}, "k"),
        ({"k": 4}, "k"),
        ({"k": 2.0}, "k"),
        ({"k": True}, "k"),
        ({"reference_weights": [1.0]}, "reference_weights"),
        ({"reference_weights": [1.0, -1.0]}, "reference_weights"),
        ({"reference_weights": [0.0, 0.0]}, "reference_weights"),
        ({"reference_weights": [1.0, np.nan]}, "reference_weights"),
        ({"reference_size": 0}, "reference_size"),
        ({"reference_size": np.nan}, "reference_size"),
        ({"attributes": {"sex": [0, 2]}}, "attributes"),
        ({"attributes": {"sex": []}}, "attributes"),
        ({"attributes": {"sex": [0], "age": [0]}}, "attributes"),
        ({"attributes": {"sex": [0.5]}}, "attributes"),
        ({"attributes": {"sex": [True]}}, "attributes"),
        ({"attributes": {"sex": 0}}, "attributes"),
        ({"attributes": {"sex": "01"}}, "attributes"),
        ({"attributes": {"sex": ["woman"]}}, "attributes"),
        ({"attributes": {1: [0], "1": [1]}}, "attributes"),
        ({"attributes": [0, 1]}, "attributes"),
        ({"embeddings": [[1.0], [2.0]]}, "embeddings"),
        ({"embeddings": [[1.0], [np.nan], [2.0]]}, "embeddings"),
        ({"embeddings": [[1.0], [1.0], [2.0]], "query": [1.0, 2.0]}, "query"),
        ({"item_ids": ["a", "b"]}, "item_ids"),
        ({"item_ids": ["a", "b", "a"]}, "item_ids"),
        ({"label_names": ["a"]}, "label_names"),
        ({"label_names": ["a", "a"]}, "label_names"),
    ],
)
def test_bad_input_names_the_argument(changes, names):
    with pytest.raises(InputError, match=f"^{names}"):
        Problem(**arguments(**changes))


def test_input_error_is_a_value_error():
    with pytest.raises(ValueError, match="k is 9"):
        Problem(**arguments(k=9))


def test_nothing_that_the_caller_does_later_changes_a_problem():
    scores, labels = np.array([0.3, 0.1, 0.2]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    problem = Problem(**arguments(scores=scores, labels=labels))
    scores[0] = labels[0, 0] = 9.0
    assert problem.scores[0] == 0.3
    assert problem.labels[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.scores[0] = 1.0
    with pytest.raises(AttributeError):
        problem.k = 3


def test_order_breaks_ties_by_id_and_by_position_without_ids():
    tied = arguments(scores=[0.5, 0.7, 0.5])
    assert Problem(**tied).best_first.tolist() == [1, 0, 2]
    assert Problem(**tied, item_ids=["z", "y", "x"]).best_first.tolist() == [1, 2, 0]
    assert Problem(**tied, item_ids=[10, 5, 9]).ranked([0, 1, 2]).tolist() == [1, 2, 0]


def test_effective_size_and_scale():
    problem = Problem(**arguments(reference_weights=[3.0, 1.0]))
    assert problem.reference_weights.tolist() == [0.75, 0.25]
    assert problem.m == pytest.approx(1 / (0.75**2 + 0.25**2))
    assert Problem(**arguments()).m == pytest.approx(2)
    assert Problem(**arguments(reference_size=30)).m == 30
    assert Problem(**arguments()).scale == pytest.approx(2 * 2 / 4)


def test_unclaimed_columns_are_attributes_of_their_own():
    problem = Problem(**arguments(label_names=["sex", "age"], attributes={"who": [1]}))
    assert problem.attributes == {"who": (1,), "sex": (0,)}
    named = Problem(**arguments(label_names=["sex", "age"], attributes={"who": ["age"]}))
    assert named.attributes == problem.attributes


@pytest.mark.parametrize("items", [[], [0, 0], [0, 3], [-1, 0], [0.5], [[0, 1]]])
def test_bad_selections(items):
    with pytest.raises(InputError, match="^items"):
        Problem(**arguments()).checked_items(items)
