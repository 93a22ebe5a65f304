"""Fair orders: against all orders of small selections, what is never said wrongly, and what is refused."""

from itertools import permutations

import numpy as np
import pytest

import mprlib
from mprlib import registry
from mprlib.attention import LOG2
from mprlib.optimisers.order_course import prefix_limits
from tests.populations import one_hot_problem

CLASSES = ("linear", "saturated", "groups", "tree", "rkhs", "mlp")
K, FIRST = 6, 2


def prefix_values(problem, items, name):
    """MPR of each prefix from the second on, each function scaled as for all the items."""
    oracle = registry.function_class(name).bind(problem)
    values = []
    for length in range(FIRST, len(items) + 1):
        weights = np.zeros(problem.n)
        weights[list(items[:length])] = 1 / length
        values.append(oracle.worst_case(weights).value)
    return np.array(values)


def all_orders(problem, items, name):
    """Discounted similarity of each order, and its largest prefix value in units of the limit at rho = 1."""
    scale, oracle = np.sqrt(K / np.arange(FIRST, K + 1)), registry.function_class(name).bind(problem)
    cache = {}

    def value(prefix):
        key = frozenset(prefix)
        if key not in cache:
            weights = np.zeros(problem.n)
            weights[list(prefix)] = 1 / len(prefix)
            cache[key] = oracle.worst_case(weights).value
        return cache[key]

    orders = list(permutations(items))
    needed = [max(value(order[:length]) / scale[length - FIRST] for length in range(FIRST, K + 1)) for order in orders]
    return problem.scores[np.array(orders)] @ LOG2.weights(K), np.array(needed)


@pytest.mark.parametrize("name", CLASSES)
def test_orders_are_the_best_of_all(name, cases):
    found_statuses = set()
    for seed in range(max(3, cases(30))):
        problem = one_hot_problem(seed, n=40, m=60, k=K, levels=((2, 3), (2, 2, 2), (4,))[seed % 3])
        if seed % 2:
            problem = mprlib.Problem(
                scores=np.round(problem.scores, 1), labels=problem.labels, reference=problem.reference, k=K,
                attributes=problem.attributes,
            )  # fmt: skip
        items = np.random.default_rng(seed).choice(40, K, replace=False)
        values, needed = all_orders(problem, items, name)
        # At a value itself rounding decides.
        limits = np.append(np.quantile(needed, [0, 0.1, 0.6, 1]) * 1.0000001, needed.min() * 0.999)
        for rho in limits:
            found = mprlib.fair_order(problem, items, rho, name, first=FIRST)
            found_statuses.add(found.status.value)
            assert sorted(found.items) == sorted(items)
            is_kept = needed <= rho
            if not is_kept.any():
                assert found.status.value == "infeasible"
                continue
            assert found.status.value == "optimal"
            assert found.similarity == pytest.approx(values[is_kept].max(), abs=1e-12) == found.similarity_bound
            allowed = rho * np.sqrt(K / np.arange(FIRST, K + 1))
            assert (prefix_values(problem, found.items, name) <= allowed).all()
    assert found_statuses == {"optimal", "infeasible"}


@pytest.mark.parametrize("name", ["linear", "groups"])
def test_what_is_said_of_longer_orders_holds(name):
    for seed in range(4):
        problem = one_hot_problem(seed, n=400, k=30, levels=(2, 3, 4))
        top = mprlib.select(problem, "top_k", None, name)
        for part in (0.3, 0.6, 1.0):
            row = mprlib.select(problem, "mopr", part * top.mpr, name)
            found = mprlib.fair_order(problem, row.items, part * top.mpr, name)
            assert sorted(found.items) == sorted(row.items)
            by_score = LOG2.weights(30) @ problem.scores[row.items]
            if found.status.value in ("optimal", "feasible"):
                limits = prefix_limits(part * top.mpr, k=30, first=5)[FIRST:]
                assert (prefix_values(problem, found.items, name) <= limits).all()
                assert found.similarity <= found.similarity_bound <= by_score + 1e-12
                assert found.gap >= 0
            else:
                assert found.gap is None
                assert found.factor > 1


def test_a_slack_limit_leaves_the_order_by_score():
    problem = one_hot_problem(0)
    items = np.random.default_rng(0).permutation(problem.best_first[:20])
    found = mprlib.fair_order(problem, items, 1.0)
    assert found.items.tolist() == problem.best_first[:20].tolist()
    assert (found.status.value, found.gap) == ("optimal", 0.0)


def test_limits_in_the_class_s_own_units_are_about_rho():
    problem = one_hot_problem(0, m=5_000)
    found = mprlib.fair_order(problem, problem.best_first[:20], 0.08)
    assert found.status.value == "optimal"
    for length in range(5, 21):
        value = mprlib.measure(problem, found.items[:length], "linear").value
        scales = [problem.m * size / (problem.m + size) for size in (length, 20)]
        assert value <= 0.08 * np.sqrt(20 / length * scales[0] / scales[1]) + 1e-12
        assert np.sqrt(20 / length * scales[0] / scales[1]) == pytest.approx(1, abs=0.01)


def test_one_item_and_one_cell():
    problem = one_hot_problem(0)
    assert mprlib.fair_order(problem, [3], 1.0).items.tolist() == [3]
    alike = np.flatnonzero((problem.labels == problem.labels[0]).all(axis=1))[:5]
    assert mprlib.fair_order(problem, alike, 1.0).items.tolist() == problem.ranked(alike).tolist()
    assert mprlib.fair_order(problem, alike, 0.0).status.value == "infeasible"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], -1), "fair_order's rho is -1"),
        (([0, 0], 0.1), "items repeats"),
        (([0, 1], 0.1, "linear", {"first": 0}), "first is 0: a whole number"),
        (([0, 1], 0.1, "lin"), "unknown function class"),
    ],
)
def test_what_is_no_order_is_refused(arguments, message):
    *positional, settings = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(mprlib.InputError) as error:
        mprlib.fair_order(one_hot_problem(), *positional, **settings)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["linear", "groups", "tree"])
def test_rows_of_mopr_in_fair_order(name):
    for seed in range(3):
        problem = one_hot_problem(seed, n=300, m=2_000, k=12)
        top = mprlib.measure(problem, problem.best_first[:12], name).value
        values = [part * top for part in (0.02, 0.3, 0.6, 1.0)]
        plain = mprlib.sweep(problem, "mopr", values, name)
        fair = mprlib.sweep(problem, "mopr", values, name, order="fair")
        for by_score, row in zip(plain, fair):
            assert row.similarity_bound == by_score.similarity_bound
            assert row.mpr == mprlib.measure(problem, row.items, name).value
            is_kept = (prefix_values(problem, row.items, name) <= prefix_limits(row.rho, k=12, first=5)[2:]).all()
            if not is_kept:
                assert "no order of" in row.message
                assert sorted(row.items) == sorted(by_score.items)
            if sorted(row.items) == sorted(by_score.items):
                assert row.status == by_score.status
            else:
                assert (row.status.value, is_kept) == ("feasible", True)
                assert "these items do" in row.message
                assert row.similarity <= by_score.similarity + 1e-12


def test_where_no_items_keep_the_limits_it_is_proven():
    """Three groups of a third: five people are at best 2/15 off, and 0.1 sqrt(6/5) is less."""
    groups = np.repeat(np.eye(3), 4, axis=0)
    problem = mprlib.Problem(
        scores=np.linspace(0.9, 0.1, 12), labels=groups, reference=np.eye(3), k=6, attributes={"a": [0, 1, 2]},
        reference_size=1_000,
    )  # fmt: skip
    row = mprlib.select(problem, "mopr", 0.1, "groups", order="fair")
    assert row.status.value == "optimal"
    assert "no order of 6 items keeps every prefix of 5 or more within its rho" in row.message
    assert "within" in row.message.partition("rho: ")[2]
    assert mprlib.select(problem, "mopr", 0.13334 / np.sqrt(1.2), "groups", order="fair").message == ""
