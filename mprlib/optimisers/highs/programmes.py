"""Linear programmes on HiGHS whose bounds change between solves, for a branch and bound of one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import highspy
import numpy as np
import scipy
from highspy._core import _Highs
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.highs.model import LARGEST_ITERATIONS_PER_PLACE, OPTIONS, SMALLEST_ITERATION_LIMIT, Outcome
from mprlib.optimisers.linear_model import Priced

# A branch and bound adds what it loses at each node: another ten times tighter, near HiGHS's least, 1e-10.
NODE_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ProgrammeAnswer:
    """How one solve of a `LinearProgramme` ended.

    Shapes:  values (columns,) and reduced_costs (columns,) of an optimal vertex, None without one.
    objective is the optimum, +inf where the programme is infeasible. Without values and with a finite
    objective nothing is known.
    """

    values: FloatArray | None
    reduced_costs: FloatArray | None
    objective: float
    iterations: int
    is_out_of_time: bool = False


class LinearProgramme:
    """min costs . x subject to row_lower <= matrix x <= row_upper and bounds that change between solves.

    The basis stays, so that a solve after a change of bounds takes few iterations. Every solve is
    bounded in simplex iterations; time_limit_seconds bounds all of them together, as a back-stop.
    """

    def __init__(
        self,
        matrix: scipy.sparse.csr_array,
        row_lower: NDArray[np.float64],
        row_upper: NDArray[np.float64],
        *,
        time_limit_seconds: float,
    ) -> None:
        self._highs = _Highs()
        for option, value in (
            *OPTIONS,
            ("primal_feasibility_tolerance", NODE_TOLERANCE),
            ("dual_feasibility_tolerance", NODE_TOLERANCE),
            ("time_limit", time_limit_seconds),
        ):
            self._highs.setOptionValue(option, value)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_ = model.col_lower_ = model.col_upper_ = np.zeros(matrix.shape[1])
        model.row_lower_, model.row_upper_ = row_lower, row_upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
        model.a_matrix_.value_ = matrix.data
        self._highs.passModel(model)
        self._columns = np.arange(matrix.shape[1], dtype=np.int32)

    def minimised(
        self,
        costs: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        *,
        iteration_limit: int,
    ) -> ProgrammeAnswer:
        """An optimal vertex for these costs and bounds (columns,)."""
        highs, size = self._highs, self._columns.size
        highs.changeColsCost(size, self._columns, costs)
        highs.changeColsBounds(size, self._columns, lower, upper)
        answer = self._run(iteration_limit)
        if answer.values is None and np.isneginf(answer.objective) and not answer.is_out_of_time:
            # A rare numerical failure of a warm basis: once more from nothing, with what is left.
            highs.clearSolver()
            again = self._run(max(0, iteration_limit - answer.iterations))
            answer = replace(again, iterations=answer.iterations + again.iterations)
        return answer

    def _run(self, iteration_limit: int) -> ProgrammeAnswer:
        highs = self._highs
        highs.setOptionValue("simplex_iteration_limit", iteration_limit)
        highs.run()
        status, info = highs.getModelStatus(), highs.getInfo()
        iterations = max(0, int(info.simplex_iteration_count))
        if status == Outcome.kOptimal:
            solution = highs.getSolution()
            return ProgrammeAnswer(
                values=np.asarray(solution.col_value),
                reduced_costs=np.asarray(solution.col_dual),
                objective=float(info.objective_function_value),
                iterations=iterations,
            )
        return ProgrammeAnswer(
            values=None,
            reduced_costs=None,
            objective=np.inf if status == Outcome.kInfeasible else -np.inf,
            iterations=iterations,
            is_out_of_time=status == Outcome.kTimeLimit,
        )


class RangedProgramme:
    """max scores . a, sum a = k, 0 <= a <= 1, over items whose groups' counts have ranges that change between solves.

    Only multipliers are read: what they prove does not depend on the solver's tolerances.
    """

    def __init__(self, scores: FloatArray, groups: IntArray, count: int, k: int) -> None:
        """groups (sets, N): each item's group in each set of attributes, of `count` in all."""
        self._highs = _Highs()
        for option, value in OPTIONS:
            self._highs.setOptionValue(option, value)
        items = np.arange(scores.size)
        rows = scipy.sparse.csr_array(
            (np.ones(groups.size), (groups.ravel(), np.tile(items, groups.shape[0]))), shape=(count, scores.size)
        )
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = count + 1, scores.size
        model.col_cost_ = -scores.astype(np.float64)
        model.col_lower_, model.col_upper_ = np.zeros(scores.size), np.ones(scores.size)
        model.row_lower_ = np.append(np.zeros(count), float(k))
        model.row_upper_ = np.full(count + 1, float(k))
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.append(rows.indptr, rows.nnz + scores.size)
        model.a_matrix_.index_ = np.append(rows.indices, items)
        model.a_matrix_.value_ = np.ones(rows.nnz + scores.size)
        self._highs.passModel(model)
        limit = SMALLEST_ITERATION_LIMIT + LARGEST_ITERATIONS_PER_PLACE * scores.size
        self._highs.setOptionValue("simplex_iteration_limit", limit)
        self._rows = np.arange(count, dtype=np.int32)

    def priced(self, low: FloatArray, high: FloatArray) -> Priced:
        """The multipliers for these ranges (groups,); zeros where the solver gives none."""
        size = self._rows.size
        # The stubs leave these two out.
        self._highs.changeRowsBounds(size, self._rows, low, high)  # type: ignore[attr-defined]
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == Outcome.kOptimal:
            duals = np.asarray(self._highs.getSolution().row_dual)[:size]
            return Priced(price=-duals, is_infeasible=False)
        if status == Outcome.kInfeasible:
            _, has_ray, ray = self._highs.getDualRay()  # type: ignore[attr-defined]
            return Priced(price=np.asarray(ray)[:size] if has_ray else np.zeros(size), is_infeasible=True)
        self._highs.clearSolver()
        return Priced(price=np.zeros(size), is_infeasible=False)
