"""The programmes of `linear_model` on Gurobi, and the size that its licence allows.

The free licence that comes with gurobipy ends at 2,000 variables. Solving a larger model, once per
process, distinguishes it from a full one. This is the only module that imports gurobipy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import SolverError
from mprlib.optimisers.linear_model import IntegerSolution, LinearSolution, Window

# Variables and rows of a model that the free licence solves.
FREE_LICENCE_SIZE = 2000
FEASIBILITY_TOLERANCE = 1e-8
# Limit of one call in Gurobi's units of work, about a second each and the same in every run; a limit of nodes
# alone does not bound the work at the root.
WORK_LIMIT = 60.0


@cache
def gurobi_size() -> int | None:
    """The largest number of variables that Gurobi solves here; None without it or its licence. Logged once."""
    import logging

    size = _licensed_size()
    name = "HiGHS"
    if size is not None:
        name = "Gurobi" if size > FREE_LICENCE_SIZE else "Gurobi up to 2,000 variables, else HiGHS"
    logging.getLogger("mprlib").info("solver of integer programmes: %s", name)
    return size


def _licensed_size() -> int | None:
    try:
        import gurobipy
    except ImportError:
        return None
    try:
        with gurobipy.Model(env=_environment()) as model:
            model.addMVar(FREE_LICENCE_SIZE + 1, obj=1.0)
            model.optimize()
            return int(np.iinfo(np.int32).max)
    except gurobipy.GurobiError as error:
        return FREE_LICENCE_SIZE if error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED else None


@cache
def _environment() -> Any:
    """One environment per process, hence one licence."""
    import gurobipy

    environment = gurobipy.Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    return environment


class GurobiModel:
    """The programmes of `linear_model` on Gurobi."""

    def __init__(self, window: Window) -> None:
        import gurobipy

        self._window = window
        self._model = model = gurobipy.Model(env=_environment())
        for name, value in (
            ("Threads", 1),
            ("Seed", 0),
            ("FeasibilityTol", FEASIBILITY_TOLERANCE),
            ("OptimalityTol", FEASIBILITY_TOLERANCE),
            ("DualReductions", 0),
            ("WorkLimit", WORK_LIMIT),
        ):
            model.setParam(name, value)
        size = window.cell.size
        self._weights: Any = model.addMVar(size, lb=0.0, ub=1.0)
        self._rho = model.addVar(lb=0.0)
        model.addConstr(self._weights.sum() == window.open_count)
        self._cuts: list[Any] = []

    def __del__(self) -> None:
        self._model.close()

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        right = -float(cut @ self._window.low)
        self._cuts.append(self._model.addConstr(cut[self._window.cell] @ self._weights - self._rho <= right))

    def maximise_similarity(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when infeasible."""
        self._aim_at_similarity(rho)
        return self._linear()

    def minimise_rho(self) -> LinearSolution:
        """The smallest t, whatever the similarity."""
        self._rho.LB, self._rho.UB = 0.0, float("inf")
        self._model.setObjective(self._rho)
        solution = self._linear()
        if solution is None:
            raise SolverError("Gurobi calls the smallest rho of a bounded problem infeasible")
        return solution

    def maximise_whole(
        self, rho: float, *, start: IntArray | None, node_limit: int, time_limit_seconds: float
    ) -> IntegerSolution:
        """Branch and bound over whole items at this rho, within limits, from whole counts (G,)."""
        import gurobipy

        model, status = self._model, gurobipy.GRB.Status
        self._aim_at_similarity(rho)
        self._weights.VType = gurobipy.GRB.BINARY
        for name, value in (
            ("MIPGap", 0.0),
            ("MIPGapAbs", 0.0),
            ("NodeLimit", node_limit),
            ("TimeLimit", time_limit_seconds),
            ("IntegralityFocus", 1),
        ):
            model.setParam(name, value)
        if start is not None:
            self._weights.Start = self._window.weights(start)
        model.optimize()
        if model.Status == status.INFEASIBLE:
            return IntegerSolution(counts=None, bound=-np.inf, is_infeasible=True)
        counts: IntArray | None = None
        if model.SolCount:
            counts = np.rint(self._window.counts(np.rint(self._weights.X))).astype(np.intp)
        return IntegerSolution(
            counts=counts,
            bound=-float(model.ObjBound),
            is_complete=model.Status == status.OPTIMAL,
            is_out_of_time=model.Status == status.TIME_LIMIT,
            nodes=int(model.NodeCount),
        )

    def _aim_at_similarity(self, rho: float) -> None:
        self._rho.LB = self._rho.UB = rho
        self._model.setObjective(-self._window.scores @ self._weights)

    def _linear(self) -> LinearSolution | None:
        import gurobipy

        self._model.optimize()
        status = self._model.Status
        if status == gurobipy.GRB.Status.INFEASIBLE:
            return None
        if status != gurobipy.GRB.Status.OPTIMAL:
            raise SolverError(f"the linear programme was not solved: Gurobi ended with status {status}")
        return LinearSolution(
            counts=self._window.counts(np.clip(self._weights.X, 0.0, 1.0)),
            rho=float(self._rho.X),
            prices=np.array([abs(float(np.squeeze(cut.Pi))) for cut in self._cuts]),
        )
