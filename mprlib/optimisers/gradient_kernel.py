"""Compiled loop of `projected_gradient`: accelerated projected gradients over the items that are open.

Features are held twice, by items and by columns, so that either product runs along contiguous numbers and each sum is
in the order of the columns, or of the items.

Source:  Beck and Teboulle 2009 (acceleration), O'Donoghue and Candes 2015 (restarts).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled


class Open(NamedTuple):
    """Items (w,) with features by item (w, r) and by column (r, w), and scores (w,)."""

    rows: FloatArray
    columns: FloatArray
    scores: FloatArray


class Limits(NamedTuple):
    """Relative duality gap to reach, steps at most, steps between two looks at the gap; of projections likewise."""

    gap: float
    steps: int
    steps_between: int
    accuracy: float
    projection_steps: int


@compiled
def products(columns: FloatArray, direction: FloatArray) -> FloatArray:
    """Products (w,) of items, given by column (r, w), with a direction (r,)."""
    rank, count = columns.shape
    total = np.zeros(count)
    whole = rank - rank % 4
    # Four columns at a time: a sum is read and written once for four of its terms.
    for place in range(0, whole, 4):
        one, two, three, four = direction[place], direction[place + 1], direction[place + 2], direction[place + 3]
        first, second, third, fourth = columns[place], columns[place + 1], columns[place + 2], columns[place + 3]
        for item in range(count):
            total[item] = (
                ((total[item] + one * first[item]) + two * second[item]) + three * third[item]
            ) + four * fourth[item]
    for place in range(whole, rank):
        one, first = direction[place], columns[place]
        for item in range(count):
            total[item] += one * first[item]
    return total


@compiled
def weighted(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """The sum (r,) of items' features (w, r), weighted (w,)."""
    count, rank = rows.shape
    total = np.zeros(rank)
    for item in range(count):
        if weights[item] != 0.0:
            weight, row = weights[item], rows[item]
            for place in range(rank):
                total[place] += weight * row[place]
    return total


@compiled
def project(values: FloatArray, k: int, level: float, limits: Limits, weights: FloatArray) -> float:
    """The nearest point (w,) to values with sum k in [0, 1] is written; the level that it subtracts."""
    low, high = values.min() - 1.0, values.max()
    for _ in range(limits.projection_steps):
        total, free = 0.0, 0
        for item in range(values.size):
            weight = min(max(values[item] - level, 0.0), 1.0)
            weights[item] = weight
            total += weight
            free += 0.0 < weight < 1.0
        excess = total - k
        if abs(excess) <= limits.accuracy * k:
            break
        if excess > 0.0:
            low = level
        else:
            high = level
        level = level + excess / free if free > 0 else low
        if not low < level < high:
            level = 0.5 * (low + high)
    return level


@compiled
def largest_eigenvalue(items: Open, steps: int) -> float:
    """The length to which the longest of a power iteration's directions, of length 1, is brought by items' items."""
    direction: FloatArray = np.ones(items.rows.shape[1])
    length = 0.0
    for _ in range(steps + 1):
        direction = weighted(items.rows, products(items.columns, direction))
        square = 0.0
        for value in direction:
            square += value * value
        length = np.sqrt(square)
        if length == 0.0:
            break
        direction = direction / length
    return length


@compiled
def is_solved(items: Open, gap: FloatArray, weights: FloatArray, k: int, time: float, accuracy: float) -> bool:
    """Whether weights (w,) with v = gap (r,) attain their own dual bound."""
    values, square, similarity = items.scores - products(items.columns, gap) / time, 0.0, 0.0
    for value in gap:
        square += value * value
    for item in range(weights.size):
        similarity += weights[item] * items.scores[item]
    bound = np.partition(values, values.size - k)[-k:].sum() + square / time
    return bool(bound - similarity <= accuracy * abs(bound))


@compiled
def ascend(items: Open, k: int, time: float, largest: float, limits: Limits, x: FloatArray) -> None:
    """Weights (w,) that maximise the objective for t = `time` are written over those to start from."""
    count = x.size
    after, values, y = np.empty(count), np.empty(count), x.copy()
    gap = weighted(items.rows, x)
    y_gap, inertia, level = gap.copy(), 1.0, 0.0
    for step in range(1, limits.steps + 1):
        own = products(items.columns, y_gap)
        for item in range(count):
            values[item] = y[item] + (time * items.scores[item] - own[item]) / largest
        level = project(values, k, level, limits, after)
        after_gap = weighted(items.rows, after)
        against, momentum = 0.0, 0.0
        for item in range(count):
            against += (y[item] - after[item]) * (after[item] - x[item])
        if against > 0.0:
            inertia = 1.0
        else:
            longer = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
            momentum, inertia = (inertia - 1.0) / longer, longer
        for item in range(count):
            y[item] = after[item] + momentum * (after[item] - x[item])
            x[item] = after[item]
        y_gap = after_gap + momentum * (after_gap - gap)
        gap = after_gap
        if step % limits.steps_between == 0 and is_solved(items, gap, x, k, time, limits.gap):
            break
