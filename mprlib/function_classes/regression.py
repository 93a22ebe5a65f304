"""Classes that are only reachable by fitting a regressor: the paper's generic oracle, in cells.

Fit c to the signed weights (a_i / k on the pool, -w_j on the reference), scale its predictions to
norm sqrt(D), and take the inner product with the signed weights. In cells that is a regression
over G rows with weight N_g and target t_g = (p_g - q_g) / N_g: the same least-squares problem,
since a cell's rows share one prediction and only their mean target matters.

Source: MPR paper, Proposition 3 and section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells
from mprlib.function_classes.base import Oracle, WorstCase, normalised
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.problem import Problem

# Ranges of label columns that float32 and a distance of 1e-7 resolve to a ten-thousandth or better.
SUITABLE_SPAN = (1e-3, 1e6)
SMALLEST_SHARE_OF_SIZE = 1e-3
# fit(cells, weights, targets) -> candidate functions, all arrays (G,).
Fit = Callable[[Cells, FloatArray, FloatArray], Sequence[FloatArray]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class RegressionOracle(Oracle):
    """Attained values of fitted functions; a lower bound of the class, saturated an upper one.

    fit returns raw functions on the cells, given the regression's weights and scaled targets.
    """

    problem: Problem
    cells: Cells
    fit: Fit

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The best fitted function's gap under C'; zero when the fit is the zero function."""
        differences = self.cells.differences(weights)
        candidates = self.fit(self.cells, self.cells.masses, scaled_targets(self.cells, differences))
        return attained(self.problem, self.cells, weights, *candidates)


def attained(problem: Problem, cells: Cells, weights: FloatArray, *candidates: FloatArray) -> WorstCase:
    """The best of some raw functions (G,), bounded above by the saturated value."""
    differences = cells.differences(weights)
    ceiling = SaturatedOracle(cells=cells, scale=problem.scale).worst_case(weights).value
    value, function = max(
        (normalised(problem, cells, differences, raw) for raw in candidates), key=lambda candidate: candidate[0]
    )
    # Rounding may lift an attained value above the ceiling that it equals.
    return WorstCase(value=value, upper_bound=max(value, ceiling), is_exact=False, function=function)


def scaled_targets(cells: Cells, differences: FloatArray) -> FloatArray:
    """The regression's targets t_g = (p_g - q_g) / N_g (G,), scaled."""
    return differences / cells.masses * target_scale(cells, differences)


def target_scale(cells: Cells, differences: FloatArray) -> float:
    """A power of two that brings the targets' mean square near 1.

    CART stops at an absolute impurity and gradient descent learns nothing from targets of 1/m; a
    power of two changes no digit, so that the scaling cannot decide between equal splits.
    """
    mean_square = float(differences @ (differences / cells.masses) / cells.masses.sum())
    return 2.0 ** -np.floor(np.log2(np.sqrt(mean_square))) if mean_square > 0 else 1.0


def tree_labels(labels: FloatArray) -> FloatArray:
    """Labels (G, l) in the float32 that scikit-learn's trees read.

    They take values within 1e-7 of each other for one. A column whose range that does not suit, or
    whose values are far from 0, is mapped to [0, 1] first, which moves all thresholds in the same way.
    """
    size = np.abs(labels).max(axis=0)
    scaled = labels / np.where(size > 0, size, 1.0)
    low = scaled.min(axis=0)
    span = scaled.max(axis=0) - low
    fits = (span * size >= SUITABLE_SPAN[0]) & (size <= SUITABLE_SPAN[1]) & (span >= SMALLEST_SHARE_OF_SIZE)
    mapped = (scaled - low) / np.where(span > 0, span, 1.0)
    return np.where(fits, labels, mapped).astype(np.float32)


def fit_tree(model: Any, labels: FloatArray, weights: FloatArray, targets: FloatArray) -> FloatArray:
    """Predictions (G,) of a scikit-learn tree fitted to the rows that have weight; labels from `tree_labels`."""
    model.fit(labels, targets, sample_weight=weights, check_input=False)
    predictions: FloatArray = model.predict(labels, check_input=False)
    return predictions
