"""Compiled loops of `cut_counts`: whole counts of cells under cuts, one candidate after another.

The search stops at each candidate, so that the measuring code can refuse it and name one more cut, and goes on
from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.sorting_kernel import order_of
from mprlib.optimisers.whole.decoder_kernel import ROUNDING


class CutCells(NamedTuple):
    """Cells with items, and prices.

    Shapes:  capacity, price (F,); loss (F, k + 1). room: rho times the multiplier, of which a set leaves
             room - price.x unused.
    """

    k: int
    capacity: IntArray
    price: FloatArray
    loss: FloatArray
    room: float


class CutOptions(NamedTuple):
    """Counts of each cell below the budget, the cheapest first.

    Shapes:  counts (F, k + 1); size, low, high, order (F,); items (F + 1, 2), fewest and most that follow;
             priced (F + 1,), the most that the prices of what follows sum to.
    """

    counts: IntArray
    size: IntArray
    low: IntArray
    high: IntArray
    order: IntArray
    items: IntArray
    priced: FloatArray


class CutState(NamedTuple):
    """Where the search is.

    Shapes:  place (1,); pick, total, lost, priced, refusing (F + 1,); gap, least, most (F + 1, J).
    refusing: the cut that refused a count of each place last, which is likely to refuse the next one.
    """

    place: IntArray
    pick: IntArray
    refusing: IntArray
    total: IntArray
    lost: FloatArray
    priced: FloatArray
    gap: FloatArray
    least: FloatArray
    most: FloatArray


@compiled
def cut_options(cells: CutCells, budget: float) -> CutOptions:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    number = cells.capacity.size
    count, size = np.zeros((number, cells.k + 1), np.int64), np.zeros(number, np.int64)
    low, high = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for cell in range(number):
        for taken in range(cells.capacity[cell] + 1):
            loss = cells.loss[cell, taken]
            if loss <= budget + ROUNDING:
                place = size[cell]
                while place > 0 and cells.loss[cell, count[cell, place - 1]] > loss:
                    count[cell, place] = count[cell, place - 1]
                    place -= 1
                count[cell, place] = taken
                size[cell] += 1
        low[cell], high[cell] = count[cell, : size[cell]].min(), count[cell, : size[cell]].max()
    order = order_of(size)
    items, priced = np.zeros((number + 1, 2), np.int64), np.zeros(number + 1)
    for place in range(number - 1, -1, -1):
        cell = order[place]
        items[place, 0] = items[place + 1, 0] + low[cell]
        items[place, 1] = items[place + 1, 1] + high[cell]
        priced[place] = priced[place + 1] + max(low[cell] * cells.price[cell], high[cell] * cells.price[cell])
    return CutOptions(count, size, low, high, order, items, priced)


@compiled
def new_state(cells: CutCells, most_cuts: int) -> CutState:
    """A search that has decided nothing, with room for cuts."""
    size = cells.capacity.size + 1
    return CutState(
        np.zeros(1, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.zeros((size, most_cuts)),
        np.zeros((size, most_cuts)),
        np.zeros((size, most_cuts)),
    )


@compiled
def add_cut(options: CutOptions, state: CutState, cut: FloatArray, number: int) -> None:
    """One more cut (F,), also for what is decided already."""
    for place in range(options.order.size - 1, -1, -1):
        cell = options.order[place]
        low, high = options.low[cell] * cut[cell], options.high[cell] * cut[cell]
        state.least[place, number] = state.least[place + 1, number] + min(low, high)
        state.most[place, number] = state.most[place + 1, number] + max(low, high)
    for place in range(state.place[0]):
        cell = options.order[place]
        taken = options.counts[cell, state.pick[place] - 1]
        state.gap[place + 1, number] = state.gap[place, number] + taken * cut[cell]


@compiled
def add_cuts(options: CutOptions, state: CutState, cuts: FloatArray, used: int) -> None:
    """The first cuts, (F, used)."""
    for number in range(used):
        add_cut(options, state, cuts[:, number], number)


@compiled
def reaches(state: CutState, cuts: FloatArray, used: int, cell: int, count: int, rho: float) -> bool:
    """Whether what follows may bring every cut within rho, after this count; the gaps are written."""
    place = state.place[0]
    least, most = state.least[place + 1], state.most[place + 1]
    before, after, own = state.gap[place], state.gap[place + 1], cuts[cell]
    number = state.refusing[place]
    if number < used:
        gap = before[number] + count * own[number]
        if gap + least[number] > rho or gap + most[number] < -rho:
            return False
    for number in range(used):
        gap = before[number] + count * own[number]
        if gap + least[number] > rho or gap + most[number] < -rho:
            state.refusing[place] = number
            return False
        after[number] = gap
    return True


@compiled
def next_candidate(
    cells: CutCells, options: CutOptions, state: CutState, cuts: FloatArray, used: int, limits: tuple[float, float, int]
) -> tuple[float, bool, int]:
    """Go on to the next set that loses less than the gap and meets all cuts (F, used).

    limits: rho, the gap, and the nodes left. Returns the set's loss, infinite at the end, whether the nodes
    sufficed, and those visited. Its counts are those picked.
    """
    rho, gap, nodes = limits
    number, visited = options.order.size, 0
    while state.place[0] >= 0:
        place = state.place[0]
        if place == number or state.pick[place] >= options.size[options.order[place]]:
            if place < number:
                state.pick[place] = 0
            state.place[0] = place - 1
            continue
        cell = options.order[place]
        count = options.counts[cell, state.pick[place]]
        state.pick[place] += 1
        visited += 1
        if visited > nodes:
            return np.inf, False, visited
        lost = state.lost[place] + cells.loss[cell, count]
        if lost > gap - ROUNDING:
            # The others lose more.
            state.pick[place] = options.size[cell]
            continue
        total = state.total[place] + count
        if total + options.items[place + 1, 0] > cells.k or total + options.items[place + 1, 1] < cells.k:
            continue
        priced = state.priced[place] + count * cells.price[cell]
        unused = max(cells.room - priced - options.priced[place + 1], 0.0)
        if lost + unused > gap - ROUNDING or not reaches(state, cuts, used, cell, count, rho):
            continue
        state.total[place + 1], state.lost[place + 1], state.priced[place + 1] = total, lost, priced
        state.place[0] = place + 1
        if place + 1 == number:
            return lost + unused, True, visited
    return np.inf, True, visited
