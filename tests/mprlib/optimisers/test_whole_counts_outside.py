"""Proofs on whole counts against solvers that know nothing of cells or prices, on problems too large to list."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from mprlib import Problem, Selection, measure, sweep
from mprlib.function_classes.base import uncut_limit
from mprlib.registry import function_class

FRACTIONS = (0.15, 0.3, 0.5, 0.8)
# What is open after that is no witness either way: of 200 rows all end within 20 minutes of one core.
SECONDS = 8.0
# The solvers' own tolerances, in similarity and relative to rho.
SIMILARITY, RHO = 1e-6, 1e-6


def larger_problem(seed: int) -> Problem:
    """60 to 165 items of 12 to 30 cells: items and features within what a free licence takes."""
    rng = np.random.default_rng(seed)
    levels = [(2, 3, 2), (2, 7), (3, 4, 2), (2, 3, 5)][seed % 4]
    n, k = [(60, 6), (100, 10), (150, 8), (165, 15)][seed % 4]
    shares = [rng.dirichlet(np.full(count, 3.0)) for count in levels]
    rows = np.hstack([np.eye(count)[rng.choice(count, n + 500, p=share)] for count, share in zip(levels, shares)])
    starts = np.cumsum([0, *levels])
    return Problem(
        scores=rng.random(n) + 0.3 * rows[:n, 0] + 0.3 * rows[:n, levels[0]],
        labels=rows[:n],
        reference=rows[n:],
        k=k,
        attributes={f"a{i}": list(range(*ends)) for i, ends in enumerate(pairwise(starts))},
    )


def best_in_ball(problem: Problem, features: np.ndarray, rho: float) -> tuple[str, float | None]:
    """Gurobi's answer: `optimal` with the total similarity, `infeasible`, or `open`."""
    gurobi = pytest.importorskip("gurobipy")
    model = gurobi.Model()
    for name, value in (("OutputFlag", 0), ("Threads", 1), ("TimeLimit", SECONDS), ("MIPGap", 0), ("MIPGapAbs", 1e-9)):
        model.setParam(name, value)
    taken = model.addMVar(problem.n, vtype="B")
    model.addConstr(taken.sum() == problem.k)
    gap = model.addMVar(features.shape[1], lb=-gurobi.GRB.INFINITY)
    # In units of rho: the solver's tolerances are absolute.
    model.addConstr(gap == (features / rho).T @ taken)
    model.addConstr(gap @ gap <= 1.0)
    model.setObjective(problem.scores @ taken, gurobi.GRB.MAXIMIZE)
    model.optimize()
    if model.Status == gurobi.GRB.OPTIMAL:
        # Its items may be a millionth off whole ones, and its objective then exceeds that of every set.
        items = np.flatnonzero(taken.X > 0.5)
        return ("optimal", float(problem.scores[items].sum())) if items.size == problem.k else ("open", None)
    return ("infeasible" if model.Status == gurobi.GRB.INFEASIBLE else "open"), None


def best_of_groups(problem: Problem, members: np.ndarray, shares: np.ndarray, rho: float) -> tuple[str, float | None]:
    """HiGHS' answer for limits of shares."""
    k = problem.k
    answer = milp(
        -problem.scores,
        constraints=[
            LinearConstraint(np.ones(problem.n), k, k),
            LinearConstraint(members / k, shares - rho, shares + rho),
        ],
        integrality=np.ones(problem.n),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0, "time_limit": SECONDS},
    )
    return ("optimal", -answer.fun) if answer.status == 0 else ("infeasible" if answer.status == 2 else "open", None)


def outside(problem: Problem, name: str, rho: float) -> tuple[str, float | None]:
    """The outside solver's answer at a rho."""
    oracle = function_class(name).bind(problem)
    cells = oracle.cells
    if name == "groups":
        members = np.array([(oracle.codes == group).any(axis=0) for group in range(len(oracle.names))])
        return best_of_groups(problem, members[:, cells.pool_cell].astype(float), members @ cells.reference_shares, rho)
    features = oracle.ball_features()
    centred = (features - cells.reference_shares @ features) / problem.k
    return best_in_ball(problem, centred[cells.pool_cell], rho)


def agree(problem: Problem, name: str, row: Selection) -> bool:
    """Whether the outside solver ended; if so, that it says the same of a row that is settled."""
    limit = uncut_limit(row.rho)
    status, total = outside(problem, name, limit * (1 - RHO))
    if status == "optimal":
        assert row.status in ("optimal", "feasible", "not_found")
        assert row.similarity_bound * problem.k >= total - SIMILARITY
        if row.status == "optimal":
            assert row.similarity * problem.k >= total - SIMILARITY
    if row.status == "optimal":
        _, largest = outside(problem, name, limit * (1 + RHO))
        assert largest is None or row.similarity * problem.k <= largest + SIMILARITY
    if row.status == "infeasible":
        assert status != "optimal"
    return status != "open"


def compared(seeds: range, name: str) -> int:
    ended = 0
    for seed in seeds:
        problem = larger_problem(seed)
        top = measure(problem, problem.best_first[: problem.k], name).value
        rows = sweep(problem, "mopr", [part * top for part in FRACTIONS], name)
        assert sum(row.status in ("optimal", "infeasible") for row in rows) >= 2
        ended += sum(agree(problem, name, row) for row in rows)
    return ended


@pytest.mark.parametrize("name", ["linear", "saturated", "rkhs", "groups"])
def test_an_outside_solver_says_the_same(name):
    assert compared(range(1), name) >= 2


@pytest.mark.system
@pytest.mark.full
@pytest.mark.parametrize("name", ["linear", "saturated", "rkhs", "groups"])
def test_an_outside_solver_says_the_same_of_many(name):
    """200 rows over all classes."""
    assert compared(range(1, 14), name) >= 40
