"""A selection says what the solve took, and a status that is not good says what to do next."""

from dataclasses import asdict

import numpy as np
import pytest

from mprlib import Problem, measure, sweep
from mprlib.optimisers import branch_and_bound, integer, proven_search
from mprlib.selection import SolveStatistics
from tests.embedded_queries import embedded_query


def problem_of(seed: int = 0, n: int = 200, k: int = 15) -> Problem:
    rng = np.random.default_rng(seed)
    rows = np.hstack([np.eye(3)[rng.integers(0, 3, n + 90)], np.eye(4)[rng.choice(4, n + 90, p=[0.4, 0.3, 0.2, 0.1])]])
    scores = rng.random(n) + rows[:n] @ rng.standard_normal(7) / 3
    return Problem(
        scores=scores, labels=rows[:n], reference=rows[n:], k=k, attributes={"a": [0, 1, 2], "b": [3, 4, 5, 6]}
    )


def rows_of(method: str, name: str, fractions=(0.3, 1.0), **settings):
    problem = problem_of()
    top = measure(problem, problem.best_first[: problem.k], name).value
    return sweep(problem, method, [fraction * top for fraction in fractions], name, **settings)


@pytest.mark.parametrize("method", ["mopr", "mopr_integer", "mopr_qp"])
def test_a_ball_takes_steps_and_no_cuts(method):
    binding, slack = rows_of(method, "linear")
    assert binding.statistics.relaxation_steps > 0 and binding.statistics.oracle_calls > 0
    assert binding.statistics.cuts == 0
    assert slack.statistics.relaxation_steps == slack.statistics.oracle_calls == 0


def test_of_two_optima_in_a_ball_the_less_similar_one_is_not_measured_where_the_other_meets_rho():
    rows = sweep(problem_of(), "mopr", [0.03, 0.04, 0.05, 0.06], "linear")
    assert [(row.status, row.statistics.oracle_calls) for row in rows] == 4 * [("optimal", 1)]


@pytest.mark.parametrize("method", ["mopr", "mopr_integer", "mopr_paper"])
def test_another_class_is_known_by_cuts(method):
    binding, _ = rows_of(method, "tree")
    assert binding.statistics.cuts > 0
    assert binding.statistics.oracle_calls >= binding.statistics.relaxation_steps - 1 > 0


def test_branch_and_bound_counts_rounds_and_nodes():
    # A class without a proof on whole counts: with one nothing is left to branch and bound here.
    rows = sweep(problem_of(), "mopr_integer", [0.02, 0.05], "tree_greedy", nodes=20)
    assert any(row.statistics.rounds > 0 for row in rows)
    assert all(row.statistics.nodes <= 20 + row.statistics.rounds for row in rows)


def test_a_rerun_counts_the_same():
    first, second = (rows_of("mopr_integer", "groups") for _ in range(2))
    assert [asdict(row.statistics) for row in first] == [asdict(row.statistics) for row in second]
    assert all("second" not in field for field in asdict(SolveStatistics()))


@pytest.mark.parametrize("method", ["top_k", "apportionment"])
def test_methods_that_optimise_nothing_have_none(method):
    assert sweep(problem_of(), method, [None])[0].statistics is None


def women_and_men(k: int = 3) -> Problem:
    women, men = [1, 0], [0, 1]
    return Problem(
        scores=np.linspace(0.9, 0.4, 6),
        labels=3 * [women] + 3 * [men],
        reference=[women, men],
        k=k,
        attributes={"gender": [0, 1]},
    )


@pytest.mark.parametrize("method", ["mopr", "mopr_integer", "mopr_qp"])
def test_an_infeasible_row_names_the_smallest_rho(method):
    problem = Problem(scores=[0.9, 0.8], labels=[[1, 0], [1, 0]], reference=[[1, 0], [0, 1]], k=1)
    [row] = sweep(problem, method, [0.01])
    assert row.status == "infeasible"
    said, _, smallest = row.message.rpartition(" ")
    assert said == "no selection has MPR <= 0.01: raise rho to at least"
    assert row.rho_min <= float(smallest) <= row.rho_min * (1 + 1e-5)


def test_a_row_without_a_set_says_what_to_try():
    """Three of two groups: whole shares are at least 1/6 from one half, fractional ones are not."""
    for method, name, advice in (
        ("mopr", "tree_greedy", "raise rho, or use mopr_integer"),
        ("mopr_paper", "groups", "use mopr"),
    ):
        [row] = sweep(women_and_men(), method, [0.01], name)
        assert (row.status, row.mpr > row.rho) == ("not_found", True)
        assert row.message.endswith(advice) or advice in row.message
    [row] = sweep(women_and_men(), "mopr_integer", [0.01], "tree_greedy")
    assert row.status == "infeasible" and row.message.endswith("all were ruled out: raise rho")


@pytest.mark.parametrize("method", ["mopr", "mopr_integer"])
def test_a_rho_that_no_whole_count_meets_says_which_one_is_met(method):
    [row] = sweep(women_and_men(), method, [0.01], "groups")
    assert row.status == "infeasible" and row.rho_min == pytest.approx(1 / 6)
    assert row.message.startswith(
        "no set of whole items has MPR <= 0.01 (2 groups admit no whole count within 0.01, among"
    )
    assert row.message.endswith("k q = 1.5): raise rho to at least 0.166667")
    [met] = sweep(women_and_men(), method, [0.166667], "groups")
    assert met.status == "optimal"
    for name in ("linear", "saturated", "rkhs"):
        [row] = sweep(women_and_men(), method, [0.01], name)
        said = float(row.message.partition("raise rho to at least ")[2])
        assert row.status == "infeasible" and said >= row.rho_min
        assert sweep(women_and_men(), method, [said], name)[0].status == "optimal"


def test_a_search_that_met_its_nodes_says_to_raise_them(monkeypatch):
    monkeypatch.setattr(proven_search, "CUT_SUMS", 1)
    monkeypatch.setattr(branch_and_bound, "LARGEST_ROUNDS", 0)
    rows = [sweep(problem_of(seed, n=60, k=7), "mopr_integer", [0.02], "tree_greedy", nodes=7)[0] for seed in range(6)]
    found = [row for row in rows if row.status == "not_found"]
    assert found and all("raise nodes (now 7) or rho" in row.message for row in found)


def test_embeddings_are_not_sent_to_the_integer_method():
    rows = sweep(embedded_query(600, 24, k=3), "mopr", [1e-4], "linear")
    assert [row.status for row in rows] == ["not_found"]
    assert rows[0].message.endswith("raise rho")


def test_a_row_stopped_by_the_clock_says_so(monkeypatch):
    monkeypatch.setattr(integer, "NODES_OF_A_PROOF", 0)
    monkeypatch.setattr(branch_and_bound, "ROW_SECONDS", 0.0)
    rows = rows_of("mopr_integer", "tree", fractions=(0.4, 1.0))
    assert rows[0].status == "time_limit" and "lower nodes or raise rho" in rows[0].message
    assert rows[1].status == "optimal" and rows[1].message == ""
