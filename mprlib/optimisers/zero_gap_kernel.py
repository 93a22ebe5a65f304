"""The loops of `zero_gap`, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.rows_kernel import subtract


class Limits(NamedTuple):
    """Steps; the residual that counts as 0; the part of the way to a limit that a step covers; pivots, in parts of the
    largest, that are rounding error."""

    steps: int
    zero: float
    part: float
    rank: float


@compiled
def solve(matrix: FloatArray, right: FloatArray, smallest: float) -> None:
    """A solution of a symmetric, positive semidefinite system, into right, by elimination with diagonal pivots.

    The matrix is written over. What depends on the rows before it, within rounding, is 0 in the solution.
    """
    size = right.size
    order, rank, first = np.arange(size), 0, 0.0
    for step in range(size):
        best = step
        for place in range(step + 1, size):
            if matrix[place, place] > matrix[best, best]:
                best = place
        exchange(matrix, right, step, best)
        order[step], order[best] = order[best], order[step]
        if step == 0:
            first = matrix[step, step]
        if matrix[step, step] <= smallest * first:
            break
        rank += 1
        for row in range(step + 1, size):
            factor = matrix[row, step] / matrix[step, step]
            right[row] -= factor * right[step]
            subtract(matrix[row, step + 1 :], factor, matrix[step, step + 1 :])
    for row in range(size - 1, -1, -1):
        if row >= rank:
            right[row] = 0.0
            continue
        for place in range(row + 1, rank):
            right[row] -= matrix[row, place] * right[place]
        right[row] /= matrix[row, row]
    right[order] = right.copy()


@uncounted
def exchange(matrix: FloatArray, right: FloatArray, one: int, other: int) -> None:
    """Exchange two rows of a system and their columns."""
    if one == other:
        return
    right[one], right[other] = right[other], right[one]
    for place in range(right.size):
        matrix[one, place], matrix[other, place] = matrix[other, place], matrix[one, place]
    for place in range(right.size):
        matrix[place, one], matrix[place, other] = matrix[place, other], matrix[place, one]


@compiled
def residual_of(system: FloatArray, counts: FloatArray, residual: FloatArray) -> float:
    """What counts (G,) leave of (0, ..., 0, 1) by the system (G, c), into residual (c,); its length."""
    residual[:] = 0.0
    residual[residual.size - 1] = 1.0
    for cell in range(counts.size):
        if counts[cell] != 0.0:
            for column in range(residual.size):
                residual[column] -= counts[cell] * system[cell, column]
    square = 0.0
    for column in range(residual.size):
        square += residual[column] * residual[column]
    return float(np.sqrt(square))


@compiled
def attains(system: FloatArray, capacity: FloatArray, counts: FloatArray, limits: Limits) -> bool:
    """Whether counts (G,), which are moved, come to solve the system (G, c) within their capacities (G,)."""
    cells, columns = system.shape
    residual, step = np.empty(columns), np.empty(cells)
    for _ in range(limits.steps):
        if residual_of(system, counts, residual) <= limits.zero:
            return True
        matrix = np.zeros((columns, columns))
        for cell in range(cells):
            room = min(counts[cell], capacity[cell] - counts[cell])
            if room > 0.0:
                for row in range(columns):
                    own = room * room * system[cell, row]
                    for column in range(columns):
                        matrix[row, column] += own * system[cell, column]
        solve(matrix, residual, limits.rank)
        nearest = np.inf
        for cell in range(cells):
            room, moved = min(counts[cell], capacity[cell] - counts[cell]), 0.0
            for column in range(columns):
                moved += system[cell, column] * residual[column]
            step[cell] = room * room * moved
            if step[cell] > 0.0:
                nearest = min(nearest, (capacity[cell] - counts[cell]) / step[cell])
            elif step[cell] < 0.0:
                nearest = min(nearest, -counts[cell] / step[cell])
        length = min(1.0, limits.part * nearest)
        for cell in range(cells):
            counts[cell] += length * step[cell]
    return False
