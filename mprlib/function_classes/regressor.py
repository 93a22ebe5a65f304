"""Whatever functions a scikit-learn regressor can learn: an oracle that the caller hands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.regression import RegressionOracle
from mprlib.problem import Problem
from mprlib.scikit_learn import scikit_learn_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Regressor(FunctionClass):
    """The normalised class of a scikit-learn regressor's functions, as far as it finds them.

    A fresh clone of the model is fitted each time: on cells when its fit takes sample_weight, else on
    rows. Only deterministic models make repeatable measurements: give the model its random_state.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1)
    >>> round(mprlib.measure(problem, [0, 1], mprlib.Regressor(model=model)).value, 4)
    0.4082
    """

    name: ClassVar[str] = "regressor"
    is_exact: ClassVar[bool] = False

    model: Annotated[Any, "an unfitted scikit-learn regressor"]

    def __post_init__(self) -> None:
        if isinstance(self.model, type):
            raise InputError(f"model is a class, {self.model.__name__}: an unfitted regressor is expected")
        for needed in ("fit", "predict", "get_params"):
            if not hasattr(self.model, needed):
                raise InputError(
                    f"model is {type(self.model).__name__}, without {needed}: a scikit-learn regressor is expected"
                )

    def bind(self, problem: Problem) -> RegressionOracle:
        """The oracle, which fits one clone per call.

        Raises:  InputError for a weighted reference when the model's fit takes no sample_weight.
        """
        with scikit_learn_for("a regressor as function class"):
            from sklearn.utils.validation import has_fit_parameter

        is_weighing = has_fit_parameter(self.model, "sample_weight")
        cells = cells_of(problem)
        whole = np.rint(cells.masses)
        # Half a row off in a million is rounding of the shares, not a fractional row.
        if not is_weighing and not np.allclose(cells.masses, whole, rtol=1e-6, atol=1e-6):
            raise InputError(
                f"model {type(self.model).__name__} takes no sample_weight: it cannot be fitted to a weighted reference"
            )
        return RegressionOracle(problem=problem, cells=cells, fit=self._fit_cells if is_weighing else self._fit_rows)

    def _fit_cells(self, cells: Cells, weights: FloatArray, targets: FloatArray) -> tuple[FloatArray]:
        return (self._fitted(cells, cells.labels, targets, sample_weight=weights),)

    def _fit_rows(self, cells: Cells, weights: FloatArray, targets: FloatArray) -> tuple[FloatArray]:
        """As many equal rows as each cell holds; each has the mean target of its cell."""
        row_cell = np.repeat(np.arange(cells.size), np.rint(weights).astype(np.intp))
        return (self._fitted(cells, cells.labels[row_cell], targets[row_cell]),)

    def _fitted(self, cells: Cells, labels: FloatArray, targets: FloatArray, **weights: FloatArray) -> FloatArray:
        with scikit_learn_for("a regressor as function class"):
            from sklearn.base import clone

        predictions = np.asarray(clone(self.model).fit(labels, targets, **weights).predict(cells.labels), dtype=float)
        predictions = predictions.reshape(-1)
        if not np.isfinite(predictions).all():
            raise InputError(f"model {type(self.model).__name__} predicts values that are not finite")
        return predictions
