"""Compiled loops of `cell_pool`: the best items of every cell, and the tables of their scores."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def grouped(order: IntArray, cell: IntArray, k: int, capacity: IntArray, first: IntArray) -> tuple[IntArray, IntArray]:
    """The k best items of each cell, cell by cell, and the rank of each in its cell; capacity, first (G,) are written.

    Shapes:  order, positions in the pool, best first; cell (n,), of every item.
    """
    for item in order:
        if capacity[cell[item]] < k:
            capacity[cell[item]] += 1
    total = 0
    for own in range(capacity.size):
        first[own] = total
        total += capacity[own]
    items, rank = np.empty(total, np.int64), np.empty(total, np.int64)
    taken = np.zeros(capacity.size, np.int64)
    for item in order:
        own = cell[item]
        if taken[own] < capacity[own]:
            items[first[own] + taken[own]] = item
            rank[first[own] + taken[own]] = taken[own]
            taken[own] += 1
    return items, rank


@compiled
def tables(scores: FloatArray, capacity: IntArray, first: IntArray, marginals: FloatArray, sums: FloatArray) -> None:
    """Marginals and prefix sums as `CellPool` has them, of scores (N,) that are in order of cells."""
    running = 0.0
    for own in range(capacity.size):
        start, start_of_sums, before = first[own] + 2 * own, first[own] + own, running
        marginals[start], marginals[start + capacity[own] + 1] = np.inf, -np.inf
        sums[start_of_sums] = 0.0
        for rank in range(capacity[own]):
            score = scores[first[own] + rank]
            running += score
            marginals[start + 1 + rank] = score
            sums[start_of_sums + 1 + rank] = running - before
