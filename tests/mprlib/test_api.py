import numpy as np
import pytest

import mprlib
from mprlib import FUNCTION_CLASSES, METHODS, InputError, Status
from mprlib.registry import display_name, function_class
from tests.method_arrays import needed

# Extras without a default, for the methods that have one.
NEEDED = {name: needed(name, 4) for name in METHODS}


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


def some_value(name, problem):
    """A rho that can be met, or the last of three values of the method's own grid."""
    method = METHODS[name]
    return 0.2 if method.is_constrained else method.grid(problem, function_class("linear").bind(problem), 3)[-1]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_returns_k_distinct_items_best_first(problem, name):
    method = METHODS[name]
    values = method.grid(problem, function_class("linear").bind(problem), 3)
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
    value = some_value(name, problem)
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
        value = some_value(name, problem)
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


def same(first, second):
    assert (first.items.tolist(), first.mpr, first.similarity) == (second.items.tolist(), second.mpr, second.similarity)


def test_names_with_keywords_are_short_for_instances(problem):
    tree = mprlib.Tree(depth=2)
    by_name = mprlib.select(problem, "mmr", 0.5, "tree", spread="nearest", depth=2)
    same(by_name, mprlib.select(problem, mprlib.Mmr(spread="nearest"), 0.5, tree))
    same(by_name, mprlib.select(problem, mprlib.Mmr(spread="nearest"), 0.5, "tree", depth=2))
    same(by_name, mprlib.select(problem, "mmr", 0.5, tree, spread="nearest"))
    same(by_name, mprlib.sweep(problem, mprlib.Mmr(spread="nearest"), [0.1, 0.5], tree)[1])
    assert mprlib.Mmr(spread="nearest") == mprlib.Mmr(spread="nearest") != mprlib.Mmr()


def test_both_seeds_can_be_set(problem):
    found = mprlib.select(problem, mprlib.Pbm(seed=4), 0.5, mprlib.Forest(seed=3, trees=5))
    assert found.items.tolist() == mprlib.select(problem, "pbm", 0.5, seed=4).items.tolist()
    assert found.mpr == mprlib.measure(problem, found.items, "forest", seed=3, trees=5).value


@pytest.mark.parametrize("method", ["pbm", mprlib.Pbm()])
@pytest.mark.parametrize("function_class", ["forest", mprlib.Forest(trees=5), "mlp", "tree_greedy"])
def test_a_setting_of_both_goes_to_neither(problem, method, function_class):
    with pytest.raises(InputError, match=r"^seed is a setting of method pbm and .*, Pbm\(seed=\.\.\.\) or ") as caught:
        mprlib.select(problem, method, 0.5, function_class, seed=3)
    assert caught.value.setting == "seed"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: mprlib.select(p, "mopr", rho=0.1), "^rho is no keyword: mopr's parameter rho is the third argument"),
        (lambda p: mprlib.sweep(p, "mopr", rho=[0.1]), "^rho is no keyword: mopr's parameter rho"),
        (lambda p: mprlib.sweep(p, "mopr", value=0.1), "^value is no keyword: mopr's parameter rho"),
        (lambda p: mprlib.select(p, "mopr", values=[0.1]), "^values is no keyword: mopr's parameter rho"),
        (lambda p: mprlib.select(p, mprlib.Pbm(), eps=0.1), "^eps is no keyword: pbm's parameter eps"),
        (lambda p: mprlib.select(p, "mmr", **{"lambda": 0.1}), "^lambda is no keyword: mmr's parameter lambda"),
        (lambda p: mprlib.select(p, "clip_clip", columns_dropped=1), "^columns_dropped is no keyword: clip_clip's"),
        (
            lambda p: mprlib.select(p, "mmr", 0.5, "tree", rho=0.1),
            (
                "^neither the method nor the function class has a setting 'rho': method 'mmr' has spread, "
                "function class 'tree' has depth, signed$"
            ),
        ),
        (
            lambda p: mprlib.select(p, "top_k", points=5),
            "setting 'points': method 'top_k' has none, function class 'linear' has none$",
        ),
        (lambda p: mprlib.select(p, mprlib.Mmr(), 0.5, spread="mean"), "^spread beside an instance of Mmr: .*spread="),
        (lambda p: mprlib.select(p, "top_k", None, mprlib.Tree(), depth=2), "^depth beside an instance of Tree: "),
        (lambda p: mprlib.measure(p, [0], mprlib.Tree(), depth=2), "^depth beside an instance of Tree: "),
        (lambda p: mprlib.select(p, mprlib.Mmr, 0.5), r"^method is the class Mmr, not Mmr\(\.\.\.\): "),
        (lambda p: mprlib.measure(p, [0], mprlib.Tree), r"^function_class is the class Tree, not Tree\(\.\.\.\): "),
        (lambda p: mprlib.select(p, "mopper", rho=0.1), "^unknown method 'mopper'"),
        (lambda p: mprlib.select(p, "mopr", 0.1, "liner", depth=0.1), "^unknown function class 'liner'"),
        (lambda p: mprlib.Mmr(spread="wide"), "^mmr's spread is 'wide': one of mean, nearest, farthest is expected"),
    ],
)
def test_a_wrong_keyword_is_answered_by_one_sentence(problem, call, message):
    with pytest.raises(InputError, match=message) as caught:
        call(problem)
    assert "\n" not in str(caught.value)


class Everyone:
    """A class of a caller's own, which declares nothing."""

    name = "everyone"
    is_normalised = True

    def bind(self, problem):
        return mprlib.Saturated().bind(problem)


def test_a_class_of_the_callers_own_needs_no_declarations(problem):
    found = mprlib.select(problem, "mmr", 0.5, Everyone(), spread="nearest")
    assert found.mpr == mprlib.measure(problem, found.items, "saturated").value
    with pytest.raises(InputError, match="function class 'everyone' has none"):
        mprlib.select(problem, "mmr", 0.5, Everyone(), depth=2)
    with pytest.raises(InputError, match="^depth beside an instance of Everyone: "):
        mprlib.measure(problem, found.items, Everyone(), depth=2)


def test_everything_registered_is_public():
    for kind in [*METHODS.values(), *FUNCTION_CLASSES.values()]:
        assert getattr(mprlib, kind.__name__) is kind and kind.__name__ in mprlib.__all__


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
