"""Compiled loops over features that are linear in few columns."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled


@compiled
def is_linear(columns: FloatArray, weights: FloatArray, features: FloatArray, part: float) -> bool:
    """Whether columns (G, c) times weights (c, r) miss no feature (G, r) by more than that part of the largest."""
    # Column by column, so that the loops over columns need not wait for each other.
    row, error, largest = np.empty(features.shape[1]), np.zeros(features.shape[1]), np.zeros(features.shape[1])
    for cell in range(features.shape[0]):
        row[:] = 0.0
        for column in range(columns.shape[1]):
            factor = columns[cell, column]
            if factor != 0.0:
                for place in range(row.size):
                    row[place] += factor * weights[column, place]
        for place in range(row.size):
            off, size = abs(row[place] - features[cell, place]), abs(features[cell, place])
            error[place] = off if off > error[place] else error[place]
            largest[place] = size if size > largest[place] else largest[place]
    return row.size == 0 or bool(error.max() <= part * largest.max())
