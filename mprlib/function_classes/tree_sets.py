"""The sets of cells that trees of bounded depth make: both sides of every split, and what several of them leave.

A set that several ways lead to is listed once, so that sets are far fewer than trees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray

# Entries of the largest table, intersections times cells: 0.2 GB. Continuous labels and great
# depths pass it, and are answered by a greedily grown tree.
LARGEST_TABLE = 25_000_000
# Bytes of a number.
WORD = 8


def splits_of(labels: FloatArray) -> NDArray[np.bool_] | None:
    """Both sides (S, 2, G) of every way that a column and a threshold part the cells.

    Columns with the same split (a column and its complement, a duplicate) count once. None when
    the splits alone are too many.
    """
    thresholds = [np.unique(column)[:-1] for column in labels.T]
    if sum(values.size for values in thresholds) * labels.shape[0] > LARGEST_TABLE:
        return None
    parts = [labels[:, column] <= value for column, values in enumerate(thresholds) for value in values]
    # Constant columns split nothing; the split of nothing keeps the tables from being empty.
    left = np.array(parts) if parts else np.ones((1, labels.shape[0]), dtype=bool)
    left = np.unique(left ^ ~left[:, :1], axis=0)
    return np.stack([left, ~left], axis=1)


def intersections_of(sides: NDArray[np.bool_], depth: int) -> tuple[FloatArray, tuple[IntArray, ...]] | None:
    """The sets that depth - 1 splits can leave (I, G), and the way down to them; None when too many."""
    splits, _, size = sides.shape
    level = np.ones((1, size), dtype=bool)
    ways = []
    for _ in range(depth - 1):
        if level.shape[0] * 2 * splits * size > LARGEST_TABLE:
            return None
        level, position = distinct_parts(level, sides.reshape(-1, size))
        ways.append(position.reshape(-1, splits, 2))
    return level.astype(float), tuple(ways)


def distinct_parts(sets: NDArray[np.bool_], sides: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], IntArray]:
    """The distinct non-empty sets that sides (2S, G) leave of sets (I, G), and which of them each side leaves of each
    set (I * 2S,); past the end for the empty set."""
    size = sets.shape[1]
    # Numbers of 64 cells each are compared and sorted many times faster than cells.
    words = (_words(sets)[:, None, :] & _words(sides)).reshape(len(sets) * len(sides), -1)
    order = np.lexsort(words.T[::-1])
    is_first = np.ones(len(words), dtype=bool)
    is_first[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    first, position = words[order[is_first]], np.empty(len(words), dtype=np.intp)
    position[order] = np.cumsum(is_first) - 1
    # The empty set is the smallest number, if it is there at all.
    empty = int(not first[0].any())
    position = np.where(position >= empty, position - empty, len(first) - empty)
    own = np.ascontiguousarray(first[empty:].astype(f">u{WORD}")).view(np.uint8)
    return np.unpackbits(own, axis=1, count=size).astype(bool), position


def _words(sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sets (I, G) as numbers (I, words); the first cells count most."""
    packed = np.packbits(sets, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % WORD)))
    return padded.view(f">u{WORD}").astype(np.uint64)
