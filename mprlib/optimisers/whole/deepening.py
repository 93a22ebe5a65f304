"""Searches for sets near the dual bound, each over sets further from it than the last.

Most best sets are much nearer to the bound than the incumbent, and the work of a search grows many times with the
loss that it allows. A search that is finished and finds nothing lowers the bound by what it allowed; one that is
finished and finds a set has found the best one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.whole.proof import Searched

# Losses allowed, in parts of the gap to the incumbent; without one, in parts of the largest similarity.
FIRST_PART = 1.0 / 64
FIRST_LOSS = 1e-4
GROWTH = 4.0

# From the largest similarity that is of no interest and a number of nodes: the best similarity above it, whether the
# search was finished, and the nodes visited.
Search = Callable[[float, int], tuple[float, bool, int]]


def deepened(
    search: Search, bound: float, start: float, nodes: int, k: int, first_part: float = FIRST_PART
) -> Searched:
    """The result of searches for sets above the similarity `start` (-inf without an incumbent), but for its counts.

    first_part: of the gap, that the first search allows.
    """
    has_start = start > -np.inf
    allowed = first_part * (bound - start) if has_start else FIRST_LOSS * k
    visited = 0
    while True:
        threshold = max(bound - allowed, start) if has_start or allowed < k else -np.inf
        best, is_complete, own = search(threshold, nodes - visited)
        visited += own
        if not is_complete:
            return Searched(counts=None, bound=bound, is_complete=False, nodes=visited)
        # Nothing else lies above the threshold.
        bound = max(best, threshold)
        if best > threshold or threshold <= start:
            return Searched(counts=None, bound=bound, is_complete=True, nodes=visited)
        allowed *= GROWTH


def with_counts(found: Searched, counts: IntArray, cells: IntArray, size: int) -> Searched:
    """The result with the counts (F,) that were written, if any were: every set has some items."""
    return replace(found, counts=over_all(counts, cells, size)) if counts.any() else found


def over_all(counts: IntArray, cells: IntArray, size: int) -> IntArray:
    """Counts (size,) of all cells, from those (F,) of the cells with items."""
    whole = np.zeros(size, dtype=np.intp)
    whole[cells] = counts
    return whole
