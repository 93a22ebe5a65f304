"""Every call of a solver has a bound in work that ends it, and what it leaves is still true."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.cells import selection_weights
from mprlib.errors import SolverError
from mprlib.optimisers import cell_programme, cone, gurobi, paper
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.highs import model
from mprlib.optimisers.highs.model import HighsModel
from mprlib.optimisers.linear_model import Window
from mprlib.registry import function_class


def problem_of(n: int, k: int, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    rows = np.hstack([np.eye(3)[rng.integers(0, 3, n + 50)], np.eye(4)[rng.integers(0, 4, n + 50)]])
    return Problem(scores=rng.random(n), labels=rows[:n], reference=rows[n:], k=k)


def model_of(problem: Problem) -> HighsModel:
    """A programme over all items with one cut a label."""
    oracle = function_class("linear").bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    model = HighsModel(Window.of(pool, np.zeros_like(pool.capacity), pool.capacity))
    for column in (oracle.cells.labels - oracle.cells.reference_shares @ oracle.cells.labels).T / problem.k:
        model.add_cut(column)
        model.add_cut(-column)
    return model


@pytest.fixture
def no_iterations(monkeypatch):
    monkeypatch.setattr(model, "SMALLEST_ITERATION_LIMIT", 0)
    monkeypatch.setattr(model, "LARGEST_ITERATIONS_PER_PLACE", 0)
    monkeypatch.setattr(cell_programme, "LARGEST_STEPS_PER_PLACE", 0)


def test_a_linear_programme_ends_at_its_iterations(no_iterations):
    with pytest.raises(SolverError, match="was not solved"):
        model_of(problem_of(60, 8)).maximise_similarity(0.001)


@pytest.mark.parametrize("name", ["groups", "tree"])
def test_rows_of_a_programme_that_was_not_solved_claim_what_is_true(no_iterations, name):
    problem = problem_of(9, 3)
    oracle = function_class(name).bind(problem)
    sets = [np.array(items) for items in combinations(range(9), 3)]
    values = np.array([oracle.worst_case(selection_weights(problem, items)).value for items in sets])
    for row in sweep(problem, "mopr", [0.1, 0.2, 0.3, 0.4], name):
        inside = [problem.scores[items].mean() for items, value in zip(sets, values) if value <= row.rho]
        # What is proven does not come from the programme.
        assert row.status != "infeasible" or not inside
        if not inside:
            continue
        assert row.similarity_bound >= max(inside, default=0.0) - 1e-12
        if row.status in ("optimal", "feasible"):
            assert row.mpr <= row.rho


def test_branch_and_bound_ends_at_its_nodes():
    answer = model_of(problem_of(400, 60)).maximise_whole(0.02, start=None, node_limit=1, time_limit_seconds=60.0)
    assert answer.nodes <= 1 and not answer.is_out_of_time
    assert answer.bound > 0


def test_a_cone_programme_ends_at_its_steps(monkeypatch):
    monkeypatch.setattr(cone, "LARGEST_STEPS", 1)
    problem = problem_of(40, 6)
    top = sweep(problem, "top_k", [None], "linear")[0]
    [row] = sweep(problem, "mopr_qp", [0.5 * top.mpr], "linear")
    assert "not solved to its tolerance" in row.message
    assert row.similarity_bound is None or row.similarity_bound >= row.similarity


def test_gurobi_s_work_is_limited(monkeypatch):
    pytest.importorskip("gurobipy")
    if not gurobi.gurobi_size():
        pytest.skip("gurobipy has no licence here")
    monkeypatch.setattr(gurobi, "WORK_LIMIT", 0.0)
    problem = problem_of(60, 8)
    pool = cell_pool_of(problem, function_class("linear").bind(problem).cells)
    model = gurobi.GurobiModel(Window.of(pool, np.zeros_like(pool.capacity), pool.capacity))
    assert not model.maximise_whole(0.02, start=None, node_limit=100, time_limit_seconds=60.0).is_complete


def test_the_printed_programme_ends_at_its_iterations(monkeypatch):
    monkeypatch.setattr(paper, "LARGEST_ITERATIONS", 0)
    [row] = sweep(problem_of(60, 8), "mopr_paper", [0.01], "linear", programme="printed")
    assert "was not solved" in row.message and row.items.size == 8
