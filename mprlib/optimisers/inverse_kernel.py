"""Compiled inverse of a small matrix: a few dozen rows, for which a call of LAPACK takes longer than the work."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.rows_kernel import subtract

# A pivot of the elimination below this: the matrix has no inverse. Rows of the bases that are inverted have
# coefficients of 1 / k and more.
SINGULAR = 1e-14


@compiled
def inverse_of(matrix: FloatArray, inverse: FloatArray) -> bool:
    """The inverse of a square matrix, which is written over, by elimination with row pivots; False if it has none.

    It goes into the first rows and columns of an array that may have more.
    """
    order = np.arange(matrix.shape[0])
    if not eliminated(matrix, order):
        return False
    for row in range(order.size):
        for column in range(order.size):
            inverse[row, order[column]] = matrix[row, column]
    return True


@uncounted
def eliminated(matrix: FloatArray, order: IntArray) -> bool:
    """Whether a matrix has an inverse, which is written over it, its columns in the order (size,) of the pivots.

    A column of the matrix that is eliminated leaves its place to one of the inverse, which until then was one of the
    identity.
    """
    for column in range(order.size):
        pivot = column
        for row in range(column + 1, order.size):
            if abs(matrix[row, column]) > abs(matrix[pivot, column]):
                pivot = row
        if abs(matrix[pivot, column]) < SINGULAR:
            return False
        if pivot != column:
            order[column], order[pivot] = order[pivot], order[column]
            for other in range(order.size):
                matrix[column, other], matrix[pivot, other] = matrix[pivot, other], matrix[column, other]
        leading = matrix[column]
        factor = 1.0 / leading[column]
        leading[column] = 1.0
        for other in range(order.size):
            leading[other] *= factor
        for row in range(order.size):
            if row != column and matrix[row, column] != 0.0:
                factor = matrix[row, column]
                matrix[row, column] = 0.0
                subtract(matrix[row], factor, leading)
    return True
