"""Compiled loops of `levels`: texts as the places of known ones, by the numbers of their letters."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import IntArray
from mprlib.compiled import compiled

# Odd numbers without a pattern in their bits: a text's letters are weighed by powers of the first; the second mixes.
WEIGHT, MIXER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


@compiled
def slot_of(letters: IntArray, row: int, size: int) -> int:
    """Where a text belongs in a table of that size, a power of two; zeros behind it change nothing."""
    total, weight = np.uint64(0), WEIGHT
    for place in range(letters.shape[1]):
        total += np.uint64(letters[row, place]) * weight
        weight *= WEIGHT
    total ^= total >> np.uint64(32)
    return int((total * MIXER) >> np.uint64(40)) & (size - 1)


@compiled
def is_equal(left: IntArray, row: int, right: IntArray, other: int) -> bool:
    """Whether two texts in rows of one width are the same."""
    place = 0
    while place < left.shape[1] and left[row, place] == right[other, place]:
        place += 1
    return bool(place == left.shape[1])


@compiled
def as_wide(known: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Known texts in rows of that width, and which of them fit."""
    rows, fits = np.zeros((known.shape[0], width), known.dtype), np.ones(known.shape[0], np.int64)
    for row in range(known.shape[0]):
        for place in range(known.shape[1]):
            if place < width:
                rows[row, place] = known[row, place]
            elif known[row, place] != 0:
                fits[row] = 0
    return rows, fits


@compiled
def places(texts: IntArray, known: IntArray, found: IntArray) -> bool:
    """The place (n,) of each text (n, w) among distinct known ones (m, v), into found; False where one is none."""
    size = 4
    while size < 4 * known.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int64)
    rows, fits = as_wide(known, texts.shape[1])
    for row in range(rows.shape[0]):
        if fits[row] == 1:
            slot = slot_of(rows, row, size)
            while table[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            table[slot] = row
    for row in range(texts.shape[0]):
        slot = slot_of(texts, row, size)
        while table[slot] >= 0 and not is_equal(texts, row, rows, table[slot]):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            return False
        found[row] = table[slot]
    return True


@compiled
def are_distinct(words: IntArray) -> bool:
    """Whether rows (n, w) of numbers of 32 bits all differ."""
    size = 4
    while size < 4 * words.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int64)
    for row in range(words.shape[0]):
        slot = slot_of(words, row, size)
        while table[slot] >= 0:
            if is_equal(words, row, words, table[slot]):
                return False
            slot = (slot + 1) & (size - 1)
        table[slot] = row
    return True
