"""Compiled search of `marginals` among cells: the counts with given marginals that lose least.

Only cells with a choice are searched, since a count that loses more than the budget is out of the question. Each
attribute bounds what is lost: the cells of one level are no other level's, and the least loss with which they reach a
count takes the smallest increments of all of them first, as losses are convex. The largest of the attributes' sums
counts. Where that is too little to end a search soon, levels get prices at which their cells' best counts sum to the
marginals, one attribute after the other (block coordinate ascent on the Lagrangian dual): losses at these prices bound
the sum from below by themselves, and few counts are left that lose less than the budget.

Worked example: two cells of one level lose (0, 3, 7) and (0, 1, 5) by their counts: together (0, 1, 4, 8, 12) at least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.decoder_kernel import ROUNDING

# Nodes of a first search: most are finished by then. Without losses, more, as only the order of counts can change.
FIRST_NODES, FIRST_ANY_NODES = 100, 2_000
# Rounds over all attributes that prices are raised in.
ROUNDS = 4


class Cells(NamedTuple):
    """Cells of the pool.  Shapes: column (G, attributes), each cell's columns; attribute (l,) of each column;

    capacity (G,); loss (G, k + 1); last (attributes,), the column that takes what an attribute has left, -1 where
    columns stay unknown; known (l,).
    """

    column: IntArray
    attribute: IntArray
    capacity: IntArray
    loss: FloatArray
    last: IntArray
    known: IntArray


class Least(NamedTuple):
    """The least loss of some cells of a level, by their count: low, low + 1, ... up to low + size.

    Shapes:  loss (..., width); low, size (...), of each column, or of each cell and attribute.
    """

    loss: FloatArray
    low: IntArray
    size: IntArray


class Fill(NamedTuple):
    """Counts of the cells that lose at most a budget.

    Shapes:  low, size (G,), the first one and how many; order (P,), cells with a choice; closed (l,), what the others
             add to each column; whole (l,), of all cells of a column.
    """

    low: IntArray
    size: IntArray
    order: IntArray
    closed: IntArray
    whole: Least


@compiled
def windows(cells: Cells, budget: float) -> tuple[IntArray, IntArray]:
    """The first count of each cell that loses at most the budget, and how many do."""
    low, count = np.zeros(cells.capacity.size, np.int64), np.zeros(cells.capacity.size, np.int64)
    for cell in range(low.size):
        first, last = -1, -1
        for taken in range(cells.capacity[cell] + 1):
            if cells.loss[cell, taken] <= budget + ROUNDING:
                if first < 0:
                    first = taken
                last = taken
            elif first >= 0:
                break
        low[cell], count[cell] = first, last - first + 1
    return low, count


@compiled
def prepare(cells: Cells, budget: float, k: int) -> Fill:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    low, count = windows(cells, budget)
    columns = cells.known.size
    order = np.argsort(count, kind="mergesort")
    order = order[np.searchsorted(count[order], 2) :]
    closed, lowest, end = np.zeros(columns, np.int64), np.zeros(columns, np.int64), np.zeros(columns + 1, np.int64)
    for cell in range(low.size):
        for attribute in range(cells.column.shape[1]):
            column = cells.column[cell, attribute]
            lowest[column] += low[cell]
            end[column + 1] += count[cell] - 1
            if count[cell] == 1:
                closed[column] += low[cell]
    # Of more than k nobody asks.
    width = min(end.max(), k) + 1
    end = np.cumsum(end)
    slopes, filled = np.empty(end[columns]), end.copy()
    whole = Least(np.zeros((columns, width)), lowest, np.zeros(columns, np.int64))
    for cell in order:
        for attribute in range(cells.column.shape[1]):
            column = cells.column[cell, attribute]
            whole.loss[column, 0] += cells.loss[cell, low[cell]]
            for taken in range(low[cell], low[cell] + count[cell] - 1):
                slopes[filled[column]] = cells.loss[cell, taken + 1] - cells.loss[cell, taken]
                filled[column] += 1
    for column in range(columns):
        rising = slopes[end[column] : end[column + 1]]
        if rising.size > 2 * k:
            rising = np.partition(rising, k)[:k]
        rising.sort()
        whole.size[column] = min(rising.size, k)
        for place in range(whole.size[column]):
            whole.loss[column, place + 1] = whole.loss[column, place] + rising[place]
    return Fill(low, count, order, closed, whole)


@compiled
def add_cell(own: FloatArray, size: int, loss: FloatArray, room: FloatArray) -> int:
    """Add a cell with these losses of its counts to the least losses of others, in place, which are size + 1 long."""
    most = min(size + loss.size - 1, room.size - 1)
    before, here = 0, 0
    room[0] = own[0] + loss[0]
    for place in range(1, most + 1):
        is_own = here + 1 == loss.size
        if not is_own and before < size:
            is_own = own[before + 1] - own[before] <= loss[here + 1] - loss[here]
        if is_own:
            before += 1
        else:
            here += 1
        room[place] = own[before] + loss[here]
    own[: most + 1] = room[: most + 1]
    return most


@compiled
def later_cells(cells: Cells, fill: Fill) -> Least:
    """The least losses (P, attributes) of the cells after each in the order, of its levels."""
    size, width = fill.order.size, fill.whole.loss.shape[1]
    shape = (size, cells.column.shape[1])
    after = Least(np.empty((size, cells.column.shape[1], width)), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    own, room = np.zeros((cells.known.size, width)), np.empty(width)
    low, number = np.zeros(cells.known.size, np.int64), np.zeros(cells.known.size, np.int64)
    for place in range(size - 1, -1, -1):
        cell = fill.order[place]
        losses = cells.loss[cell, fill.low[cell] : fill.low[cell] + fill.size[cell]]
        for attribute in range(cells.column.shape[1]):
            column = cells.column[cell, attribute]
            after.low[place, attribute], after.size[place, attribute] = low[column], number[column]
            after.loss[place, attribute, : number[column] + 1] = own[column, : number[column] + 1]
            number[column] = add_cell(own[column], number[column], losses, room)
            low[column] += fill.low[cell]
    return after


@compiled
def least_of(cells: Cells, fill: Fill, column: int, count: int) -> float:
    """What the cells of a column lose at least where they have this count."""
    if cells.known[column] == 0:
        return 0.0
    place = count - fill.whole.low[column]
    if place < 0 or place > fill.whole.size[column]:
        return np.inf
    return float(fill.whole.loss[column, place])


@compiled
def least_at(after: Least, place: int, attribute: int, left: int) -> float:
    """The same of the cells after a place, in the column of the cell there; left: their count."""
    at = left - after.low[place, attribute]
    if at < 0 or at > after.size[place, attribute]:
        return np.inf
    return float(after.loss[place, attribute, at])


@compiled
def slopes_of(cells: Cells, fill: Fill, column: int, price: FloatArray, found: FloatArray) -> int:
    """What one more item of each cell of a column loses, less the other columns' prices (l,); how many there are."""
    attribute, number = cells.attribute[column], 0
    for cell in fill.order:
        if cells.column[cell, attribute] == column:
            others = -price[column]
            for other in range(cells.column.shape[1]):
                others += price[cells.column[cell, other]]
            for taken in range(fill.low[cell], fill.low[cell] + fill.size[cell] - 1):
                found[number] = cells.loss[cell, taken + 1] - cells.loss[cell, taken] - others
                number += 1
    return number


@compiled
def repriced(cells: Cells, fill: Fill, marginals: IntArray) -> tuple[Cells, float]:
    """The cells with what counts lose at prices of the columns, beside a part that all counts with these marginals do."""
    price, total = np.zeros(marginals.size), 0.0
    room = np.empty(fill.size.sum())
    for _ in range(ROUNDS):
        for column in range(price.size):
            number = slopes_of(cells, fill, column, price, room)
            if number > 0 and cells.known[column] == 1:
                rising, wanted = np.sort(room[:number]), marginals[column] - fill.whole.low[column]
                below, above = min(max(wanted - 1, 0), number - 1), min(max(wanted, 0), number - 1)
                price[column] = 0.5 * (rising[below] + rising[above])
    for column in range(price.size):
        total += price[column] * marginals[column]
    loss = np.full(cells.loss.shape, np.inf)
    for cell in range(fill.low.size):
        own = 0.0
        for attribute in range(cells.column.shape[1]):
            own += price[cells.column[cell, attribute]]
        smallest = np.inf
        for taken in range(fill.low[cell], fill.low[cell] + fill.size[cell]):
            loss[cell, taken] = cells.loss[cell, taken] - own * taken
            smallest = min(smallest, loss[cell, taken])
        loss[cell] -= smallest
        total += smallest
    return Cells(cells.column, cells.attribute, cells.capacity, loss, cells.last, cells.known), total


@compiled
def cheapest_fill(
    cells: Cells, fill: Fill, marginals: IntArray, budget: float, nodes: int, is_any: bool, counts: IntArray
) -> tuple[float, int]:
    """Counts (G,), written, with these marginals (l,) and the least loss below the budget; is_any: any will do.

    Returns the loss, infinite where there are none, and the nodes visited: more than `nodes` where the search was not
    finished.
    """
    first = min(nodes, FIRST_ANY_NODES if is_any else FIRST_NODES)
    best, visited = searched(cells, fill, marginals, budget, first, (is_any, False), counts)
    left = nodes - visited
    if visited <= first or left < 0:
        return best, visited
    if is_any:
        # Who takes as many as a level needs, cell by cell, rarely has to go back.
        best, more = searched(cells, fill, marginals, budget, left, (True, True), counts)
        return best, visited + more
    budget = min(budget, best)
    priced, part = repriced(cells, fill, marginals)
    if part >= budget - ROUNDING:
        return best, first
    narrow = prepare(priced, budget - part, marginals[marginals.size - 1])
    lost, more = searched(priced, narrow, marginals, budget - part, left, (False, False), counts)
    return min(best, part + lost), visited + more


@compiled
def turns_of(cells: Cells, fill: Fill, ways: tuple[bool, bool]) -> IntArray:
    """The counts (P, most) of each open cell in the order in which they are tried."""
    is_any, is_falling = ways
    found = np.zeros((fill.order.size, fill.size.max()), np.int64)
    for place in range(fill.order.size):
        cell = fill.order[place]
        low, size = fill.low[cell], fill.size[cell]
        rising = np.arange(low, low + size)
        if is_any:
            found[place, :size] = rising[::-1] if is_falling else rising
        else:
            found[place, :size] = rising[np.argsort(cells.loss[cell, low : low + size], kind="mergesort")]
    return found


@compiled
def searched(
    cells: Cells,
    fill: Fill,
    marginals: IntArray,
    budget: float,
    nodes: int,
    ways: tuple[bool, bool],
    counts: IntArray,
) -> tuple[float, int]:
    """The same, depth first. ways: whether any counts will do, and whether the largest ones are tried first; else
    those that lose least are.
    """
    is_any, is_falling = ways
    left = marginals.copy()
    size, attributes = fill.order.size, cells.column.shape[1]
    least, rest = np.empty(left.size), np.zeros((size + 1, attributes))
    for column in range(left.size):
        least[column] = least_of(cells, fill, column, left[column])
        rest[0, cells.attribute[column]] += least[column]
        left[column] -= fill.closed[column]
    if rest[0].max() >= budget - ROUNDING:
        return np.inf, 0
    later, before, after = later_cells(cells, fill), np.empty((size, attributes)), np.empty(attributes)
    turns = turns_of(cells, fill, ways)
    pick, chosen, loss = np.zeros(size + 1, np.int64), np.zeros(size, np.int64), np.zeros(size + 1)
    best, place, visited = np.inf, 0, 0
    while True:
        if place == size:
            # The bounds of what is left are finite: nothing is.
            best = budget = loss[place]
            counts[:] = fill.low
            for earlier in range(size):
                counts[fill.order[earlier]] = chosen[earlier]
            if is_any:
                break
        if place == size or pick[place] == fill.size[fill.order[place]]:
            if place < size:
                pick[place] = 0
            place -= 1
            if place < 0:
                break
            for attribute in range(attributes):
                column = cells.column[fill.order[place], attribute]
                left[column] += chosen[place]
                least[column] = before[place, attribute]
            continue
        cell = fill.order[place]
        count = turns[place, pick[place]]
        pick[place] += 1
        visited += 1
        if visited > nodes:
            break
        lost = loss[place] + cells.loss[cell, count]
        worst = lost
        for attribute in range(attributes):
            column = cells.column[cell, attribute]
            after[attribute] = 0.0
            if cells.known[column] == 1:
                after[attribute] = least_at(later, place, attribute, left[column] - count)
            rest[place + 1, attribute] = rest[place, attribute] - least[column] + after[attribute]
            worst = max(worst, lost + rest[place + 1, attribute])
            if worst >= budget - ROUNDING:
                break
        if worst >= budget - ROUNDING:
            if lost >= budget - ROUNDING and not is_any:
                # The others lose more.
                pick[place] = fill.size[cell]
            continue
        for attribute in range(attributes):
            column = cells.column[cell, attribute]
            left[column] -= count
            before[place, attribute], least[column] = least[column], after[attribute]
        chosen[place] = count
        place += 1
        loss[place] = lost
    return best, visited
