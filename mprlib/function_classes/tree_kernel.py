"""Compiled loops of `tree`: the best tree of a table of leaves, and its function on the cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.compiled import compiled

# Columns that are worked on together: the rows that sets share then stay in the processor's cache.
CHUNK = 128
# What rounding may add to a sum of two gains.
ABOVE = 1.0 + 1e-9


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
def best_last_places(position: IntArray, worths: FloatArray, worth: FloatArray) -> IntArray:
    """The same where the leaves (I, 2S) are positions of worths (U,), the last of which, U, is the empty one's."""
    found = np.zeros(position.shape[0], np.int64)
    for place in range(position.shape[0]):
        best = -1.0
        for split in range(position.shape[1] // 2):
            left, right = position[place, 2 * split], position[place, 2 * split + 1]
            own = worths[left] if left < worths.size else 0.0
            own += worths[right] if right < worths.size else 0.0
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
def near_splits(
    parts: IntArray, least: FloatArray, most: FloatArray, least_of_sets: FloatArray, most_of_sets: FloatArray
) -> BoolArray:
    """Which splits (sets, S) may be the best of their set, where the worths of parts (sets, S, 2) are in [least, most].

    Bounds (sets + 1,) of the sets' own worths are written, 0 in the last place.
    """
    near = np.zeros(parts.shape[:2], np.bool_)
    for place in range(parts.shape[0]):
        low, high = 0.0, 0.0
        for split in range(parts.shape[1]):
            left, right = parts[place, split, 0], parts[place, split, 1]
            low, high = max(low, least[left] + least[right]), max(high, most[left] + most[right])
        for split in range(parts.shape[1]):
            near[place, split] = (most[parts[place, split, 0]] + most[parts[place, split, 1]]) * ABOVE >= low
        least_of_sets[place], most_of_sets[place] = low, high
    least_of_sets[parts.shape[0]] = most_of_sets[parts.shape[0]] = 0.0
    return near


@compiled
def needed_parts(parts: IntArray, near: BoolArray, is_needed: BoolArray, count: int) -> BoolArray:
    """Which of `count` parts the near splits of the sets (sets,) that are needed leave."""
    found = np.zeros(count, np.bool_)
    for place in range(parts.shape[0]):
        for split in range(parts.shape[1]):
            if is_needed[place] and near[place, split]:
                found[parts[place, split, 0]] = found[parts[place, split, 1]] = True
    return found


@compiled
def leaf_gains(
    kept: FloatArray,
    moved: FloatArray,
    masses: FloatArray,
    is_signed: bool,
    is_needed: BoolArray,
    found: FloatArray,
) -> None:
    """What leaves are worth into found (U + 1, B), the last row for the empty one: their differences are kept (U,)
    less moved (U, B), their masses (U, B) or (U, 1)."""
    for place in range(moved.shape[0]):
        if not is_needed[place]:
            continue
        own, gains = kept[place], found[place]
        for row in range(moved.shape[1]):
            change = own - moved[place, row]
            gains[row] = abs(change) if is_signed else change * change
        if is_signed:
            continue
        # A leaf may be empty at masses that are not the problem's.
        if masses.shape[1] == 1:
            mass = masses[place, 0]
            for row in range(gains.size):
                gains[row] = gains[row] / mass if mass > 0.0 else 0.0
        else:
            for row in range(gains.size):
                mass = masses[place, row]
                gains[row] = gains[row] / mass if mass > 0.0 else 0.0
    found[moved.shape[0]] = 0.0


@compiled
def best_of(worths: FloatArray, parts: IntArray, near: BoolArray, is_needed: BoolArray, found: FloatArray) -> None:
    """The best near split's worth of each needed set into found (sets + 1, B), 0 in the last row; parts (sets, S, 2)
    are rows of worths (parts, B)."""
    for start in range(0, worths.shape[1], CHUNK):
        stop = min(start + CHUNK, worths.shape[1])
        for place in range(parts.shape[0]):
            if not is_needed[place]:
                continue
            found[place, start:stop] = 0.0
            for split in range(parts.shape[1]):
                if not near[place, split]:
                    continue
                left = worths[parts[place, split, 0], start:stop]
                right = worths[parts[place, split, 1], start:stop]
                best = found[place, start:stop]
                for row in range(best.size):
                    own, known = left[row] + right[row], best[row]
                    best[row] = own if own > known else known
    found[parts.shape[0]] = 0.0


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
def write_places(
    intersections: FloatArray,
    sides: FloatArray,
    position: IntArray,
    places: IntArray,
    splits: IntArray,
    found: IntArray,
) -> None:
    """Which of the leaves below some last sets each cell (G,) is in, by their position (I, 2S)."""
    for place in places:
        for side in (2 * splits[place], 2 * splits[place] + 1):
            for cell in range(found.size):
                if intersections[place, cell] * sides[side, cell] != 0.0:
                    found[cell] = position[place, side]


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
