"""Compiled loops of `cell_pool`: the best items of every cell, the tables of their scores, and scores without ties."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

# Relative size of the perturbation that breaks ties: four digits above the rounding of scores, and four below
# the accuracy to which bounds are compared.
PERTURBATION = 1e-12
# Of scores that are all the same, their own size counts in this part, and no score's at least this.
SIZE_PART, SMALLEST_SIZE = 1e-3, 1e-30
# Fractional parts of multiples of these irrational numbers are equidistributed: fixed perturbations that differ.
GOLDEN_RATIO, ROOT_OF_TWO = 0.6180339887498949, 0.4142135623730951


class Pooled(NamedTuple):
    """The arrays of a `CellPool`."""

    items: IntArray
    cell: IntArray
    scores: FloatArray
    rank: IntArray
    capacity: IntArray
    first: IntArray
    marginals: FloatArray
    sums: FloatArray
    offset: IntArray
    starts: IntArray


@compiled
def pooled(
    order: IntArray, cell: IntArray, scores: FloatArray, k: int, cells: int, scale: tuple[float, int, int]
) -> Pooled:
    """The pool of some items, best first, of the cells (n,) and scores (n,) of all; scale: as in `ScoreScale`."""
    lowest, size, spread = scale
    capacity, first = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    items, rank = grouped(order, cell, k, capacity, first)
    own, scaled = np.empty(items.size, np.int64), np.empty(items.size)
    for place in range(items.size):
        own[place] = cell[items[place]]
        scaled[place] = math.ldexp(math.ldexp(scores[items[place]], -size) - lowest, -spread)
    marginals, sums = np.empty(items.size + 2 * cells), np.empty(items.size + cells)
    tables(scaled, capacity, first, marginals, sums)
    numbers = np.arange(cells)
    return Pooled(items, own, scaled, rank, capacity, first, marginals, sums, first + 2 * numbers, first + numbers)


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


@compiled
def without_ties(scores: FloatArray, capacity: IntArray, marginals: FloatArray, is_dense: bool) -> FloatArray:
    """The marginals (N + 2G,) of scores (N,) that differ by a little more; the order within each cell is kept.

    is_dense: cells without items have no number, and do not change what others are moved by.
    """
    lowest, highest = np.inf, -np.inf
    for place in range(scores.size):
        lowest, highest = min(lowest, scores[place]), max(highest, scores[place])
    size = PERTURBATION * max(highest - lowest, SIZE_PART * max(abs(lowest), abs(highest)), SMALLEST_SIZE)
    found, number, start = marginals.copy(), 0, 0
    for cell in range(capacity.size):
        if capacity[cell] > 0 or not is_dense:
            number += 1
        slope, shift = 1.0 + (number * GOLDEN_RATIO) % 1.0, (number * ROOT_OF_TWO) % 1.0
        for rank in range(capacity[cell]):
            moved = (scores[start + rank] - highest) - size * (rank * slope + shift)
            found[start + 2 * cell + 1 + rank] = moved
        start += capacity[cell]
    return found


@compiled
def take_best(marginals: FloatArray, offset: IntArray, k: int, counts: IntArray) -> int:
    """Counts (G,), which are 0, of the k best items by marginals; the cell of the last one."""
    head, best = np.empty(counts.size), -1
    for cell in range(counts.size):
        head[cell] = marginals[offset[cell] + 1]
    for _ in range(k):
        best = 0
        for cell in range(1, head.size):
            if head[cell] > head[best]:
                best = cell
        counts[best] += 1
        head[best] = marginals[offset[best] + 1 + counts[best]]
    return best
