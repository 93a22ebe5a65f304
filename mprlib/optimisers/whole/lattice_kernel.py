"""The loops of `lattice.sorted_qr`, compiled.

Sums are numpy's own, to the last bit: eight partial sums of neighbours, added in pairs, of up to 128 numbers, and the
sums of halves beyond. So the form is that of the same steps in numpy, whose order of columns could differ otherwise
where two are equally near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.rows_kernel import add, subtract

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
    a, b, c, d = values[start], values[start + 1], values[start + 2], values[start + 3]
    e, f, g, h = values[start + 4], values[start + 5], values[start + 6], values[start + 7]
    whole = count - count % 8
    for first in range(start + 8, start + whole, 8):
        a, b, c, d = a + values[first], b + values[first + 1], c + values[first + 2], d + values[first + 3]
        e, f, g, h = e + values[first + 4], f + values[first + 5], g + values[first + 6], h + values[first + 7]
    summed = float(((a + b) + (c + d)) + ((e + f) + (g + h)))
    for place in range(start + whole, start + count):
        summed += float(values[place])
    return summed


@compiled
def total(values: FloatArray, start: int, count: int) -> float:
    """The sum of `count` values from `start` on, as numpy adds neighbours.

    Halves are kept on a stack: machine code of a function that calls itself cannot be kept on disk.
    """
    if count <= UNHALVED:
        return float(unhalved(values, start, count))
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
def dot(one: FloatArray, other: FloatArray, products: FloatArray) -> float:
    """The sum of products (r,), for which there is room."""
    for place in range(products.size):
        products[place] = one[place] * other[place]
    return float(total(products, 0, products.size))


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
                square = dot(left[column], left[column], products)
                is_left[column] = square > smallest
                if square > smallest and (nearest < 0 or square < least):
                    nearest, least = column, square
        if nearest < 0:
            return count
        direction = basis[count]
        direction[:] = left[nearest]
        for earlier in range(count):
            subtract(direction, dot(basis[earlier], direction, products), basis[earlier])
        length = np.sqrt(dot(direction, direction, products))
        for place in range(rows):
            direction[place] /= length
        order[count] = nearest
        is_left[nearest] = False
        count += 1
        for column in range(columns):
            if is_left[column]:
                subtract(left[column], dot(direction, left[column], products), direction)


class Taken(NamedTuple):
    """A triangular form, as in `lattice.Triangular`; basis (d, r) has its rows."""

    order: IntArray
    dependent: IntArray
    basis: FloatArray
    triangle: FloatArray


@compiled
def triangular(columns: FloatArray, dependence: float) -> Taken:
    """The form of columns (r, c); those nearer to the others' span than that part of the longest one are in it."""
    rows, number = columns.shape
    left, longest = np.empty((number, rows)), 0.0
    for column in range(number):
        square = 0.0
        for row in range(rows):
            left[column, row] = columns[row, column]
            square += columns[row, column] * columns[row, column]
        longest = max(longest, square)
    basis, order = np.empty((number, rows)), np.empty(number, np.int64)
    smallest = dependence * np.sqrt(longest)
    count = taken_columns(left, smallest * smallest, basis, order)
    basis, order = basis[:count], order[:count]
    is_taken = np.zeros(number, np.bool_)
    for place in range(count):
        is_taken[order[place]] = True
    triangle = np.zeros((count, count))
    for one in range(count):
        for place in range(one, count):
            summed = 0.0
            for row in range(rows):
                summed += basis[one, row] * columns[row, order[place]]
            triangle[one, place] = summed
    return Taken(order, np.flatnonzero(~is_taken), basis, triangle)


class Held(NamedTuple):
    """The coordinates of a lattice of marginal counts.

    Shapes:  attribute (d,), is_final (d,), rest (d,), as in `marginal_kernel.Lattice`.
    """

    attribute: IntArray
    is_final: IntArray
    rest: IntArray


@compiled
def held_by(attribute: IntArray, attributes: int, column: IntArray, capacity: IntArray) -> Held:
    """What the attributes of coordinates (d,), the levels `column`, can hold; attribute, capacity (l,) of each level.

    Coordinates are decided from the last on: rest is what an attribute's levels hold that are not decided by then.
    """
    left = np.zeros(attributes, np.int64)
    for level in range(attribute.size):
        left[attribute[level]] += capacity[level]
    found = Held(attribute[column], np.zeros(column.size, np.int64), np.zeros(column.size, np.int64))
    for place in range(column.size - 1, -1, -1):
        left[found.attribute[place]] -= capacity[column[place]]
        found.rest[place] = left[found.attribute[place]]
    is_seen = np.zeros(attributes, np.bool_)
    for place in range(column.size):
        found.is_final[place] = 0 if is_seen[found.attribute[place]] else 1
        is_seen[found.attribute[place]] = True
    return found


@compiled
def inverse_products(triangle: FloatArray, size: int) -> FloatArray:
    """The inverse (size, size) of the products of a triangle's first columns with each other."""
    inverse, found = np.zeros((size, size)), np.zeros((size, size))
    for column in range(size):
        inverse[column, column] = 1.0 / triangle[column, column]
        for row in range(column - 1, -1, -1):
            summed = 0.0
            for other in range(row + 1, column + 1):
                summed += triangle[row, other] * inverse[other, column]
            inverse[row, column] = -summed / triangle[row, row]
    for row in range(size):
        for column in range(row + 1):
            summed = 0.0
            for other in range(row, size):
                summed += inverse[row, other] * inverse[column, other]
            found[row, column] = found[column, row] = summed
    return found


@compiled
def narrowest_last(
    triangle: FloatArray, along: FloatArray, products: FloatArray, angle: float, order: IntArray
) -> None:
    """The first coordinates of a triangle in an order (d,), written: of each number the last one is that whose values
    are fewest, by its step, in the cap of a ball within an angle of `along`.

    products (size, size): the inverse of the products of as many first columns, which is not changed.
    """
    size, left = products.shape[0], products.copy()
    is_left = np.ones(size, np.bool_)
    priced, turned, factor = np.zeros(size), np.empty(size), np.empty(size)
    length = np.sqrt((along[:size] ** 2).sum())
    for row in range(size):
        add(priced[row:], along[row], triangle[row, row:size])
    turned[:] = 0.0
    for row in range(size):
        add(turned, priced[row], left[row])
    for count in range(size, 0, -1):
        fewest, last = np.inf, -1
        for one in range(size):
            if is_left[one]:
                root = np.sqrt(left[one, one])
                own = np.arccos(min(abs(turned[one]) / (root * length), 1.0))
                width = (np.cos(max(own - angle, 0.0)) - np.cos(own + angle)) * root
                if last < 0:
                    last = one
                if width < fewest:
                    fewest, last = width, one
        order[count - 1] = last
        is_left[last] = False
        root = np.sqrt(left[last, last])
        for row in range(size):
            factor[row] = left[last, row] / root
        turned[:] = 0.0
        for row in range(size):
            if is_left[row]:
                subtract(left[row], factor[row], factor)
                add(turned, priced[row], left[row])


@uncounted
def reflect(values: FloatArray, mirror: FloatArray, first: int, square: float) -> None:
    """Reflect values (d,) at a mirror (size,), of that square from its first place on."""
    summed = 0.0
    for row in range(first, mirror.size):
        summed += mirror[row] * values[row]
    subtract(values[first : mirror.size], 2.0 * summed / square, mirror[first:])


@compiled
def turned(triangle: FloatArray, size: int, vectors: FloatArray) -> None:
    """Make a square matrix a triangle with a positive diagonal, in place, by reflections, which take vectors (n, d)
    with them.
    """
    mirror, factor = np.empty(size), np.empty(triangle.shape[1])
    for column in range(size):
        square = 0.0
        for row in range(column, size):
            mirror[row] = triangle[row, column]
            square += mirror[row] * mirror[row]
        length = np.sqrt(square)
        mirror[column] += length if mirror[column] > 0.0 else -length
        square = 0.0
        for row in range(column, size):
            square += mirror[row] * mirror[row]
        # All columns at once, which sums of neighbours allow.
        factor[column:] = 0.0
        for row in range(column, size):
            add(factor[column:], mirror[row], triangle[row, column:])
        for other in range(column, factor.size):
            factor[other] = 2.0 * factor[other] / square
        for row in range(column, size):
            subtract(triangle[row, column:], mirror[row], factor[column:])
        for one in range(vectors.shape[0]):
            reflect(vectors[one], mirror, column, square)
        triangle[column + 1 : size, column] = 0.0
        if triangle[column, column] < 0.0:
            triangle[column] = -triangle[column]
            vectors[:, column] = -vectors[:, column]
