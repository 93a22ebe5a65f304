"""Accelerated projected gradients for  maximise  s . x - |M' x|^2 / (2 t)  over  0 <= x <= 1, sum x = k.

The gradient is Lipschitz with the largest eigenvalue of M M' / t. The projection on the capped simplex is
clip(y - level, 0, 1), where the level makes the sum k; Newton's method on the level starts at the last one.
Momentum restarts whenever it points against the step.

Source:  Beck and Teboulle 2009 (acceleration), O'Donoghue and Candes 2015 (restarts).

Worked example: the nearest point to (2, 1, 0) with sum 2 in the box is (1, 1, 0), at any level from 0 to 1.

>>> projected(np.array([2.0, 1.0, 0.0]), k=2, level=0.0)[0].tolist()
[1.0, 1.0, 0.0]
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.relaxation import top_sum

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
    largest = _largest_eigenvalue(items)
    if largest <= 0.0 or scores.size <= k:
        return weights
    x, gap = weights, transposed_product(items, weights)
    y, y_gap, inertia, level = x, gap, 1.0, 0.0
    for step in range(1, LARGEST_STEPS + 1):
        gradient = time * scores - product(items, y_gap)
        after, level = projected(y + gradient / largest, k, level)
        after_gap = transposed_product(items, after)
        momentum = 0.0
        if (y - after) @ (after - x) > 0.0:
            inertia = 1.0
        else:
            longer = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
            momentum, inertia = (inertia - 1.0) / longer, longer
        y, y_gap = after + momentum * (after - x), after_gap + momentum * (after_gap - gap)
        x, gap = after, after_gap
        if step % STEPS_BETWEEN_BOUNDS == 0:
            bound = top_sum(scores - product(items, gap) / time, k) + float(gap @ gap) / time
            if bound - float(scores @ x) <= DUALITY_GAP * abs(bound):
                break
    return x


def projected(values: FloatArray, k: int, level: float) -> tuple[FloatArray, float]:
    """The nearest point to values (w,) with sum k in [0, 1], and the level that it subtracts.

    level: where the search starts, such as the last projection's level.
    """
    low, high = float(values.min()) - 1.0, float(values.max())
    weights: FloatArray = values
    for _ in range(LARGEST_PROJECTION_STEPS):
        weights = np.clip(values - level, 0.0, 1.0)
        excess = float(weights.sum()) - k
        if abs(excess) <= PROJECTION_ACCURACY * k:
            break
        low, high = (level, high) if excess > 0.0 else (low, level)
        free = int(np.count_nonzero((weights > 0.0) & (weights < 1.0)))
        level = level + excess / free if free else low
        if not low < level < high:
            level = 0.5 * (low + high)
    return weights, level


def product(items: FloatArray, direction: FloatArray) -> FloatArray:
    """items @ direction. No BLAS: its sums may depend on the number of threads."""
    products: FloatArray = np.einsum("ij,j->i", items, direction)
    return products


def transposed_product(items: FloatArray, weights: FloatArray) -> FloatArray:
    """items' @ weights over the items with a weight, likewise without BLAS."""
    weighted = np.flatnonzero(weights)
    total: FloatArray = np.einsum("ij,i->j", items[weighted], weights[weighted])
    return total


def _largest_eigenvalue(items: FloatArray) -> float:
    """An upper estimate of the largest eigenvalue of items' items."""
    direction: FloatArray = np.ones(items.shape[1])
    for _ in range(POWER_STEPS):
        direction = transposed_product(items, product(items, direction))
        length = float(np.sqrt(direction @ direction))
        if length == 0.0:
            return 0.0
        direction = direction / length
    image = transposed_product(items, product(items, direction))
    return EIGENVALUE_MARGIN * float(np.sqrt(image @ image))
