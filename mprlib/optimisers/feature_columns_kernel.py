"""Compiled products of cells' features, which are held column by column."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def columns_of(features: FloatArray, cells: IntArray) -> FloatArray:
    """The features (r, c) of some cells, column by column: sums over columns are then of neighbours."""
    found = np.empty((features.shape[1], cells.size))
    for place in range(cells.size):
        for column in range(found.shape[0]):
            found[column, place] = features[cells[place], column]
    return found


@compiled
def products_of(columns: FloatArray) -> FloatArray:
    """Products (c, c) of features (r, c) with each other."""
    size = columns.shape[1]
    found = np.zeros((size, size))
    for row in range(size):
        for column in range(columns.shape[0]):
            for other in range(size):
                found[row, other] += columns[column, row] * columns[column, other]
    return found
