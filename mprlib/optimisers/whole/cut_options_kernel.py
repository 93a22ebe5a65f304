"""Compiled: the counts of cells that may be those of a set near a bound, at prices.

Within a cell the best items come first, so that what a count loses against the cell's best one is convex: those that
lose at most a budget follow one another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.sorting_kernel import order_of
from mprlib.optimisers.whole.decoder_kernel import ROUNDING


class PricedItems(NamedTuple):
    """A pool's items at prices.

    Shapes:  scores (n,); first, capacity, price (G,); low, high (G,), the counts allowed. margin: a k-th largest score
             net of prices, or near it. room: rho times the multiplier, of which a set leaves room - price.x unused.
    """

    k: int
    scores: FloatArray
    first: IntArray
    price: FloatArray
    low: IntArray
    high: IntArray
    margin: float
    room: float


class CutOptions(NamedTuple):
    """Counts below a budget; cells with one of them are decided, and of the other P those with few come first.

    Shapes:  decided (G,), counts of the cells that are decided, 0 of the others; filled, those that are not 0; cell,
             low, high (P,); offset (P + 1,), where the counts and the losses of each begin, those that lose least
             first; items (P + 1, 2), fewest and most that follow; priced (P + 1,), the most that the prices of what
             follows sum to; lost (P + 1,), the least that it loses.
    total, lost_before, priced_before: of the cells that are decided.
    """

    decided: IntArray
    filled: IntArray
    cell: IntArray
    low: IntArray
    high: IntArray
    offset: IntArray
    counts: IntArray
    loss: FloatArray
    items: IntArray
    priced: FloatArray
    lost: FloatArray
    total: int
    lost_before: float
    priced_before: float


@compiled
def best_count(items: PricedItems, cell: int) -> int:
    """The cell's count that loses nothing, whatever the counts allowed."""
    count, level = 0, items.price[cell] + items.margin
    start = items.first[cell]
    while count < items.high[cell] and items.scores[start + count] > level:
        count += 1
    return count


@compiled
def gain(items: PricedItems, cell: int, count: int) -> float:
    """What the cell's item after so many adds, net of its price, beside the margin."""
    net: float = items.scores[items.first[cell] + count] - items.price[cell]
    return net - items.margin


@compiled
def choices(items: PricedItems, budget: float, ends: IntArray, losses: FloatArray) -> float:
    """The first and the last count (2, G) that lose at most the budget, and what they lose (2, G).

    Returns the logarithm of how many sets of counts there are; -inf where a cell has none.
    """
    total = 0.0
    for cell in range(items.price.size):
        low, high = items.low[cell], items.high[cell]
        if low > high:
            return -np.inf
        best = best_count(items, cell)
        start, lost = max(best, low), 0.0
        for count in range(best, start):
            lost -= gain(items, cell, count)
        if lost > budget + ROUNDING:
            return -np.inf
        ends[:, cell], losses[:, cell] = start, lost
        while ends[1, cell] < high:
            more = losses[1, cell] - gain(items, cell, ends[1, cell])
            if more > budget + ROUNDING:
                break
            ends[1, cell] += 1
            losses[1, cell] = more
        while ends[0, cell] > low:
            more = losses[0, cell] + gain(items, cell, ends[0, cell] - 1)
            if more > budget + ROUNDING:
                break
            ends[0, cell] -= 1
            losses[0, cell] = more
        if ends[1, cell] > ends[0, cell]:
            total += np.log10(ends[1, cell] - ends[0, cell] + 1.0)
    return total


@compiled
def write_counts(
    items: PricedItems, cell: int, ends: IntArray, losses: FloatArray, counts: IntArray, loss: FloatArray
) -> None:
    """The counts of a cell between its ends, those that lose least first; both ends' losses are known."""
    low, high = ends[0, cell], ends[1, cell]
    of_low, of_high = losses[0, cell], losses[1, cell]
    # The end that loses more is the last of those that are left.
    for place in range(counts.size - 1, 0, -1):
        if of_high >= of_low:
            counts[place], loss[place] = high, max(of_high, 0.0)
            high -= 1
            of_high += gain(items, cell, high)
        else:
            counts[place], loss[place] = low, max(of_low, 0.0)
            of_low -= gain(items, cell, low)
            low += 1
    counts[0], loss[0] = high, max(of_high, 0.0)


@compiled
def cut_options(items: PricedItems, ends: IntArray, losses: FloatArray) -> CutOptions:
    """The options of all cells, from their ends."""
    cells = items.price.size
    size = ends[1] - ends[0] + 1
    decided, total, lost_before, priced_before = np.zeros(cells, np.int64), 0, 0.0, 0.0
    for cell in range(cells):
        if size[cell] == 1:
            decided[cell] = ends[0, cell]
            total += decided[cell]
            lost_before += losses[0, cell]
            priced_before += decided[cell] * items.price[cell]
    order = order_of(size)
    others = order[np.count_nonzero(size == 1) :]
    number = others.size
    offset = np.zeros(number + 1, np.int64)
    for place in range(number):
        offset[place + 1] = offset[place] + size[others[place]]
    counts, loss = np.empty(offset[number], np.int64), np.empty(offset[number])
    follow, priced, lost = np.zeros((number + 1, 2), np.int64), np.zeros(number + 1), np.zeros(number + 1)
    low, high = np.empty(number, np.int64), np.empty(number, np.int64)
    for place in range(number - 1, -1, -1):
        one, own = others[place], slice(offset[place], offset[place + 1])
        write_counts(items, one, ends, losses, counts[own], loss[own])
        low[place], high[place] = ends[0, one], ends[1, one]
        follow[place, 0], follow[place, 1] = follow[place + 1, 0] + low[place], follow[place + 1, 1] + high[place]
        price = items.price[one]
        priced[place] = priced[place + 1] + max(low[place] * price, high[place] * price)
        lost[place] = lost[place + 1] + loss[offset[place]]
    return CutOptions(
        decided,
        np.flatnonzero(decided),
        others,
        low,
        high,
        offset,
        counts,
        loss,
        follow,
        priced,
        lost,
        total,
        lost_before,
        priced_before,
    )
