"""Compiled search of `cut_listing`: whole counts of cells under cuts, one candidate after another.

The search stops at each candidate, so that the measuring code can refuse it and name one more cut, and goes on
from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.cut_options_kernel import CutOptions, PricedItems
from mprlib.optimisers.whole.decoder_kernel import ROUNDING


class CutState(NamedTuple):
    """Where the search is, and the cuts that some counts may break.

    Shapes:  number (2,), the next cell's place, and how many cuts are held; pick, refusing, total, lost,
             priced (P + 1,); cuts (P, J), what one item of each cell adds; gap, above, below (P + 1, J), what is
             decided sums to, and what it may sum to at most and at least, so that what follows may still meet the cut.
    refusing: the cut that refused a count of each place last, which is likely to refuse the next one.
    """

    number: IntArray
    pick: IntArray
    refusing: IntArray
    total: IntArray
    lost: FloatArray
    priced: FloatArray
    cuts: FloatArray
    gap: FloatArray
    above: FloatArray
    below: FloatArray


@compiled
def new_state(options: CutOptions, room: int) -> CutState:
    """A search that has decided nothing, with room for cuts."""
    size = options.cell.size + 1
    places, sums = np.zeros((3, size), np.int64), np.zeros((2, size))
    places[2, 0], sums[0, 0], sums[1, 0] = options.total, options.lost_before, options.priced_before
    return CutState(
        np.zeros(2, np.int64),
        places[0],
        places[1],
        places[2],
        sums[0],
        sums[1],
        np.empty((size - 1, room)),
        np.empty((size, room)),
        np.empty((size, room)),
        np.empty((size, room)),
    )


@compiled
def add_cut(options: CutOptions, state: CutState, cut: FloatArray, low: float, high: float) -> bool:
    """One more cut low <= cut . x <= high, cut (G,), also for what is decided already; it is held where some counts may
    break it. Whether any counts meet it."""
    cells, start, least, most = options.cell, 0.0, 0.0, 0.0
    for cell in options.filled:
        start += options.decided[cell] * cut[cell]
    for place in range(cells.size):
        own = cut[cells[place]]
        ends = options.low[place] * own, options.high[place] * own
        least += min(ends)
        most += max(ends)
    if start + least > high or start + most < low:
        return False
    if start + most <= high and start + least >= low:
        return True
    number = state.number[1]
    state.number[1] += 1
    state.gap[0, number] = start
    state.above[cells.size, number], state.below[cells.size, number] = high, low
    for place in range(cells.size - 1, -1, -1):
        own = cut[cells[place]]
        ends = options.low[place] * own, options.high[place] * own
        state.cuts[place, number] = own
        state.above[place, number] = state.above[place + 1, number] - min(ends)
        state.below[place, number] = state.below[place + 1, number] - max(ends)
    for place in range(state.number[0]):
        taken = options.counts[options.offset[place] + state.pick[place] - 1]
        state.gap[place + 1, number] = state.gap[place, number] + taken * state.cuts[place, number]
    return True


@compiled
def add_cuts(options: CutOptions, state: CutState, cuts: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    """Cuts (J, G), each with its limits (J,). Whether there are counts that meet each."""
    are_met = True
    for number in range(cuts.shape[0]):
        are_met = are_met and add_cut(options, state, cuts[number], low[number], high[number])
    return are_met


@compiled
def reaches(state: CutState, place: int, count: int) -> bool:
    """Whether what follows may meet every cut, after this count; the gaps are written."""
    above, below = state.above[place + 1], state.below[place + 1]
    before, after, own = state.gap[place], state.gap[place + 1], state.cuts[place]
    used, number = state.number[1], state.refusing[place]
    if number < used:
        gap = before[number] + count * own[number]
        if gap > above[number] or gap < below[number]:
            return False
    for number in range(used):
        gap = before[number] + count * own[number]
        if gap > above[number] or gap < below[number]:
            state.refusing[place] = number
            return False
        after[number] = gap
    return True


@compiled
def next_candidate(
    items: PricedItems, options: CutOptions, state: CutState, gap: float, nodes: int
) -> tuple[float, bool, int]:
    """Go on to the next set that loses less than the gap and meets all cuts, within a number of nodes.

    Returns the set's loss, infinite at the end, whether the nodes sufficed, and those visited. Its counts are those
    picked.
    """
    number, visited = options.cell.size, 0
    if number == 0 and state.number[0] == 0:
        # One set, all of which is decided.
        state.number[0] = -1
        unused = max(items.room - state.priced[0], 0.0)
        if state.total[0] == items.k and state.lost[0] + unused <= gap - ROUNDING:
            return state.lost[0] + unused, True, 1
    while state.number[0] >= 0:
        place = state.number[0]
        if place == number or state.pick[place] >= options.offset[place + 1] - options.offset[place]:
            if place < number:
                state.pick[place] = 0
            state.number[0] = place - 1
            continue
        option = options.offset[place] + state.pick[place]
        count = options.counts[option]
        state.pick[place] += 1
        visited += 1
        if visited > nodes:
            return np.inf, False, visited
        lost = state.lost[place] + options.loss[option]
        if lost + options.lost[place + 1] > gap - ROUNDING:
            # The others lose more.
            state.pick[place] = options.offset[place + 1] - options.offset[place]
            continue
        total = state.total[place] + count
        if total + options.items[place + 1, 0] > items.k or total + options.items[place + 1, 1] < items.k:
            continue
        priced = state.priced[place] + count * items.price[options.cell[place]]
        unused = max(items.room - priced - options.priced[place + 1], 0.0)
        if lost + options.lost[place + 1] + unused > gap - ROUNDING or not reaches(state, place, count):
            continue
        state.total[place + 1], state.lost[place + 1], state.priced[place + 1] = total, lost, priced
        state.number[0] = place + 1
        if place + 1 == number:
            return lost + unused, True, visited
    return np.inf, True, visited
