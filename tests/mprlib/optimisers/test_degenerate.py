"""Inputs at the edges, for every method with a rho."""

import numpy as np
import pytest

from mprlib import METHODS, InputError, Problem, measure, select, sweep

CONSTRAINED = [name for name, method in METHODS.items() if method.is_constrained]


def problem(n: int = 40, k: int = 6, **changes) -> Problem:
    rng = np.random.default_rng(1)
    labels = (rng.random((n, 3)) < 0.4).astype(float)
    fields = {"scores": rng.random(n), "labels": labels, "reference": (rng.random((60, 3)) < 0.5).astype(float), "k": k}
    return Problem(**fields | changes)


@pytest.mark.parametrize("method", CONSTRAINED)
@pytest.mark.parametrize("k", [1, 40])
def test_one_item_and_all_items(method: str, k: int) -> None:
    p = problem(k=k)
    for row in sweep(p, method, [0.0, 0.1, 5.0]):
        assert len(set(row.items.tolist())) == k
    assert select(p, method, 5.0).status in ("optimal", "feasible")


@pytest.mark.parametrize("method", CONSTRAINED)
def test_equal_scores_go_by_item_id(method: str) -> None:
    p = problem(scores=np.full(40, 0.5), item_ids=np.arange(40)[::-1])
    row = select(p, method, 5.0)
    np.testing.assert_array_equal(row.items, np.arange(39, 33, -1))
    for rho in (0.02, 0.1):
        row = select(p, method, rho)
        assert row.similarity == pytest.approx(0.5)
        if row.status in ("optimal", "feasible"):
            assert row.mpr <= rho


@pytest.mark.parametrize("method", CONSTRAINED)
@pytest.mark.parametrize("name", ["linear", "saturated"])
def test_equal_labels_meet_rho_zero_with_top_k(method: str, name: str) -> None:
    p = problem(labels=np.ones((40, 2)), reference=np.ones((60, 2)))
    row = select(p, method, 0.0, name)
    assert row.mpr == 0.0 and row.status in ("optimal", "feasible")
    np.testing.assert_array_equal(row.items, p.best_first[:6])


@pytest.mark.parametrize("method", [name for name in CONSTRAINED if name != "mopr_paper"])
def test_a_cell_with_too_few_items_makes_small_rho_infeasible(method: str) -> None:
    # Half of the reference has the label, one item of the pool has: p <= 1/6 against q = 1/2.
    labels, reference = np.zeros((40, 1)), np.zeros((60, 1))
    labels[7] = reference[:30] = 1.0
    p = problem(labels=np.hstack([labels, 1 - labels]), reference=np.hstack([reference, 1 - reference]))
    row = select(p, method, 0.01)
    assert row.status == "infeasible"
    # The closest set holds the one item, and nothing fractional comes closer.
    assert 7 in row.items
    assert row.mpr == pytest.approx(row.rho_min, rel=1e-6)
    assert select(p, method, row.mpr * 1.001).status in ("optimal", "feasible")


@pytest.mark.parametrize("method", CONSTRAINED)
def test_duplicated_items_are_returned_once_each(method: str) -> None:
    p = problem()
    twice = Problem(scores=np.tile(p.scores, 2), labels=np.tile(p.labels, (2, 1)), reference=p.reference, k=6)
    row = select(twice, method, 0.1)
    assert len(set(row.items.tolist())) == 6


@pytest.mark.parametrize("method", CONSTRAINED)
@pytest.mark.parametrize("rho", [float("nan"), float("inf"), -0.1, None, "much"])
def test_bad_rho_is_refused(method: str, rho) -> None:
    with pytest.raises(InputError, match="rho"):
        select(problem(), method, rho)


def test_nan_scores_are_refused() -> None:
    with pytest.raises(InputError, match="scores"):
        problem(scores=np.full(40, np.nan))


@pytest.mark.parametrize("method", CONSTRAINED)
def test_values_keep_their_order_and_repeats(method: str) -> None:
    p = problem()
    rows = sweep(p, method, [0.05, 0.2, 0.05, 0.1])
    assert [row.rho for row in rows] == [0.05, 0.2, 0.05, 0.1]
    np.testing.assert_array_equal(rows[0].items, rows[2].items)
    for row in rows:
        assert row.mpr == measure(p, row.items).value


def test_cone_programme_refuses_a_class_that_is_no_ball() -> None:
    with pytest.raises(InputError, match="unit ball"):
        select(problem(), "mopr_qp", 0.1, "groups")


@pytest.mark.parametrize("rounds", [0, True, 2.5])
def test_paper_refuses_bad_rounds(rounds) -> None:
    with pytest.raises(InputError, match="rounds"):
        select(problem(), "mopr_paper", 0.1, rounds=rounds)


def test_paper_refuses_an_unknown_programme() -> None:
    with pytest.raises(InputError, match="one of reduced, printed"):
        select(problem(), "mopr_paper", 0.1, programme="whole")


@pytest.mark.parametrize("nodes", [0, True, 2.5])
def test_integer_refuses_bad_nodes(nodes) -> None:
    with pytest.raises(InputError, match="nodes"):
        select(problem(), "mopr_integer", 0.1, nodes=nodes)
