"""Compiled loops of `levels`: texts as the places of known ones, by the numbers of their letters."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import IntArray
from mprlib.compiled import compiled

# The multiplier of the hash of FNV-1a, of 64 bits.
MULTIPLIER = np.uint64(1099511628211)


@compiled
def hashed(letters: IntArray, row: int) -> int:
    """A number of a text, whatever room there is behind it."""
    total = np.uint64(14695981039346656037)
    for place in range(letters.shape[1]):
        letter = letters[row, place]
        if letter == 0:
            break
        total = (total ^ np.uint64(letter)) * MULTIPLIER
    return int(np.int64(total >> np.uint64(16)))


@compiled
def is_equal(left: IntArray, row: int, right: IntArray, other: int) -> bool:
    """Whether two texts are the same; zeros are room."""
    for place in range(max(left.shape[1], right.shape[1])):
        a = left[row, place] if place < left.shape[1] else 0
        b = right[other, place] if place < right.shape[1] else 0
        if a != b:
            return False
    return True


@compiled
def places(texts: IntArray, known: IntArray, found: IntArray) -> bool:
    """The place (n,) of each text (n, w) among distinct known ones (m, v), into found; False where one is none."""
    size = 4
    while size < 4 * known.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int64)
    for row in range(known.shape[0]):
        slot = hashed(known, row) & (size - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = row
    for row in range(texts.shape[0]):
        slot = hashed(texts, row) & (size - 1)
        while table[slot] >= 0 and not is_equal(texts, row, known, table[slot]):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            return False
        found[row] = table[slot]
    return True
