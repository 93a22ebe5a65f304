"""Compiled: sums of a few rows of a table, in a fixed order."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled


@compiled
def combined(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """The sum (G,) of rows (J, G) times their weights (J,), most of which are 0."""
    found = np.zeros(rows.shape[1])
    for row in range(weights.size):
        weight = weights[row]
        if weight != 0.0:
            for place in range(found.size):
                found[place] += weight * rows[row, place]
    return found
