"""Logistic regression of shares on one number, with the spread of the shares about it: quasi-binomial.

The share y of n items at x has the mean m = 1 / (1 + exp(-(a + b x))) and the variance d m (1 - m) / n. Iteratively
reweighted least squares gives a and b, whatever the dispersion d, which is then Pearson's statistic divided by the
degrees of freedom (McCullagh and Nelder 1989, sections 4.4 and 4.5). With d above 1, shares scatter more than items
that are drawn independently would make them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mprlib.arrays import FloatArray

# Newton's steps double the correct digits: 25 are many more than any data need that have a maximum.
MOST_STEPS = 25
# A step of this size changes no printed digit.
SMALLEST_STEP = 1e-12
# The 97.5% point of the normal distribution.
NORMAL_POINT = 1.959963984540054


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """intercept and slope on the scale of log odds, with standard errors; dispersion d."""

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float
    dispersion: float

    @property
    def share_at_zero(self) -> tuple[float, float, float]:
        """The share at x = 0, and the ends of its 95% interval."""
        ends = self.intercept + self.intercept_error * NORMAL_POINT * np.array([0.0, -1.0, 1.0])
        share, low, high = expit(ends).tolist()
        return share, low, high

    def shares(self, x: FloatArray) -> FloatArray:
        """The fitted shares (n,)."""
        fitted: FloatArray = expit(self.intercept + self.slope * x)
        return fitted


def quasi_binomial(x: FloatArray, shares: FloatArray, sizes: FloatArray) -> Fit | None:
    """The fit of shares (n,) of sizes (n,) items on x (n,); None for fewer than three, one x, or perfect separation."""
    if x.size < 3 or np.unique(x).size < 2:
        return None
    design = np.column_stack([np.ones_like(x), x])
    coefficients = np.zeros(2)
    for _ in range(MOST_STEPS):
        means = expit(design @ coefficients)
        weights = sizes * means * (1 - means)
        information = design.T @ (weights[:, None] * design)
        if np.linalg.cond(information) > 1 / np.finfo(float).eps:
            return None
        step = np.linalg.solve(information, design.T @ (sizes * (shares - means)))
        coefficients = coefficients + step
        if np.abs(step).max() < SMALLEST_STEP:
            break
    else:
        return None
    # At the last step's means, which the step has not moved in any digit.
    dispersion = float(np.sum(sizes * (shares - means) ** 2 / (means * (1 - means))) / (x.size - 2))
    errors = np.sqrt(dispersion * np.diag(np.linalg.inv(information)))
    return Fit(
        intercept=float(coefficients[0]),
        slope=float(coefficients[1]),
        intercept_error=float(errors[0]),
        slope_error=float(errors[1]),
        dispersion=dispersion,
    )
