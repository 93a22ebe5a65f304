"""Compiled loops of `tree`: the best tree of a table of leaves, and its function on the cells."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def best_last_splits(leaf: FloatArray, inverse_masses: FloatArray, is_signed: bool, worth: FloatArray) -> IntArray:
    """The best last split of each intersection (I,), and its worth; on ties the first one."""
    found = np.zeros(leaf.shape[0], np.int64)
    for place in range(leaf.shape[0]):
        best = -1.0
        for split in range(leaf.shape[1] // 2):
            left, right = leaf[place, 2 * split], leaf[place, 2 * split + 1]
            if is_signed:
                own = abs(left) + abs(right)
            else:
                own = left * left * inverse_masses[place, 2 * split]
                own += right * right * inverse_masses[place, 2 * split + 1]
            if own > best:
                best, found[place] = own, split
        worth[place] = best
    return found


@compiled
def best_splits(children: IntArray, after: FloatArray, worth: FloatArray) -> IntArray:
    """The best split of each set (sets,) before its parts' own, by what these are worth; on ties the first one."""
    found = np.zeros(children.shape[0], np.int64)
    for place in range(children.shape[0]):
        best = -1.0
        for split in range(children.shape[1]):
            left, right = children[place, split, 0], children[place, split, 1]
            own = after[left] if left < after.size else 0.0
            own += after[right] if right < after.size else 0.0
            if own > best:
                best, found[place] = own, split
        worth[place] = best
    return found


@compiled
def write_leaf(
    intersections: FloatArray, sides: FloatArray, place: int, side: int, value: float, function: FloatArray
) -> None:
    """Write a leaf's value into the function (G,): no cell is in two leaves."""
    for cell in range(function.size):
        if intersections[place, cell] * sides[side, cell] != 0.0:
            function[cell] = value
