"""Compiled loops over the items of cells net of prices: the margin, and what counts lose."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def margin(scores: FloatArray, first: IntArray, capacity: IntArray, price: FloatArray, k: int) -> float:
    """The k-th largest score net of prices, taken from the first items of the cells, whose scores fall."""
    taken, head = np.zeros(first.size, np.int64), np.full(first.size, -np.inf)
    for cell in range(first.size):
        if capacity[cell] > 0:
            head[cell] = scores[first[cell]] - price[cell]
    last = np.inf
    for _ in range(k):
        best = int(np.argmax(head))
        last = head[best]
        taken[best] += 1
        more = taken[best] < capacity[best]
        head[best] = scores[first[best] + taken[best]] - price[best] if more else -np.inf
    return float(last)


@compiled
def distances(scores: FloatArray, first: IntArray, capacity: IntArray, price: FloatArray, level: float) -> FloatArray:
    """The distance (G,) of each cell's nearest item from a margin; infinite where it has none."""
    found = np.full(first.size, np.inf)
    for cell in range(first.size):
        for place in range(first[cell], first[cell] + capacity[cell]):
            own = abs((scores[place] - price[cell]) - level)
            if own > found[cell]:
                break
            found[cell] = own
    return found


@compiled
def losses(
    scores: FloatArray, first: IntArray, capacity: IntArray, price: FloatArray, level: float, cells: IntArray, k: int
) -> FloatArray:
    """What each count (F, k + 1) of some cells loses against the cell's best count, at a margin."""
    found = np.full((cells.size, k + 1), np.inf)
    for row in range(cells.size):
        cell, total, best = cells[row], 0.0, 0.0
        found[row, 0] = 0.0
        for place in range(capacity[cell]):
            total += (scores[first[cell] + place] - price[cell]) - level
            found[row, place + 1] = total
            best = max(best, total)
        for place in range(capacity[cell] + 1):
            found[row, place] = best - found[row, place]
    return found
