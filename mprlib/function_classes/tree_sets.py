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
        parts = (level[:, None, :] & sides.reshape(1, -1, size)).reshape(-1, size)
        level, position = distinct_sets(parts)
        ways.append(position.reshape(-1, splits, 2))
    return level.astype(float), tuple(ways)


def distinct_sets(parts: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], IntArray]:
    """Distinct non-empty sets, and each part's position among them; past the end for the empty set."""
    packed = np.packbits(parts, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, position = np.unique(keys, return_index=True, return_inverse=True)
    is_set = parts[first].any(axis=1)
    renumbered = np.where(is_set, np.cumsum(is_set) - 1, is_set.sum())
    return parts[first[is_set]], renumbered[position.reshape(-1)]
