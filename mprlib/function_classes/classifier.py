"""Functions with values {-1, +1}, by weighted classification.

sup over c of |sum_g (p_g - q_g) c_g| for such c asks for the sign of p_g - q_g with weight
|p_g - q_g|: an error in a cell costs twice its weight. Both a function and its negative belong to
the class as far as MPR is concerned, so the labels and their negatives are fitted and the better
function is kept. (The paper's equation 4 has a sign slip, and a regressor does not help unless its
output is +-1 itself.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.function_classes.regression import tree_labels
from mprlib.problem import Problem
from mprlib.scikit_learn import scikit_learn_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Classifier(FunctionClass):
    """The {-1, +1} functions that a scikit-learn classifier can learn.

    A fresh clone of the model is fitted each time.
    Values are in units of twice a difference of shares, at most 2; chi is not defined for them.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> mprlib.measure(problem, [0, 1], mprlib.Classifier(model=DecisionTreeClassifier(max_depth=1))).value
    1.0
    """

    name: ClassVar[str] = "classifier"
    is_exact: ClassVar[bool] = False

    model: Annotated[Any, "an unfitted scikit-learn classifier whose fit takes sample_weight"]

    @property
    def is_normalised(self) -> bool:
        """No: values are {-1, +1}."""
        return False

    def __post_init__(self) -> None:
        if isinstance(self.model, type):
            raise InputError(f"model is a class, {self.model.__name__}: an unfitted classifier is expected")
        for needed in ("fit", "predict", "get_params"):
            if not hasattr(self.model, needed):
                raise InputError(
                    f"model is {type(self.model).__name__}, without {needed}: a scikit-learn classifier is expected"
                )

    def bind(self, problem: Problem) -> ClassifierOracle:
        """The oracle, which fits the model twice per call.

        Raises:  InputError when the model's fit takes no sample_weight.
        """
        with scikit_learn_for("a classifier as function class"):
            from sklearn.utils.validation import has_fit_parameter

        if not has_fit_parameter(self.model, "sample_weight"):
            raise InputError(f"model {type(self.model).__name__} takes no sample_weight, which its oracle needs")
        return ClassifierOracle(cells=cells_of(problem), model=self.model)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ClassifierOracle(Oracle):
    """Attained values of a fitted classifier; the gap of the best of all {-1, +1} functions above it."""

    cells: Cells
    model: Any

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The better of the fits to sign(p - q) and to its negative."""
        differences = self.cells.differences(weights)
        functions = [fitted_classes(self.model, self.cells.labels, sign * differences) for sign in (1.0, -1.0)]
        return signed_attained(self.cells, differences, *functions)


def fitted_classes(model: Any, labels: FloatArray, differences: FloatArray) -> FloatArray:
    """Predicted signs (G,) of a fresh clone; constant where all differences have one sign."""
    with scikit_learn_for("a classifier as function class"):
        from sklearn.base import clone

    is_weighted = differences != 0
    signs = np.where(differences > 0, 1, -1)
    if np.unique(signs[is_weighted]).size < 2:
        return np.ones(differences.size)
    # Mean weight 1: some learners regularise against the sum of weights.
    weight = np.abs(differences[is_weighted])
    fitted = clone(model).fit(labels[is_weighted], signs[is_weighted], sample_weight=weight / weight.mean())
    return np.where(np.asarray(fitted.predict(labels)) > 0, 1.0, -1.0)


def greedy_classes(cells: Cells, differences: FloatArray, *, depth: int, seed: int) -> FloatArray:
    """Signs (G,) of one greedily grown classification tree."""
    with scikit_learn_for("a greedy tree of signs, where trees are too many to list,"):
        from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    return fitted_classes(model, tree_labels(cells.labels), differences)


def signed_attained(cells: Cells, differences: FloatArray, *functions: FloatArray) -> WorstCase:
    """The best of some {-1, +1} functions (G,), below the bound sum |p - q| over all of them."""
    gaps = [float(differences @ function) for function in functions]
    best = int(np.argmax(np.abs(gaps)))
    value = abs(gaps[best])
    function = functions[best] if gaps[best] >= 0 else -functions[best]
    bound = float(np.abs(differences).sum())
    return WorstCase(value=value, upper_bound=max(value, bound), is_exact=False, function=function)
