"""The paper's oracle for linear functions: least squares, as scikit-learn fits it.

Finds what `linear` has in closed form, up to rounding: the function class is the same. Here for
comparison of the two, and because it is what the generic oracle does for any other regressor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.regression import RegressionOracle
from mprlib.problem import Problem
from mprlib.scikit_learn import scikit_learn_for


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearRegression(FunctionClass):
    """All linear functions of the labels, without intercept, found by regression.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "linear_regression").value, 4)
    0.4082
    """

    name: ClassVar[str] = "linear_regression"
    is_exact: ClassVar[bool] = False

    def bind(self, problem: Problem) -> RegressionOracle:
        """The oracle, which fits one model per call.

        Source:  MPR paper, Proposition 3 with LinearRegression(fit_intercept=False).
        """
        return RegressionOracle(problem=problem, cells=cells_of(problem), fit=_fit)


def _fit(cells: Cells, weights: FloatArray, targets: FloatArray) -> tuple[FloatArray]:
    with scikit_learn_for("function class linear_regression"):
        from sklearn import linear_model

    # The class does not depend on the columns' units, scikit-learn's cut-off for small directions does.
    largest = np.abs(cells.labels).max(axis=0)
    labels = cells.labels / np.where(largest > 0, largest, 1.0)
    model = linear_model.LinearRegression(fit_intercept=False)
    return (model.fit(labels, targets, sample_weight=weights).predict(labels),)
