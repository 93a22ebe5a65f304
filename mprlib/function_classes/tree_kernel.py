"""Compiled loops of `tree`: the best tree of a table of leaves, and its function on the cells."""

from __future__ import annotations

from typing import NamedTuple

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


class Leaves(NamedTuple):
    """What the leaves of trees are.

    Shapes:  intersections (I, G) and sides (2S, G), of 0 and 1; inverse_masses (I, 2S), 0 of an empty leaf.
    """

    intersections: FloatArray
    sides: FloatArray
    inverse_masses: FloatArray
    is_signed: bool


@compiled
def write_leaves(leaves: Leaves, leaf: FloatArray, places: IntArray, splits: IntArray, function: FloatArray) -> None:
    """Write the values of the leaves below some last sets into the function (G,); leaf (I, 2S) holds p - q of each."""
    for place in places:
        for side in (2 * splits[place], 2 * splits[place] + 1):
            value = leaf[place, side] * leaves.inverse_masses[place, side]
            if leaves.is_signed:
                value = 1.0 if leaf[place, side] >= 0.0 else -1.0
            # Nothing is written for an empty leaf: no cell is on both sides.
            for cell in range(function.size):
                if leaves.intersections[place, cell] * leaves.sides[side, cell] != 0.0:
                    function[cell] = value


@compiled
def parts(children: IntArray, places: IntArray, splits: IntArray, size: int) -> IntArray:
    """The sets, of `size` at the next level, that these sets' splits leave; empty ones left out."""
    found, count = np.empty(2 * places.size, np.int64), 0
    for place in places:
        for side in range(2):
            part = children[place, splits[place], side]
            if part < size:
                found[count] = part
                count += 1
    return found[:count]


@compiled
def is_like(function: FloatArray, other: FloatArray, relative: float) -> bool:
    """Whether two functions (G,) differ nowhere by more than a part of the other's value."""
    is_same = True
    for cell in range(function.size):
        is_same = is_same and abs(function[cell] - other[cell]) <= relative * abs(other[cell])
    return is_same
