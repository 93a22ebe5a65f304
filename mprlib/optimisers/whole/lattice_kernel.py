"""The loops of `lattice.sorted_qr`, compiled.

Sums are numpy's own, to the last bit: eight partial sums of neighbours, added in pairs, of up to 128 numbers, and the
sums of halves beyond. So the form is that of the same steps in numpy, whose order of columns could differ otherwise
where two are equally near.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

# Numbers that are added without halving them.
UNHALVED = 128
# Halves of halves: enough for any number of values.
DEEPEST = 64


@compiled
def unhalved(values: FloatArray, start: int, count: int) -> float:
    """The sum of up to 128 values."""
    summed: float = 0.0
    if count < 8:
        for place in range(start, start + count):
            summed += float(values[place])
        return summed
    parts = values[start : start + 8].copy()
    whole = count - count % 8
    for first in range(8, whole, 8):
        for place in range(8):
            parts[place] += values[start + first + place]
    summed = float(((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7])))
    for place in range(start + whole, start + count):
        summed += float(values[place])
    return summed


@compiled
def total(values: FloatArray, start: int, count: int) -> float:
    """The sum of `count` values from `start` on, as numpy adds neighbours.

    Halves are kept on a stack: machine code of a function that calls itself cannot be kept on disk.
    """
    starts, counts = np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64)
    first, has_first = np.empty(DEEPEST), np.zeros(DEEPEST, np.bool_)
    top = 0
    starts[0], counts[0] = start, count
    while True:
        half = counts[top] // 2
        half -= half % 8
        if counts[top] > UNHALVED:
            starts[top + 1], counts[top + 1], has_first[top + 1] = starts[top], half, False
            top += 1
            continue
        summed = unhalved(values, starts[top], counts[top])
        top -= 1
        while top >= 0 and has_first[top]:
            summed = float(first[top]) + summed
            top -= 1
        if top < 0:
            return summed
        half = counts[top] // 2
        half -= half % 8
        first[top], has_first[top] = summed, True
        starts[top + 1], counts[top + 1], has_first[top + 1] = starts[top] + half, counts[top] - half, False
        top += 1


@compiled
def taken_columns(left: FloatArray, smallest: float, basis: FloatArray, order: IntArray) -> int:
    """Columns in the order in which they are taken, and how many; basis and order are written.

    Shapes:  left (c, r), the columns as rows, which are changed; basis (c, r); order (c,).
    smallest: columns whose square is no larger are in the span of those taken.
    """
    columns, rows = left.shape
    is_left = np.ones(columns, np.bool_)
    products = np.empty(rows)
    count = 0
    while True:
        nearest, least = -1, np.inf
        for column in range(columns):
            if is_left[column]:
                products[:] = left[column] * left[column]
                square = total(products, 0, rows)
                is_left[column] = square > smallest
                if square > smallest and (nearest < 0 or square < least):
                    nearest, least = column, square
        if nearest < 0:
            return count
        direction = left[nearest].copy()
        for earlier in range(count):
            products[:] = basis[earlier] * direction
            direction -= basis[earlier] * total(products, 0, rows)
        products[:] = direction * direction
        direction /= np.sqrt(total(products, 0, rows))
        basis[count], order[count] = direction, nearest
        is_left[nearest] = False
        count += 1
        for column in range(columns):
            if is_left[column]:
                products[:] = direction * left[column]
                left[column] -= direction * total(products, 0, rows)
