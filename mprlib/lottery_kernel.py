"""Compiled loops of `lottery_reuse`: which lotteries may have the value at one place among their lengths |y W|."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled

# Rounding of sums of squares of factors, as a part of their mean.
ROUNDING = 1e-12
# A matrix is raised to 2 to this power where the largest of its eigenvalues is bounded.
DOUBLINGS = 4


class Spread(NamedTuple):
    """Gaps of lotteries by rising |u|, where they are y = u T + rest and u has unit variance in all directions.

    Shapes:  columns (B, l) = y; lengths (B,) = |u|; axes (s, l) = T. rest: the largest length of one.
    """

    columns: FloatArray
    lengths: FloatArray
    axes: FloatArray
    rest: float


@compiled
def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """The product (a, c) of two small matrices, (a, b) and (b, c)."""
    found = np.zeros((left.shape[0], right.shape[1]))
    for row in range(left.shape[0]):
        for middle in range(left.shape[1]):
            factor = left[row, middle]
            if factor != 0.0:
                for column in range(right.shape[1]):
                    found[row, column] += factor * right[middle, column]
    return found


@compiled
def size_of(values: FloatArray) -> float:
    """The root of the sum of all squares."""
    total = 0.0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            total += values[row, column] * values[row, column]
    return float(np.sqrt(total))


@compiled
def singular_values(factors: FloatArray) -> tuple[float, float]:
    """Bounds below and above the singular values of factors (s, r), s <= r, that are nearly the same.

    The largest deviation of a square from their mean is at most the norm of a power of all deviations, and nearly that
    of a high one: products of small matrices take a fraction of the time of a decomposition.
    """
    number = factors.shape[0]
    squares = product(factors, factors.T.copy())
    mean = 0.0
    for place in range(number):
        mean += squares[place, place] / number
    for place in range(number):
        squares[place, place] -= mean
    size = size_of(squares)
    if size == 0.0:
        size = 1.0
    powers = squares / size
    for _ in range(DOUBLINGS):
        powers = product(powers, powers)
    spread = size * size_of(powers) ** (1.0 / 2**DOUBLINGS)
    slack = ROUNDING * mean
    return float(np.sqrt(max(mean - spread - slack, 0.0))), float(np.sqrt(mean + spread + slack))


@compiled
def around(spread: Spread, place: int, weights: FloatArray) -> tuple[int, int]:
    """The first lottery, and the one behind the last, that may be at a place among the rising |y W|."""
    factors = product(spread.axes, weights)
    if not 0 < factors.shape[0] <= factors.shape[1]:
        return 0, spread.lengths.size
    least, most = singular_values(factors)
    if least <= 0.0:
        return 0, spread.lengths.size
    error = 2.0 * spread.rest * size_of(weights)
    own = spread.lengths[place]
    first = np.searchsorted(spread.lengths, (least * own - error) / most, "left")
    return first, np.searchsorted(spread.lengths, (most * own + error) / least, "right")
