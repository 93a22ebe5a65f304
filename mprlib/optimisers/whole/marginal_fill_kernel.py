"""Compiled search of `marginals` among cells: the counts with given marginals that lose least.

Each attribute bounds what is left to lose (see `marginal_loss_kernel`); the largest of their sums counts. Where that is
too little to end a search soon, levels get prices at which their cells' best counts sum to the marginals, one attribute
after the other (block coordinate ascent on the Lagrangian dual): losses at these prices bound the sum from below by
themselves, and few counts are left that lose less than the budget.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.decoder_kernel import ROUNDING
from mprlib.optimisers.whole.marginal_loss_kernel import Cells, Fill, later_cells, least_at, least_of, prepare

# Nodes of a first search: most are finished by then. Without losses, more, as only the order of counts can change.
FIRST_NODES, FIRST_ANY_NODES = 100, 2_000
# Rounds over all attributes that prices are raised in.
ROUNDS = 4


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
    """The cells with what counts lose at prices of the columns, beside a part that all counts of the marginals lose."""
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
    is_any = ways[0]
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
