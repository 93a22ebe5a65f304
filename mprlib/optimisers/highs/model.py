"""The programmes of `linear_model` on HiGHS."""

from __future__ import annotations

import highspy
import numpy as np
from highspy._core import _Highs
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import SolverError
from mprlib.optimisers.linear_model import IntegerSolution, LinearSolution, Window

# Ten times smaller than the default, as bounds are compared to 1e-6 of a mean over k items.
FEASIBILITY_TOLERANCE = 1e-8
# Branch and bound discards sets that improve by less than its tolerance. Scores are scaled to [0, 1]; costs are
# larger by this factor, so that what is discarded is far below the optimisers' tolerance of optimality.
INTEGER_TOLERANCE = 1e-9
INTEGER_COST = 2.0**10
# Simplex iterations per column: an optimal basis takes a few; more means that the method cycles.
LARGEST_ITERATIONS_PER_PLACE = 50
SMALLEST_ITERATION_LIMIT = 10_000
OPTIONS = (
    ("output_flag", False),
    ("threads", 1),
    ("random_seed", 0),
    ("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE),
    ("dual_feasibility_tolerance", FEASIBILITY_TOLERANCE),
    # Presolve discards the basis, from which the next programme of a sweep starts.
    ("presolve", "off"),
)
# Presolve can go on for ever, on six items, and no limit of nodes or time ends it; heuristics and restarts of branch
# and bound presolve their own models whatever the option says. The incumbent serves in place of the heuristics.
UNBOUNDED_STEPS_OFF = (
    ("presolve", "off"),
    ("mip_heuristic_effort", 0.0),
    ("mip_heuristic_run_feasibility_jump", False),
    ("mip_heuristic_run_rins", False),
    ("mip_heuristic_run_rens", False),
    ("mip_heuristic_run_root_reduced_cost", False),
    ("mip_allow_restart", False),
)
Outcome = highspy.HighsModelStatus


class HighsModel:
    """The model of a window; the basis is kept while cuts are added and rho changes."""

    def __init__(self, window: Window) -> None:
        self._window = window
        # highspy.Highs adds callbacks, which print a banner before any option can silence it.
        self._highs = _Highs()
        for option, value in OPTIONS:
            self._highs.setOptionValue(option, value)
        size = window.cell.size
        model = highspy.HighsLp()
        model.num_col_ = size + 1
        model.num_row_ = 1
        model.col_cost_ = self._costs()
        model.col_lower_ = np.zeros(size + 1)
        model.col_upper_ = np.append(np.ones(size), highspy.kHighsInf)
        model.row_lower_ = model.row_upper_ = np.array([float(window.open_count)])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array([0, size])
        model.a_matrix_.index_ = np.arange(size)
        model.a_matrix_.value_ = np.ones(size)
        self._highs.passModel(model)
        limit = SMALLEST_ITERATION_LIMIT + LARGEST_ITERATIONS_PER_PLACE * size
        self._highs.setOptionValue("simplex_iteration_limit", limit)

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        coefficients = np.append(cut[self._window.cell], -1.0)
        columns = np.flatnonzero(coefficients).astype(np.int32)
        upper = -float(cut @ self._window.low)
        self._highs.addRow(-highspy.kHighsInf, upper, columns.size, columns, coefficients[columns])

    def maximise_similarity(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when infeasible."""
        self._highs.changeColBounds(self._window.cell.size, rho, rho)
        return self._linear()

    def minimise_rho(self) -> LinearSolution:
        """The smallest t, whatever the similarity."""
        size = self._window.cell.size
        columns = np.arange(size + 1, dtype=np.int32)
        self._highs.changeColBounds(size, 0.0, highspy.kHighsInf)
        self._highs.changeColsCost(size + 1, columns, np.append(np.zeros(size), 1.0))
        solution = self._linear()
        self._highs.changeColsCost(size + 1, columns, self._costs())
        if solution is None:
            raise SolverError("HiGHS calls the smallest rho of a bounded problem infeasible")
        return solution

    def maximise_whole(
        self, rho: float, *, start: IntArray | None, node_limit: int, time_limit_seconds: float
    ) -> IntegerSolution:
        """Branch and bound over whole items at this rho, within limits, from whole counts (G,)."""
        size = self._window.cell.size
        highs = self._highs
        highs.changeColBounds(size, rho, rho)
        columns = np.arange(size, dtype=np.int32)
        highs.changeColsCost(size, columns, INTEGER_COST * self._costs()[:-1])
        highs.changeColsIntegrality(size, columns, np.full(size, highspy.HighsVarType.kInteger))
        for option, value in (
            *UNBOUNDED_STEPS_OFF,
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.0),
            ("mip_feasibility_tolerance", INTEGER_TOLERANCE),
            ("mip_max_nodes", node_limit),
            ("time_limit", time_limit_seconds),
        ):
            highs.setOptionValue(option, value)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = np.append(self._window.weights(start), rho)
            highs.setSolution(solution)
        highs.run()
        status = highs.getModelStatus()
        if status == Outcome.kInfeasible:
            return IntegerSolution(counts=None, bound=-np.inf, is_infeasible=True)
        info = highs.getInfo()
        counts = None
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            weights = np.rint(np.asarray(highs.getSolution().col_value)[:-1])
            counts = np.rint(self._window.counts(weights)).astype(np.intp)
        return IntegerSolution(
            counts=counts,
            # Covers sets that were discarded as improving by less than the tolerance.
            bound=(INTEGER_TOLERANCE - float(info.mip_dual_bound)) / INTEGER_COST,
            is_complete=status == Outcome.kOptimal,
            is_out_of_time=status == Outcome.kTimeLimit,
            nodes=int(info.mip_node_count),
        )

    def _costs(self) -> NDArray[np.float64]:
        return np.append(-self._window.scores.astype(np.float64), 0.0)

    def _linear(self) -> LinearSolution | None:
        self._highs.run()
        status = self._highs.getModelStatus()
        if status not in (Outcome.kInfeasible, Outcome.kOptimal):
            # Rarely the last basis fails numerically: one retry without it.
            self._highs.clearSolver()
            self._highs.run()
            status = self._highs.getModelStatus()
        if status == Outcome.kInfeasible:
            return None
        if status != Outcome.kOptimal:
            name = self._highs.modelStatusToString(status)
            raise SolverError(f"the linear programme was not solved: HiGHS ended twice with status {name}")
        solution = self._highs.getSolution()
        values = np.asarray(solution.col_value)
        return LinearSolution(
            counts=self._window.counts(np.clip(values[:-1], 0.0, 1.0)),
            rho=float(values[-1]),
            prices=np.abs(np.asarray(solution.row_dual)[1:]),
        )
