"""Accelerated projected gradients for  maximise  s . x - |M' x|^2 / (2 t)  over  0 <= x <= 1, sum x = k.

The gradient is Lipschitz with the largest eigenvalue of M M' / t. The projection on the capped simplex is
clip(y - level, 0, 1), where the level makes the sum k; Newton's method on the level starts at the last one.
Momentum restarts whenever it points against the step.

The loop itself is compiled: `gradient_kernel`.

Worked example: the nearest point to (2, 1, 0) with sum 2 in the box is (1, 1, 0), at any level from 0 to 1.

>>> projected(np.array([2.0, 1.0, 0.0]), k=2).tolist()
[1.0, 1.0, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray

if TYPE_CHECKING:
    from mprlib.optimisers.gradient_kernel import Limits

# Relative duality gap at which one t is solved: a fifth of the gap to which rho is, which it must not show in.
DUALITY_GAP = 1e-4
# Gradient steps of one solve, and steps between two evaluations of the dual bound, which costs two of them.
LARGEST_STEPS = 300
STEPS_BETWEEN_BOUNDS = 10
# Power iterations for the largest eigenvalue, and the factor that covers their error.
POWER_STEPS = 15
EIGENVALUE_MARGIN = 1.05
# Relative error of a projection's sum; Newton steps and bisections of its level.
PROJECTION_ACCURACY = 1e-11
LARGEST_PROJECTION_STEPS = 60


def ascended(items: FloatArray, scores: FloatArray, weights: FloatArray, k: int, time: float) -> FloatArray:
    """Weights (w,) that maximise the objective for t = `time` to DUALITY_GAP, from weights (w,)."""
    from mprlib.optimisers import gradient_kernel as kernel

    own = kernel.Open(np.ascontiguousarray(items), np.ascontiguousarray(items.T), scores)
    largest = EIGENVALUE_MARGIN * kernel.largest_eigenvalue(own, POWER_STEPS)
    x = weights.copy()
    if largest > 0.0 and scores.size > k:
        kernel.ascend(own, k, time, largest, _limits(), x)
    return x


def projected(values: FloatArray, k: int) -> FloatArray:
    """The nearest point to values (w,) with sum k in [0, 1]."""
    from mprlib.optimisers import gradient_kernel as kernel

    weights = np.empty_like(values)
    kernel.project(values, k, 0.0, _limits(), weights)
    return weights


def _limits() -> Limits:
    from mprlib.optimisers import gradient_kernel as kernel

    return kernel.Limits(
        DUALITY_GAP, LARGEST_STEPS, STEPS_BETWEEN_BOUNDS, PROJECTION_ACCURACY, LARGEST_PROJECTION_STEPS
    )


def product(items: FloatArray, direction: FloatArray) -> FloatArray:
    """items @ direction. No BLAS: its sums may depend on the number of threads."""
    products: FloatArray = np.einsum("ij,j->i", items, direction)
    return products


def transposed_product(items: FloatArray, weights: FloatArray) -> FloatArray:
    """items' @ weights over the items with a weight, likewise without BLAS."""
    weighted = np.flatnonzero(weights)
    total: FloatArray = np.einsum("ij,i->j", items[weighted], weights[weighted])
    return total
