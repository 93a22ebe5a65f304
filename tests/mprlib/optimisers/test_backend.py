"""Both solvers give the same answers, and which one runs is settled once and said once."""

import logging

import numpy as np
import pytest

from mprlib import SolverError, sweep
from mprlib.optimisers import backend
from mprlib.optimisers.backend import GurobiModel
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.cutting_plane import centred
from mprlib.optimisers.highs import HighsModel
from mprlib.optimisers.linear_model import Window
from mprlib.registry import function_class
from tests.mprlib.optimisers.test_ball_path import random_problem


@pytest.fixture
def choose(monkeypatch):
    def chosen(name: str) -> None:
        monkeypatch.setenv(backend.CHOICE_VARIABLE, name)
        backend.gurobi_size.cache_clear()

    yield chosen
    monkeypatch.undo()
    backend.gurobi_size.cache_clear()


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
                model.add_cut(centred(sign * members, oracle.cells.reference_shares, problem.k))
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
def test_methods_agree_whichever_solver_runs(name: str, choose) -> None:
    problem = random_problem(2)
    answers = []
    for solver in ("highs", "auto"):
        choose(solver)
        answers.append(sweep(problem, "mopr", [0.05, 0.1, 0.3], name))
    for first, second in zip(*answers):
        assert first.status == second.status
        if first.relaxation_bound is not None:
            # The cutting plane itself stops within 2e-5.
            assert first.relaxation_bound == pytest.approx(second.relaxation_bound, rel=3e-5)


def test_choice_is_logged_once(choose, caplog) -> None:
    choose("auto")
    with caplog.at_level(logging.INFO, logger="mprlib"):
        backend.gurobi_size()
        backend.gurobi_size()
    assert len(caplog.records) == 1 and "solver" in caplog.text


def test_unknown_choice_is_refused(choose) -> None:
    choose("simplex")
    with pytest.raises(SolverError, match="auto, highs or gurobi"):
        backend.gurobi_size()
