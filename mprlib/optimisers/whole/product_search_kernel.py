"""Compiled loops of `products`: the counts that lose little at prices of the margins, depth first.

A set is below the bound by what its cells and its margins lose, and by what it leaves of the limit on |v|^2, at its
price. A margin's count may yet be any that the cells still open allow, and its loss is convex in it: the nearest to its
best count loses least. By other prices, without scores, the same sum of losses is what |v|^2 exceeds its least value
by: sets beyond the limit are left as soon as either sum says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.sorting_kernel import order_of
from mprlib.optimisers.whole.decoder_kernel import ROUNDING
from mprlib.optimisers.whole.product_price_kernel import Squares, best_count, greedy, offsets


class Losses(NamedTuple):
    """What counts lose at the prices.

    Shapes:  cell (F, k + 1), infinite above a capacity; price, weight, peak (M,): a margin of count c loses
             peak - price c + weight (c - centre)^2; best (M,), the counts that lose least.
    """

    cell: FloatArray
    price: FloatArray
    weight: FloatArray
    peak: FloatArray
    best: IntArray


class Choices(NamedTuple):
    """Counts of each cell that lose little, the cheapest first.

    Shapes:  size, order, low, high (F,); counts (F, k + 1); fewest, most (F, sets), what the cells after each place of
             the order add to the margins of the cell there; items (F + 1, 2), what those from a place on add in all.
    """

    counts: IntArray
    size: IntArray
    order: IntArray
    low: IntArray
    high: IntArray
    fewest: IntArray
    most: IntArray
    items: IntArray


class Question(NamedTuple):
    """The bound on what counts are worth, by how much |v|^2 may exceed its own bound, and nodes.

    is_shortest: what |v|^2 leaves of that is the worth.
    """

    bound: float
    excess: float
    nodes: int
    is_shortest: bool


@compiled
def cell_losses(squares: Squares, price: float, offset: FloatArray) -> FloatArray:
    """What each count (F, k + 1) of the cells loses, beside k items at the price of the last one."""
    counts = np.zeros(squares.target.size, np.int64)
    _, _, level = greedy(squares, price, offset, counts)
    found = np.full((counts.size, squares.k + 1), np.inf)
    for cell in range(counts.size):
        worth, best, most = 0.0, 0.0, min(squares.capacity[cell], squares.k)
        found[cell, 0] = 0.0
        for count in range(most):
            worth += squares.scores[squares.first[cell] + count] - offset[cell] - level
            worth -= price * squares.own * (2.0 * (count - squares.target[cell]) + 1.0)
            found[cell, count + 1] = worth
            best = max(best, worth)
        for count in range(most + 1):
            found[cell, count] = best - found[cell, count]
    return found


@compiled
def losses_at(squares: Squares, price: float, prices: FloatArray) -> Losses:
    """The losses at prices (M,) of the margins."""
    margins = prices.size
    best, peak = np.zeros(margins, np.int64), np.zeros(margins)
    for margin in range(margins):
        best[margin] = best_count(squares, price, prices[margin], margin)
        distance = (best[margin] - squares.centre[margin]) ** 2
        peak[margin] = prices[margin] * best[margin] - price * squares.weight[margin] * distance
    cell = cell_losses(squares, price, offsets(squares, prices))
    return Losses(cell, prices, price * squares.weight, peak, best)


@compiled
def choices_below(squares: Squares, by: tuple[Losses, Losses], budgets: tuple[float, float]) -> Choices:
    """The counts of each cell that lose at most both budgets, the cheapest by the first first.

    Cells without a choice come first, then the others as they are: neighbours share levels, whose margins are then
    decided soon.
    """
    cells, sets = squares.member.shape
    size, counts = np.zeros(cells, np.int64), np.zeros((cells, squares.k + 1), np.int64)
    low, high = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    for cell in range(cells):
        own, others = by[0].cell[cell], by[1].cell[cell]
        for taken in range(min(squares.capacity[cell], squares.k) + 1):
            if own[taken] <= budgets[0] + ROUNDING and others[taken] <= budgets[1] + ROUNDING:
                low[cell], high[cell] = (taken if size[cell] == 0 else low[cell]), taken
                place = size[cell]
                while place > 0 and own[counts[cell, place - 1]] > own[taken]:
                    counts[cell, place] = counts[cell, place - 1]
                    place -= 1
                counts[cell, place] = taken
                size[cell] += 1
    order = order_of(1 * (size > 1))
    fewest, most = np.zeros((cells, sets), np.int64), np.zeros((cells, sets), np.int64)
    after, items = np.zeros((2, squares.weight.size), np.int64), np.zeros((cells + 1, 2), np.int64)
    for place in range(cells - 1, -1, -1):
        cell = order[place]
        for one in range(sets):
            margin = squares.member[cell, one]
            fewest[place, one], most[place, one] = after[0, margin], after[1, margin]
            after[0, margin] += low[cell]
            after[1, margin] += high[cell]
        items[place, 0] = items[place + 1, 0] + low[cell]
        items[place, 1] = items[place + 1, 1] + high[cell]
    return Choices(counts, size, order, low, high, fewest, most, items)


@compiled
def least(squares: Squares, losses: Losses, margin: int, low: int, high: int) -> float:
    """The least loss of a margin whose count is between two."""
    count = min(max(losses.best[margin], low), high)
    distance = (count - squares.centre[margin]) ** 2
    loss: float = losses.peak[margin] - losses.price[margin] * count + losses.weight[margin] * distance
    return max(loss, 0.0)


@compiled
def least_of_all(squares: Squares, losses: Losses, choices: Choices) -> float:
    """The least loss of all margins before anything is decided."""
    margins = squares.weight.size
    low, high = np.zeros(margins, np.int64), np.zeros(margins, np.int64)
    for cell in range(choices.size.size):
        for one in range(squares.member.shape[1]):
            low[squares.member[cell, one]] += choices.low[cell]
            high[squares.member[cell, one]] += choices.high[cell]
    lost = 0.0
    for margin in range(margins):
        lost += least(squares, losses, margin, low[margin], high[margin])
    return lost


@compiled
def added(squares: Squares, losses: Losses, choices: Choices, taken: IntArray, place: int, count: int) -> float:
    """What deciding a cell's count adds to the least that its margins lose."""
    cell, lost = choices.order[place], 0.0
    for one in range(squares.member.shape[1]):
        margin = squares.member[cell, one]
        low, high = taken[margin] + choices.fewest[place, one], taken[margin] + choices.most[place, one]
        lost += least(squares, losses, margin, low + count, high + count)
        lost -= least(squares, losses, margin, low + choices.low[cell], high + choices.high[cell])
    return lost


@compiled
def take(squares: Squares, taken: IntArray, cell: int, count: int) -> None:
    """Add items of a cell to its margins."""
    for one in range(squares.member.shape[1]):
        taken[squares.member[cell, one]] += count


@compiled
def worth_of(squares: Squares, choices: Choices, pick: IntArray) -> float:
    """The similarity of the counts that were picked."""
    total = 0.0
    for place in range(choices.order.size):
        cell = choices.order[place]
        for item in range(choices.counts[cell, pick[place] - 1]):
            total += squares.scores[squares.first[cell] + item]
    return total


@compiled
def cheapest(
    squares: Squares, by: tuple[Losses, Losses], question: Question, start: float, counts: IntArray
) -> tuple[float, bool, int]:
    """The best counts (F,) within the limit, written where they are worth more than `start`.

    by: losses against the bound, and those that |v|^2 exceeds its own bound by. Returns the best worth, whether the
    search was finished, and the nodes visited.
    """
    cells, bound, best = squares.target.size, question.bound, start
    choices = choices_below(squares, by, (bound - start, question.excess))
    taken, pick = np.zeros(squares.weight.size, np.int64), np.zeros(cells + 1, np.int64)
    total, lost, beyond = np.zeros(cells + 1, np.int64), np.zeros(cells + 1), np.zeros(cells + 1)
    lost[0], beyond[0] = least_of_all(squares, by[0], choices), least_of_all(squares, by[1], choices)
    place, visited = 0, 0
    if choices.size.min() == 0:
        return best, True, 0
    while place >= 0:
        is_done = place == cells
        if is_done and total[place] == squares.k:
            worth = bound - lost[place] if question.is_shortest else worth_of(squares, choices, pick)
            if worth > best + ROUNDING:
                best = worth
                for earlier in range(cells):
                    cell = choices.order[earlier]
                    counts[cell] = choices.counts[cell, pick[earlier] - 1]
        if is_done or pick[place] >= choices.size[choices.order[place]]:
            if not is_done:
                pick[place] = 0
            place -= 1
            if place >= 0:
                cell = choices.order[place]
                take(squares, taken, cell, -choices.counts[cell, pick[place] - 1])
            continue
        cell = choices.order[place]
        count = choices.counts[cell, pick[place]]
        pick[place] += 1
        visited += 1
        if visited > question.nodes:
            return best, False, visited
        after = total[place] + count
        if after + choices.items[place + 1, 0] > squares.k or after + choices.items[place + 1, 1] < squares.k:
            continue
        spent = lost[place] + by[0].cell[cell, count]
        if spent > bound - best - ROUNDING:
            # The others lose more.
            pick[place] = choices.size[cell]
            continue
        further = beyond[place] + by[1].cell[cell, count]
        if further <= question.excess:
            spent += added(squares, by[0], choices, taken, place, count)
            further += added(squares, by[1], choices, taken, place, count)
        if spent > bound - best - ROUNDING or further > question.excess:
            continue
        take(squares, taken, cell, count)
        place += 1
        total[place], lost[place], beyond[place] = after, spent, further
    return best, True, visited
