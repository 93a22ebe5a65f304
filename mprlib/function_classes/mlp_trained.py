"""The paper's oracle for networks: 64 ReLU units, trained as its authors train them.

The regression of Proposition 3 over rows, as its authors' code has it: targets a_i / k and -1 / m as they are, Adam
for up to 200 rounds, one seed. Targets of the order of 1 / m are near 0 for a network whose first outputs are of the
order of 1, and training stops when ten rounds bring no more than 0.0001: what is found is mostly the start. So its
value is a lower bound, often below that of the linear class, which the network contains. `mlp` has the class's value;
this is for comparison with published ones.

A reference that is given in cells has as many rows as it has people, in the order of the cells, which is another
order of the batches than the rows' own. Fractional numbers of people are weights of rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.function_classes.regression import attained
from mprlib.function_classes.tree_greedy import PAPER_SEED
from mprlib.problem import Problem
from mprlib.reference import Reference
from mprlib.scikit_learn import scikit_learn_for
from mprlib.settings import SEED, Whole

# Half a row off in a million is rounding of the shares, not a part of a row.
WHOLE = 1e-6
# The memory of one network's training: a reference of stated size may count as more rows than any machine holds.
MOST_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MlpTrained(FunctionClass):
    """The paper's oracle for networks: one hidden layer, trained as scikit-learn's MLPRegressor does by default.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.measure(problem, [0, 1], "mlp_trained").is_exact
    False
    """

    name: ClassVar[str] = "mlp_trained"
    is_exact: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = True

    units: Annotated[int, Whole(least=1), "hidden units"] = 64
    seed: Annotated[int, SEED, "seed of first weights and batches; default: the paper's"] = PAPER_SEED

    def bind(self, problem: Problem) -> MlpTrainedOracle:
        """The oracle, which trains one network per call.

        Source:  the authors' code (MLPRegressor([64], random_state=1017)).
        """
        return problem.cached(("mlp_trained", self), lambda: self._build(problem))

    def _build(self, problem: Problem) -> MlpTrainedOracle:
        cells = cells_of(problem)
        rows, weights = _reference_rows(problem, cells)
        return MlpTrainedOracle(
            problem=problem, cells=cells, units=self.units, seed=self.seed, rows=rows, row_weights=weights
        )


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class MlpTrainedOracle(Oracle):
    """Attained values of trained networks; a lower bound of the class.

    Shapes:  rows (r, l) of the reference; row_weights (r,), how many people each is, None where each is one.
    """

    problem: Problem
    cells: Cells
    units: int
    seed: int
    rows: FloatArray
    row_weights: FloatArray | None

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The trained network's gap under C'."""
        with scikit_learn_for("function class mlp_trained"):
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.neural_network import MLPRegressor

        problem = self.problem
        labels = np.concatenate([problem.labels, self.rows])
        targets = np.concatenate([weights, np.full(len(self.rows), -1 / problem.m)])
        counts = None if self.row_weights is None else np.concatenate([np.ones(problem.n), self.row_weights])
        model = MLPRegressor(hidden_layer_sizes=(self.units,), random_state=self.seed)
        with warnings.catch_warnings():
            # The authors take what 200 rounds give.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(labels, targets, sample_weight=counts)
        found = np.asarray(model.predict(self.cells.labels), dtype=float)
        return attained(problem, self.cells, weights, found if np.isfinite(found).all() else np.zeros(self.cells.size))


def _reference_rows(problem: Problem, cells: Cells) -> tuple[FloatArray, FloatArray | None]:
    """The reference's rows, one a person where people are whole, and else weights."""
    rows: FloatArray
    if isinstance(problem.reference, Reference):
        rows, masses = cells.labels, cells.masses - cells.pool_counts
    else:
        rows, masses = problem.reference, problem.m * problem.reference_weights
    whole = np.rint(masses)
    if not np.allclose(masses, whole, rtol=WHOLE, atol=WHOLE) or whole.sum() > MOST_ROWS:
        return rows[masses > 0], masses[masses > 0]
    return np.repeat(rows, whole.astype(np.intp), axis=0), None
