"""Compiled inverse of a small matrix: a few dozen rows, for which a call of LAPACK takes longer than the work."""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled

# A pivot of the elimination below this: the matrix has no inverse. Rows of the bases that are inverted have
# coefficients of 1 / k and more.
SINGULAR = 1e-14


@compiled
def inverse_of(matrix: FloatArray, inverse: FloatArray) -> bool:
    """The inverse of a square matrix, which is written over, by elimination with row pivots; False if it has none.

    It goes into the first rows and columns of an array that may have more.
    """
    size = matrix.shape[0]
    inverse[:size, :size] = 0.0
    for row in range(size):
        inverse[row, row] = 1.0
    for column in range(size):
        pivot = column
        for row in range(column + 1, size):
            if abs(matrix[row, column]) > abs(matrix[pivot, column]):
                pivot = row
        if abs(matrix[pivot, column]) < SINGULAR:
            return False
        # Columns before this one are those of the identity by now.
        for other in range(column, size):
            matrix[column, other], matrix[pivot, other] = matrix[pivot, other], matrix[column, other]
        for other in range(size):
            inverse[column, other], inverse[pivot, other] = inverse[pivot, other], inverse[column, other]
        factor = 1.0 / matrix[column, column]
        for other in range(column, size):
            matrix[column, other] *= factor
        for other in range(size):
            inverse[column, other] *= factor
        for row in range(size):
            if row != column and matrix[row, column] != 0.0:
                factor = matrix[row, column]
                for other in range(column, size):
                    matrix[row, other] -= factor * matrix[column, other]
                for other in range(size):
                    inverse[row, other] -= factor * inverse[column, other]
    return True
