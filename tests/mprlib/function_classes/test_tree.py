"""Exact trees against brute force, and their order by depth."""

import time
from itertools import product

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from mprlib import InputError, Problem, measure
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.tree import Tree
from mprlib.function_classes.tree_oracle import MovedLeaves
from mprlib.function_classes.tree_sets import distinct_parts
from tests.populations import one_hot_problem, row_value, signed_weights


def test_value_solved_by_hand():
    problem = Problem(scores=[3, 2, 1], labels=[[0], [0], [1]], reference=[[0], [1]], k=1)
    assert measure(problem, [0], "tree", depth=1).value == pytest.approx(np.sqrt(5 / 36))


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_depth_two_equals_brute_force_over_rows(seed, is_signed):
    """Every split, and every pair of splits below it, over all rows and with numeric columns."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 4, (70, 3)) * np.array([1.0, 10.0, -1.0])
    problem = Problem(scores=np.zeros(40), labels=rows[:40], reference=rows[40:], k=8)
    items = random.choice(40, 8, replace=False)
    signed = signed_weights(problem, items)
    splits = [rows[:, column] <= value for column in range(3) for value in np.unique(rows[:, column])[:-1]]

    def worth(leaf):
        return abs(signed[leaf].sum()) if is_signed else signed[leaf].sum() ** 2 / max(leaf.sum(), 1)

    best = max(
        sum(worth(side & part) for side, below in ((root, left), (~root, right)) for part in (below, ~below))
        for root, left, right in product(splits, repeat=3)
    )
    expected = best if is_signed else np.sqrt(problem.scale * best)
    result = measure(problem, items, "tree", depth=2, signed=is_signed)
    assert result.is_exact and result.value == pytest.approx(expected, abs=1e-10)
    assert (result.chi is None) == is_signed


@pytest.mark.parametrize("seed", range(5))
def test_deeper_trees_see_at_least_as_much(seed):
    problem = one_hot_problem(seed, levels=(2, 3, 4))
    for is_signed in (False, True):
        values = [measure(problem, range(20), "tree", depth=depth, signed=is_signed).value for depth in (1, 2, 3, 4)]
        assert np.all(np.diff(values) >= -1e-12)


def test_deep_enough_trees_are_saturated():
    problem = one_hot_problem(levels=(2, 2))
    assert measure(problem, range(20), "tree", depth=2).value == pytest.approx(
        measure(problem, range(20), "saturated").value, abs=1e-12
    )


def test_duplicated_and_constant_columns_change_nothing():
    problem = one_hot_problem()
    wide = Problem(
        scores=problem.scores,
        labels=np.column_stack([problem.labels, problem.labels[:, :2], np.ones(problem.n)]),
        reference=np.column_stack([problem.reference, problem.reference[:, :2], np.ones(200)]),
        k=problem.k,
    )
    assert measure(wide, range(20), "tree").value == pytest.approx(measure(problem, range(20), "tree").value, abs=1e-12)


@pytest.mark.parametrize("cells", [1, 8, 63, 64, 65, 130])
def test_parts_of_sets_are_listed_once(cells):
    random = np.random.default_rng(cells)
    sets, sides = random.random((20, cells)) < 0.5, random.random((6, cells)) < random.choice([0.03, 0.5])
    sides = np.vstack([sides, ~sides])
    found, position = distinct_parts(sets, sides)
    assert len(np.unique(found, axis=0)) == len(found) and found.any(axis=1).all()
    parts = (sets[:, None, :] & sides).reshape(-1, cells)
    assert (np.vstack([found, np.zeros((1, cells), dtype=bool)])[position] == parts).all()


def test_labels_without_a_split_have_the_root_only():
    problem = Problem(scores=[1, 2], labels=[[5], [5]], reference=[[5]], k=1)
    assert measure(problem, [0], "tree").value == 0


def test_too_many_trees_fall_back_on_greedy_growth(monkeypatch):
    """Never below the shallower trees that can still be listed, nor below CART."""
    problem = one_hot_problem(levels=(2, 7, 9))
    exact = [measure(problem, range(20), "tree", depth=depth).value for depth in (2, 3)]
    greedy = measure(problem, range(20), "tree_greedy").value
    monkeypatch.setattr("mprlib.function_classes.tree_sets.LARGEST_TABLE", 10_000)
    result = measure(one_hot_problem(levels=(2, 7, 9)), range(20), "tree")
    assert not result.is_exact and result.upper_bound > result.value
    assert max(exact[0], greedy) - 1e-12 <= result.value <= exact[1] + 1e-12
    signed = measure(one_hot_problem(levels=(2, 7, 9)), range(20), "tree", signed=True)
    assert not signed.is_exact
    assert signed.value >= measure(problem, range(20), "tree", depth=1, signed=True).value - 1e-12


def test_greedy_tree_equals_scikit_learn_on_rows():
    for seed in range(5):
        problem = one_hot_problem(seed, levels=(2, 3, 4))
        rows = np.concatenate([problem.labels, problem.reference])
        targets = signed_weights(problem, range(20))
        model = DecisionTreeRegressor(max_depth=3, random_state=1017).fit(rows, targets / targets.std())
        expected = row_value(problem, range(20), model.predict(rows))
        assert measure(problem, range(20), "tree_greedy").value == pytest.approx(expected, abs=1e-10)


def test_a_depth_three_value_takes_less_time_than_the_greedy_fit_on_the_rows():
    """Given the cells; `tests.benchmarks.measuring` prints the milliseconds of both."""
    random_problem = one_hot_problem(n=10_000, m=10_000, k=50, levels=(2, 7, 9))
    assert cells_of(random_problem).size == 126
    oracle = Tree().bind(random_problem)
    weights = selection_weights(random_problem, random_problem.best_first[:50])
    rows = np.concatenate([random_problem.labels, random_problem.reference])
    targets = np.concatenate([weights, np.full(10_000, -1e-4)]) * 1e4
    greedy = DecisionTreeRegressor(max_depth=3, random_state=1017)
    exact_seconds, greedy_seconds = [], []
    for _ in range(5):
        for work, seconds in (
            (lambda: oracle.worst_case(weights), exact_seconds),
            (lambda: greedy.fit(rows, targets), greedy_seconds),
        ):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
    assert min(exact_seconds) < min(greedy_seconds)


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "3"])
def test_refuses_a_depth_that_is_no_count(depth):
    with pytest.raises(InputError, match="depth"):
        measure(one_hot_problem(), range(20), "tree", depth=depth)


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("size", [0.0, 0.01, 0.3])
def test_splits_that_are_best_in_no_resample_change_nothing(is_signed, size):
    """Whatever remains of a selection's differences, and where leaves are empty in some resamples."""
    problem, random = one_hot_problem(), np.random.default_rng(4)
    oracle = Tree(depth=3, signed=is_signed).bind(problem)
    differences = size * oracle.cells.differences(selection_weights(problem, problem.best_first[:20]))
    moved = 0.02 * random.standard_normal((50, oracle.cells.size))
    masses = random.integers(0, 3, moved.shape) * random.random(moved.shape)
    leaves = MovedLeaves.of(oracle.leaf_sums(moved), oracle.leaf_sums(masses))
    [kept] = oracle.leaf_sums(differences[None, :]).T
    expected = oracle.gaps_of_leaves(kept[:, None] - leaves.moved, leaves.masses)
    assert np.array_equal(oracle.gaps_near(kept, leaves), expected)
    by_hand = oracle.gaps(differences - moved[:1], masses[:1])
    assert by_hand[0] == pytest.approx(expected[0])


def test_other_first_splits_part_the_cells_otherwise():
    problem = one_hot_problem()
    oracle = Tree(depth=2).bind(problem)
    found = oracle.worst_cases(selection_weights(problem, problem.best_first[:20]), 4)
    assert len(found) > 1 and all(one.value <= found[0].value for one in found)
    for place, one in enumerate(found):
        assert not any(np.allclose(one.function, other.function, rtol=1e-9, atol=0.0) for other in found[:place])
