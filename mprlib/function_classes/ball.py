"""Classes that are unit balls: MPR is the Euclidean norm of a difference of mean features.

With features phi_g in R^r for each cell, the class {c_g = phi_g . u, |u| <= 1} has
MPR = | sum_g (p_g - q_g) phi_g |, attained at u along that vector. The linear and the saturated
class under C' and every kernel's unit ball have this form; the optimiser needs no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells
from mprlib.function_classes.base import CellOracle, WorstCase

# A difference of means this small beside the means of the features' sizes is the rounding of sums of k
# weights; called zero, so that a selection with exactly the reference's shares has MPR 0 and can meet
# rho = 0. A cell counts by its shares: one with few people may have features of any length.
ROUNDING = 1e-14


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Ball(CellOracle):
    """Oracle of a unit ball.

    Shapes:  features (G, r); reference_mean (r,) = sum_g q_g features_g.
    unit: the size of its values, a power of ten. largest: the largest number of a feature.
    """

    cells: Cells
    features: FloatArray
    reference_mean: FloatArray
    unit: float = 1.0
    largest: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest", float(np.abs(self.features).max(initial=0.0)))

    @classmethod
    def of(cls, cells: Cells, features: FloatArray, unit: float = 1.0) -> Ball:
        """The ball of these features (G, r)."""
        return cls(cells=cells, features=features, reference_mean=cells.reference_shares @ features, unit=unit)

    def ball_features(self) -> FloatArray:
        """The features as given, not centred."""
        return self.features

    def worst_in(self, differences: FloatArray) -> WorstCase:
        """Exact: the norm of the features' mean difference, and the function along it."""
        difference = differences @ self.features
        value = math.sqrt(difference @ difference)
        if value <= ROUNDING * self.largest:
            # p + q, as p - q is at hand.
            shares = differences + 2.0 * self.cells.reference_shares
            if value <= ROUNDING * np.max(shares @ np.abs(self.features), initial=0.0):
                value, difference = 0.0, np.zeros_like(difference)
        direction = difference / value if value > 0 else difference
        function = self.features @ direction
        return WorstCase(value=value, upper_bound=value, is_exact=True, function=function, unit=self.unit)
