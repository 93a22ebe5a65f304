"""Both solvers give the same answers, and the caller says which one runs."""

import logging

import numpy as np
import pytest

from mprlib import InputError, sweep
from mprlib.optimisers import backend, gurobi
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.gurobi import GurobiModel
from mprlib.optimisers.highs.model import HighsModel
from mprlib.optimisers.linear_model import Window
from mprlib.optimisers.relaxation import centred_cut
from mprlib.registry import function_class
from tests.mprlib.optimisers.test_ball_path import random_problem


@pytest.mark.parametrize("seed", range(4))
def test_both_solve_the_same_programmes(seed: int) -> None:
    problem = random_problem(seed)
    oracle = function_class("groups").bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    window = Window.of(pool, np.zeros_like(pool.capacity), pool.capacity)
    models = [HighsModel(window), GurobiModel(window)]
    for model in models:
        for members in np.eye(oracle.cells.size):
            for sign in (1.0, -1.0):
                model.add_cut(centred_cut(sign * members, oracle.cells.reference_shares, problem.k))
    floors = [model.minimise_rho().rho for model in models]
    assert floors[0] == pytest.approx(floors[1], abs=1e-6)
    for rho in (floors[0] + 0.02, floors[0] + 0.2):
        totals = [pool.fractional_similarity(model.maximise_similarity(rho).counts) for model in models]
        assert totals[0] / problem.k == pytest.approx(totals[1] / problem.k, abs=1e-6)
        limits = {"start": None, "node_limit": 1000, "time_limit_seconds": 30.0}
        whole = [model.maximise_whole(rho, **limits) for model in [HighsModel(window), GurobiModel(window)]]
        assert [answer.is_infeasible for answer in whole] == [whole[0].is_infeasible] * 2
    if floors[0] > 1e-3:
        assert all(model.maximise_similarity(floors[0] / 2) is None for model in models)


@pytest.mark.parametrize("name", ["groups", "tree"])
@pytest.mark.parametrize("method", ["mopr", "mopr_integer", "mopr_paper"])
def test_methods_agree_whichever_solver_runs(method: str, name: str) -> None:
    problem = random_problem(2)
    answers = [sweep(problem, method, [0.05, 0.1, 0.3], name, solver=solver) for solver in ("highs", "gurobi", "auto")]
    for first, *others in zip(*answers):
        for other in others:
            assert first.status == other.status
            if first.relaxation_bound is not None:
                # The cutting plane itself stops within 2e-5.
                assert first.relaxation_bound == pytest.approx(other.relaxation_bound, rel=3e-5)


def test_the_solver_that_was_asked_for_runs(monkeypatch) -> None:
    problem = random_problem(2)
    pool = cell_pool_of(problem, function_class("groups").bind(problem).cells)
    window = Window.of(pool, np.zeros_like(pool.capacity), pool.capacity)
    monkeypatch.setenv("MPRLIB_SOLVER", "gurobi")
    for solver, linear, integer in (
        ("auto", HighsModel, GurobiModel),
        ("highs", HighsModel, HighsModel),
        ("gurobi", GurobiModel, GurobiModel),
    ):
        assert type(backend.linear_model(window, solver)) is linear
        assert type(backend.integer_model(window, solver)) is integer
    monkeypatch.setattr(backend, "gurobi_size", lambda: window.cell.size)
    assert type(backend.linear_model(window, "gurobi")) is type(backend.integer_model(window, "auto")) is HighsModel


def test_highs_alone_never_looks_for_gurobi(monkeypatch) -> None:
    def missing():
        raise AssertionError("gurobi was looked for")

    monkeypatch.setattr(backend, "gurobi_size", missing)
    for method in ("mopr", "mopr_integer", "mopr_paper"):
        sweep(random_problem(2), method, [0.1], "groups", solver="highs")


def test_the_size_of_gurobi_is_logged_once(caplog) -> None:
    gurobi.gurobi_size.cache_clear()
    with caplog.at_level(logging.INFO, logger="mprlib"):
        gurobi.gurobi_size()
        gurobi.gurobi_size()
    assert len(caplog.records) == 1 and "solver" in caplog.text


@pytest.mark.parametrize("solver", ["simplex", None, 1, ["highs"], "HiGHS"])
@pytest.mark.parametrize("method", ["mopr", "mopr_integer", "mopr_paper"])
def test_an_unknown_solver_is_refused(method: str, solver) -> None:
    with pytest.raises(InputError, match="one of auto, highs, gurobi"):
        sweep(random_problem(2), method, [0.1], solver=solver)


def test_gurobi_without_a_licence_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(backend, "gurobi_size", lambda: None)
    with pytest.raises(InputError, match="pip install gurobipy"):
        sweep(random_problem(2), "mopr_integer", [0.1], solver="gurobi")
    assert sweep(random_problem(2), "mopr_integer", [0.1], "groups")[0].status == "infeasible"
