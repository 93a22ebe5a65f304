"""Compiled loops of `products`: the counts that lose little at prices of the margins, depth first.

A set is below the bound by what its cells and its margins lose, and by what it leaves of the limit on |v|^2, at its
price. A margin's count may yet be any that the cells still open allow, and its loss is convex in it: the nearest to its
best count loses least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.decoder_kernel import ROUNDING
from mprlib.optimisers.whole.product_price_kernel import Squares, best_count, greedy, offsets


class Losses(NamedTuple):
    """What counts lose at the prices.

    Shapes:  cell (F, k + 1), infinite above a capacity; price, weight, peak (M,): a margin of count c loses
             peak - price c + weight (c - centre)^2; best, nearest (M,), the counts that lose least, and that are
             nearest to the centre.
    """

    cell: FloatArray
    price: FloatArray
    weight: FloatArray
    peak: FloatArray
    best: IntArray
    nearest: IntArray


class Choices(NamedTuple):
    """Counts of each cell below a budget, the cheapest first.

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
    """The limit on |v|^2, its price, the bound at the prices, and nodes.

    is_shortest: worth is -|v|^2.
    """

    limit: float
    price: float
    bound: float
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
    best, nearest, peak = np.zeros(margins, np.int64), np.zeros(margins, np.int64), np.zeros(margins)
    for margin in range(margins):
        best[margin] = best_count(squares, price, prices[margin], margin)
        nearest[margin] = best_count(squares, price, 0.0, margin)
        distance = (best[margin] - squares.centre[margin]) ** 2
        peak[margin] = prices[margin] * best[margin] - price * squares.weight[margin] * distance
    cell = cell_losses(squares, price, offsets(squares, prices))
    return Losses(cell, prices, price * squares.weight, peak, best, nearest)


@compiled
def choices_below(squares: Squares, losses: Losses, budget: float) -> Choices:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    cells, sets = squares.member.shape
    size, counts = np.zeros(cells, np.int64), np.zeros((cells, squares.k + 1), np.int64)
    low, high = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    for cell in range(cells):
        for taken in range(min(squares.capacity[cell], squares.k) + 1):
            loss = losses.cell[cell, taken]
            if loss <= budget + ROUNDING:
                low[cell], high[cell] = (taken if size[cell] == 0 else low[cell]), taken
                place = size[cell]
                while place > 0 and losses.cell[cell, counts[cell, place - 1]] > loss:
                    counts[cell, place] = counts[cell, place - 1]
                    place -= 1
                counts[cell, place] = taken
                size[cell] += 1
    order = np.argsort(size, kind="mergesort")
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
def least(squares: Squares, losses: Losses, margin: int, low: int, high: int) -> tuple[float, float]:
    """The least loss of a margin whose count is between two, and its least square."""
    count = min(max(losses.best[margin], low), high)
    distance = (count - squares.centre[margin]) ** 2
    loss = losses.peak[margin] - losses.price[margin] * count + losses.weight[margin] * distance
    near = min(max(losses.nearest[margin], low), high)
    square: float = squares.weight[margin] * (near - squares.centre[margin]) ** 2
    return max(loss, 0.0), square


@compiled
def least_of_all(squares: Squares, losses: Losses, choices: Choices) -> tuple[float, float]:
    """The least loss and square of all margins before anything is decided; infinite where one has too many items."""
    margins = squares.weight.size
    low, high = np.zeros(margins, np.int64), np.zeros(margins, np.int64)
    for cell in range(choices.size.size):
        for one in range(squares.member.shape[1]):
            low[squares.member[cell, one]] += choices.low[cell]
            high[squares.member[cell, one]] += choices.high[cell]
    lost, square = 0.0, squares.constant
    for margin in range(margins):
        own = least(squares, losses, margin, low[margin], high[margin])
        lost += own[0]
        square += own[1]
    return lost, square


@compiled
def added(
    squares: Squares, losses: Losses, choices: Choices, taken: IntArray, place: int, count: int
) -> tuple[float, float]:
    """What deciding a cell's count adds to the least that its margins lose, and to their least square."""
    cell, lost, square = choices.order[place], 0.0, 0.0
    for one in range(squares.member.shape[1]):
        margin = squares.member[cell, one]
        low, high = taken[margin] + choices.fewest[place, one], taken[margin] + choices.most[place, one]
        before = least(squares, losses, margin, low + choices.low[cell], high + choices.high[cell])
        after = least(squares, losses, margin, low + count, high + count)
        lost += after[0] - before[0]
        square += after[1] - before[1]
    return lost, square


@compiled
def take(squares: Squares, taken: IntArray, cell: int, count: int) -> None:
    """Add items of a cell to its margins."""
    for one in range(squares.member.shape[1]):
        taken[squares.member[cell, one]] += count


@compiled
def worth_of(squares: Squares, question: Question, choices: Choices, pick: IntArray, square: float) -> float:
    """What the counts that were picked are worth, whatever prices say."""
    if question.is_shortest:
        return -square
    total = 0.0
    for place in range(choices.order.size):
        cell = choices.order[place]
        for item in range(choices.counts[cell, pick[place] - 1]):
            total += squares.scores[squares.first[cell] + item]
    return total


@compiled
def cheapest(
    squares: Squares, losses: Losses, question: Question, start: float, counts: IntArray
) -> tuple[float, bool, int]:
    """The best counts (F,) within the limit, written where they are worth more than `start`.

    Returns the best worth, whether the search was finished, and the nodes visited.
    """
    cells, bound, best = squares.target.size, question.bound, start
    choices = choices_below(squares, losses, bound - start)
    taken, pick = np.zeros(squares.weight.size, np.int64), np.zeros(cells + 1, np.int64)
    total, lost, square = np.zeros(cells + 1, np.int64), np.zeros(cells + 1), np.zeros(cells + 1)
    lost[0], square[0] = least_of_all(squares, losses, choices)
    place, visited = 0, 0
    if choices.size.min() == 0:
        return best, True, 0
    while place >= 0:
        is_done = place == cells
        if is_done and total[place] == squares.k:
            unused = 0.0 if question.is_shortest else question.price * max(question.limit - square[place], 0.0)
            if bound - lost[place] - unused > best + ROUNDING:
                worth = worth_of(squares, question, choices, pick, square[place])
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
        spent = lost[place] + losses.cell[cell, count]
        if spent > bound - best - ROUNDING:
            # The others lose more.
            pick[place] = choices.size[cell]
            continue
        more, further = added(squares, losses, choices, taken, place, count)
        further += square[place] + squares.own * (count - squares.target[cell]) ** 2
        if spent + more > bound - best - ROUNDING or further > question.limit:
            continue
        take(squares, taken, cell, count)
        place += 1
        total[place], lost[place], square[place] = after, spent + more, further
    return best, True, visited
