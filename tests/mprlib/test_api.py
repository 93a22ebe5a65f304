import numpy as np
import pytest

import mprlib
from mprlib import FUNCTION_CLASSES, METHODS, InputError, Status
from mprlib.registry import display_name, function_class

# Extras without a default, for the methods that have one.
NEEDED = {"paths": {"subspace": np.eye(4)[1:3]}, "debias_clip": {"debiased_query": [0.6, 0.8, 0.0, 0.0]}}


@pytest.fixture(scope="module")
def problem():
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((60, 4))
    return mprlib.Problem(
        scores=vectors[:, 0],
        labels=np.eye(3)[generator.integers(0, 3, 60)],
        reference=np.eye(3)[generator.integers(0, 3, 40)],
        k=9,
        embeddings=vectors,
        query=np.eye(4)[0],
        item_ids=[f"i{number:02d}" for number in generator.permutation(60)],
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_returns_k_distinct_items_best_first(problem, name):
    method = METHODS[name]
    values = [None] if method.grid is None else method.grid(problem, function_class("linear").bind(problem), 3)
    selections = mprlib.sweep(problem, name, values, **NEEDED.get(name, {}))
    assert [selection.value for selection in selections] == values
    for selection in selections:
        assert selection.method == name
        assert isinstance(selection.status, Status)
        assert selection.items.tolist() == problem.ranked(np.unique(selection.items)).tolist()
        assert len(selection.items) == problem.k
        assert selection.similarity == pytest.approx(problem.scores[selection.items].mean())
        assert selection.mpr == pytest.approx(mprlib.measure(problem, selection.items).value)
        assert selection.solve_seconds >= 0


@pytest.mark.parametrize("name", METHODS)
def test_the_same_input_gives_the_same_items(problem, name):
    value = {None: None, "columns dropped": 2}.get(METHODS[name].parameter, 0.2)
    first, second = (mprlib.select(problem, name, value, **NEEDED.get(name, {})) for _ in range(2))
    assert first.items.tolist() == second.items.tolist()


@pytest.mark.parametrize("name", NEEDED)
def test_an_extra_without_a_default_is_named_when_it_is_missing(problem, name):
    for argument in NEEDED[name]:
        with pytest.raises(InputError, match=argument):
            mprlib.select(problem, name)


@pytest.mark.parametrize("name", METHODS)
def test_all_items_equal_and_one_class_only(name):
    """Nothing to choose by, nobody to tell apart, k = n in the second: still k distinct items."""
    for k in (4, 30):
        problem = mprlib.Problem(
            scores=np.full(30, 0.5),
            labels=np.ones((30, 1)),
            reference=np.ones((5, 1)),
            k=k,
            embeddings=np.full((30, 4), 0.5),
            query=np.full(4, 0.25),
        )
        value = {None: None, "columns dropped": 2}.get(METHODS[name].parameter, 0.5)
        selection = mprlib.select(problem, name, value, **NEEDED.get(name, {}))
        assert np.unique(selection.items).size == k
        assert selection.mpr == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].needs_embeddings])
def test_items_without_embeddings(name):
    with pytest.raises(InputError, match="embeddings"):
        mprlib.select(mprlib.Problem(scores=[1.0], labels=[[1.0]], reference=[[1.0]], k=1), name, 0.0)


def test_unknown_names_list_the_known():
    problem = mprlib.Problem(scores=[1.0], labels=[[1.0]], reference=[[1.0]], k=1)
    with pytest.raises(InputError, match=", ".join(METHODS)):
        mprlib.select(problem, "mopper")
    with pytest.raises(InputError, match="did you mean 'linear'"):
        mprlib.measure(problem, [0], "liner")
    with pytest.raises(InputError, match="has no setting 'depth'"):
        mprlib.measure(problem, [0], "linear", depth=3)
    with pytest.raises(InputError, match="values is empty"):
        mprlib.sweep(problem, "top_k", [])


def test_settings_of_the_class_and_of_the_method_are_told_apart(problem):
    assert mprlib.select(problem, "top_k", None, "groups", signed=True).mpr == pytest.approx(
        2 * mprlib.select(problem, "top_k", None, "groups").mpr
    )


def test_display_names_show_changed_settings_only():
    assert display_name(function_class("groups")) == "groups"
    assert display_name(function_class("groups", max_attributes=3)) == "groups(max_attributes=3)"
    assert display_name(function_class("tree", depth=2)) == "tree(depth=2)"


def test_a_selection_of_another_length_is_measured_at_its_own_size(problem):
    alone = mprlib.measure(problem, [0], "saturated").value
    assert 0 <= alone <= 1
    again = mprlib.Problem(scores=problem.scores, labels=problem.labels, reference=problem.reference, k=1)
    assert alone == pytest.approx(mprlib.measure(again, [0], "saturated").value)


def test_every_registered_name_is_its_own():
    for name, registered in FUNCTION_CLASSES.items():
        assert registered.name == name
    for name, method in METHODS.items():
        assert method.name == name
        assert method.summary
