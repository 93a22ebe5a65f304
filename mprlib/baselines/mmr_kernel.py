"""Compiled loops of `mmr`: one lambda's distances to what is chosen, and between which bounds each item's merit is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

# How distances to the chosen items become one number.
MEAN, NEAREST, FARTHEST = 0, 1, 2


class Walk(NamedTuple):
    """One lambda on its way, and room for a step.

    Shapes:  relevance (n,), -inf for what is chosen; total, error (n,), distances to what is chosen and how far they
             may be off; low, high (n,), bounds of merits; found (n,), items.
    """

    relevance: FloatArray
    total: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    found: IntArray


class Terms(NamedTuple):
    """A distance r is off by at most square_error / max(r, root); rounding: of a total, relative, and of a merit."""

    square_error: float
    root: float
    relative_rounding: float
    rounding: float


@compiled
def take(walk: Walk, column: FloatArray, terms: Terms, spread: int) -> None:
    """One more chosen item: its distances (n,) go into the totals, and their errors into the totals' errors."""
    total, error = walk.total, walk.error
    if spread == MEAN:
        for item in range(column.size):
            total[item] += column[item]
            error[item] += terms.square_error / max(column[item], terms.root)
        return
    for item in range(column.size):
        # The error of the nearest or farthest is at most the largest of all.
        error[item] = max(error[item], terms.square_error / max(column[item], terms.root))
        if spread == NEAREST:
            total[item] = min(total[item], column[item])
        else:
            total[item] = max(total[item], column[item])


@compiled
def bound(walk: Walk, terms: Terms, share: float) -> None:
    """Bounds of the merits, relevance + share * total."""
    relevance, total, error, low, high = walk.relevance, walk.total, walk.error, walk.low, walk.high
    for item in range(relevance.size):
        merit = relevance[item] + share * total[item]
        doubt = share * (error[item] + terms.relative_rounding * total[item]) + terms.rounding
        low[item] = merit - doubt
        high[item] = merit + doubt


@compiled
def largest(values: FloatArray) -> float:
    """The largest value, of four runs that do not wait for each other."""
    first = second = third = fourth = -np.inf
    whole = values.size - values.size % 4
    for item in range(0, whole, 4):
        first = values[item] if values[item] > first else first
        second = values[item + 1] if values[item + 1] > second else second
        third = values[item + 2] if values[item + 2] > third else third
        fourth = values[item + 3] if values[item + 3] > fourth else fourth
    for item in range(whole, values.size):
        first = values[item] if values[item] > first else first
    return max(first, second, third, fourth)


@compiled
def step(walk: Walk, column: FloatArray, terms: Terms, share: float, spread: int) -> int:
    """Take an item by its distances; how many items may then have the largest merit, the first ones in `found`."""
    take(walk, column, terms, spread)
    bound(walk, terms, share)
    least, number = largest(walk.low), 0
    for item in range(walk.high.size):
        if walk.high[item] >= least:
            walk.found[number] = item
            number += 1
    return number


@compiled
def best_of(values: FloatArray, most: int) -> IntArray:
    """The items of the largest values, as many as that."""
    found = np.arange(most)
    least = 0
    for item in range(most):
        if values[item] < values[found[least]]:
            least = item
    for item in range(most, values.size):
        if values[item] > values[found[least]]:
            found[least] = item
            for place in range(most):
                if values[found[place]] < values[found[least]]:
                    least = place
    return found
