"""The linear programme of the cutting plane on HiGHS.

    maximise  s . a     subject to  sum a = k,  0 <= a <= 1,  cut_j . counts(a) - t <= 0,  t = rho

over the items of the reduced pool. rho enters as the bounds of one column t, so that a walk over
rho changes nothing else, and with t free and minimised the same model gives rho_min.
"""

from __future__ import annotations

import highspy
import numpy as np

from mprlib.errors import SolverError
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import LinearSolution
from mprlib.problem import FloatArray

# Ten times tighter than the default, as bounds are compared to 1e-6 of a mean over k items.
FEASIBILITY_TOLERANCE = 1e-8


class HighsModel:
    """One model that lives as long as a path: rows come and go, the basis stays."""

    def __init__(self, pool: CellPool) -> None:
        self._pool = pool
        # highspy.Highs adds callbacks, which print a banner before any option can silence it.
        self._highs = highspy.highs._Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE),
            ("dual_feasibility_tolerance", FEASIBILITY_TOLERANCE),
            # Presolve throws the basis away, and the basis is what a path lives on.
            ("presolve", "off"),
        ):
            self._highs.setOptionValue(option, value)
        self._build()
        self.row_count = 0

    def _build(self) -> None:
        n = self._pool.items.size
        model = highspy.HighsLp()
        model.num_col_ = n + 1
        model.num_row_ = 1
        model.col_cost_ = np.append(-self._pool.scores, 0.0)
        model.col_lower_ = np.zeros(n + 1)
        model.col_upper_ = np.append(np.ones(n), highspy.kHighsInf)
        model.row_lower_ = model.row_upper_ = np.array([float(self._pool.k)])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array([0, n])
        model.a_matrix_.index_ = np.arange(n)
        model.a_matrix_.value_ = np.ones(n)
        self._highs.passModel(model)

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        coefficients = np.append(cut[self._pool.cell], -1.0)
        columns = np.flatnonzero(coefficients).astype(np.int32)
        self._highs.addRow(-highspy.kHighsInf, 0.0, columns.size, columns, coefficients[columns])
        self.row_count += 1

    def drop_cuts(self, rows: list[int]) -> None:
        """Rows by their order of arrival; the others close up."""
        if rows:
            self._highs.deleteRows(len(rows), np.array(rows, dtype=np.int32) + 1)
            self.row_count -= len(rows)

    def maximise_similarity(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when there is none."""
        t = self._pool.items.size
        self._highs.changeColBounds(t, rho, rho)
        return self._solve()

    def minimise_rho(self) -> LinearSolution:
        """The smallest t, whatever the similarity."""
        n = self._pool.items.size
        columns = np.arange(n + 1, dtype=np.int32)
        self._highs.changeColBounds(n, 0.0, highspy.kHighsInf)
        self._highs.changeColsCost(n + 1, columns, np.append(np.zeros(n), 1.0))
        solution = self._solve()
        self._highs.changeColsCost(n + 1, columns, np.append(-self._pool.scores, 0.0))
        if solution is None:
            raise SolverError("HiGHS calls the smallest rho of a bounded problem infeasible")
        return solution

    def _solve(self) -> LinearSolution | None:
        status = self._run()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            # A rare numerical failure of a warm basis: once more from nothing.
            self._highs.clearSolver()
            status = self._run()
            if status == highspy.HighsModelStatus.kInfeasible:
                return None
            if status != highspy.HighsModelStatus.kOptimal:
                raise SolverError(f"HiGHS ended twice with status {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        values = np.asarray(solution.col_value)
        return LinearSolution(
            weights=np.clip(values[:-1], 0.0, 1.0),
            rho=float(values[-1]),
            prices=np.abs(np.asarray(solution.row_dual)[1:]),
        )

    def _run(self) -> highspy.HighsModelStatus:
        self._highs.run()
        return self._highs.getModelStatus()
