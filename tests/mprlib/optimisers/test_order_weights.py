"""Items and order under attention: against all ordered selections of small pools, and what is said of larger ones."""

from itertools import permutations

import numpy as np
import pytest

import mprlib
from mprlib import registry
from mprlib.attention import attended
from tests.populations import one_hot_problem

CLASSES = ("linear", "saturated", "groups", "tree", "rkhs")
N, K = 9, 4


def all_orders(problem, items, attention, name):
    """Every order of k of the items, its similarity and its MPR under attention."""
    shown = attended(problem, attention, K)
    oracle = registry.function_class(name).bind(shown)
    orders = np.array(list(permutations(items, K)))
    known = {}
    for order in orders:
        cells = tuple(oracle.cells.pool_cell[order])
        if cells not in known:
            weights = np.zeros(problem.n)
            weights[order] = shown.place_weights
            known[cells] = oracle.worst_case(weights).value
    values = np.array([known[tuple(oracle.cells.pool_cell[order])] for order in orders])
    return problem.scores[orders] @ shown.place_weights, values


def small_problem(seed, n=N):
    problem = one_hot_problem(seed, n=n, m=60, k=K, levels=((2, 3), (2, 2, 2), (4,))[seed % 3])
    scores = np.round(problem.scores, 1) if seed % 2 else problem.scores
    return mprlib.Problem(
        scores=scores, labels=problem.labels, reference=problem.reference, k=K, attributes=problem.attributes
    )


@pytest.mark.parametrize("name", CLASSES)
def test_items_and_order_are_the_best_of_all(name, cases):
    statuses = set()
    for seed in range(max(4, cases(30))):
        problem, attention = small_problem(seed), ("log2", "geometric(0.6)")[seed % 2]
        similarities, values = all_orders(problem, range(N), attention, name)
        top = values[np.argmax(similarities)]
        rhos = [part * top for part in (0.3, 0.5, 0.7, 0.9)] + [values.min() * 1.0000001, values.min() * 0.999]
        for rho, row in zip(rhos, mprlib.sweep(problem, "mopr", rhos, name, attention=attention)):
            statuses.add(row.status.value)
            assert row.mpr == mprlib.measure(problem, row.items, name, attention=attention).value
            if not (values <= rho).any():
                assert (row.status.value, row.gap) == ("infeasible", None)
                continue
            assert row.status.value == "optimal"
            best = similarities[values <= rho].max()
            assert row.similarity == pytest.approx(best, abs=1e-9) == row.similarity_bound
            assert row.mpr <= rho
    assert statuses == {"optimal", "infeasible"}


@pytest.mark.parametrize("name", ["linear", "groups"])
def test_orders_of_given_items_are_the_best_of_all(name, cases):
    for seed in range(max(4, cases(30))):
        problem = small_problem(seed, n=40)
        items = np.random.default_rng(seed).choice(40, K, replace=False)
        similarities, values = all_orders(problem, items, "log2", name)
        for rho in (*np.quantile(values, [0.1, 0.5, 1]) * 1.0000001, values.min() * 0.999):
            found = mprlib.fair_order(problem, items, rho, name, attention="log2")
            assert sorted(found.items) == sorted(items)
            if not (values <= rho).any():
                assert found.status.value == "infeasible"
                continue
            assert found.status.value == "optimal"
            assert found.similarity == pytest.approx(similarities[values <= rho].max(), abs=1e-9)


@pytest.mark.parametrize("name", ["linear", "groups", "saturated", "tree", "mlp", "rkhs"])
def test_what_is_said_of_a_sweep_holds(name):
    problem = one_hot_problem(3, n=400, m=2_000, k=15)
    top = mprlib.measure(problem, problem.best_first[:15], name, attention="log2")
    rhos = [part * top.value for part in (0.05, 0.3, 0.6, 1.0)]
    rows = mprlib.sweep(problem, "mopr", rhos, name, attention="log2")
    similarities = [row.similarity for row in rows if row.mpr <= row.rho]
    assert similarities == sorted(similarities)
    for row in rows:
        assert len(set(row.items.tolist())) == 15
        assert row.mpr == mprlib.measure(problem, row.items, name, attention="log2").value
        if row.status.value in ("optimal", "feasible"):
            assert row.mpr <= row.rho
            assert row.similarity <= row.similarity_bound
        else:
            assert row.status.value in ("infeasible", "not_found")
            assert row.message
    assert rows[-1].items.tolist() == problem.best_first[:15].tolist()
    assert rows[-1].status.value in ("optimal", "feasible")
    again = mprlib.sweep(problem, "mopr", rhos, name, attention="log2")
    assert [row.items.tolist() for row in again] == [row.items.tolist() for row in rows]


def test_no_bound_is_below_what_random_orders_reach():
    random = np.random.default_rng(0)
    problem = one_hot_problem(5, n=60, m=500, k=6)
    weights = attended(problem, "log2").place_weights
    orders = np.array([random.choice(problem.best_first[:20], 6, replace=False) for _ in range(2_000)])
    values = np.array([mprlib.measure(problem, one, attention="log2").value for one in orders])
    similarities = problem.scores[orders] @ weights
    rhos = np.quantile(values, [0.01, 0.1, 0.5])
    for rho, row in zip(rhos, mprlib.sweep(problem, "mopr", list(rhos), attention="log2")):
        assert row.similarity_bound >= similarities[values <= rho].max() - 1e-12


def test_uniform_attention_is_the_set():
    problem = one_hot_problem(0)
    for one, other in zip(
        mprlib.sweep(problem, "mopr", [0.02, 0.05]), mprlib.sweep(problem, "mopr", [0.02, 0.05], attention="uniform")
    ):
        assert (one.items.tolist(), one.status, one.similarity_bound) == (
            other.items.tolist(), other.status, other.similarity_bound,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attention": "dcg"}, "attention is 'dcg': uniform, log2 or geometric"),
        ({"attention": "log2", "order": "fair"}, "order is fair, and attention decides on an order by itself"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, message):
    with pytest.raises(mprlib.InputError, match=message):
        mprlib.select(one_hot_problem(), "mopr", 0.1, **settings)


def test_weights_that_rise_order_nothing():
    with pytest.raises(mprlib.InputError, match="attention rises"):
        mprlib.fair_order(one_hot_problem(), [0, 1, 2], 0.1, attention=[1, 3, 2])
