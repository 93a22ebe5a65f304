"""Compiled loops of `cut_region`: what the cuts see of many moves."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def after_swaps(cuts: FloatArray, cells: IntArray, gap: FloatArray, found: FloatArray) -> None:
    """The largest |gap| of a cut (J, G) after one item of a row's cell is exchanged for one of a column's, into found
    (c, c), which holds zeros; gap (J,), cells (c,)."""
    own, left = np.empty(cells.size), np.empty(cells.size)
    for cut in range(cuts.shape[0]):
        for place in range(cells.size):
            own[place] = cuts[cut, cells[place]]
            left[place] = own[place] - gap[cut]
        _enlarge(left, own, found)


@compiled
def after_pairs(cuts: FloatArray, giving: IntArray, taking: IntArray, gap: FloatArray, found: FloatArray) -> None:
    """The same after two of the moves from giving (w,) to taking (w,), into found (w, w)."""
    moves, left = np.empty(giving.size), np.empty(giving.size)
    for cut in range(cuts.shape[0]):
        for place in range(giving.size):
            moves[place] = cuts[cut, taking[place]] - cuts[cut, giving[place]]
            left[place] = -moves[place] - gap[cut]
        _enlarge(left, moves, found)


@compiled
def _enlarge(left: FloatArray, right: FloatArray, found: FloatArray) -> None:
    """found (a, b) where |right_b - left_a| is larger."""
    for row in range(left.size):
        own = left[row]
        for column in range(right.size):
            change = abs(right[column] - own)
            if change > found[row, column]:
                found[row, column] = change
