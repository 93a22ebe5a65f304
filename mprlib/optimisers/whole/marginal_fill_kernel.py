"""Compiled search of `marginals` among cells: the counts with given marginals that lose least.

Each attribute bounds what is left to lose (see `marginal_loss_kernel`); the largest of their sums counts. Where that is
too little to end a search soon, levels get prices at which their cells' best counts sum to the marginals, one attribute
after the other (block coordinate ascent on the Lagrangian dual): losses at these prices bound the sum from below by
themselves, and few counts are left that lose less than the budget.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.sorting_kernel import nth
from mprlib.optimisers.whole.decoder_kernel import ROUNDING
from mprlib.optimisers.whole.marginal_loss_kernel import Cells, Fill, Least, later_cells, least_at, least_of, prepare

# Nodes of a first search: most are finished by then. Without losses, more, as only the order of counts can change.
FIRST_NODES, FIRST_ANY_NODES = 100, 2_000
# Rounds over all attributes that prices are raised in.
ROUNDS = 4


@uncounted
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
                wanted = marginals[column] - fill.whole.low[column]
                below, above = min(max(wanted - 1, 0), number - 1), min(max(wanted, 0), number - 1)
                price[column] = 0.5 * (nth(room, number, below) + nth(room, number, above))
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
    narrow = prepare(priced, budget - part, cells.loss.shape[1] - 1)
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
        for number in range(size):
            count, at = low + number, number
            if is_any:
                at = size - 1 - number if is_falling else number
            else:
                while at > 0 and cells.loss[cell, found[place, at - 1]] > cells.loss[cell, count]:
                    found[place, at] = found[place, at - 1]
                    at -= 1
            found[place, at] = count
    return found


class Left(NamedTuple):
    """What is left to be decided, and what it loses at least; written over.

    Shapes:  marginals, least (l,), of each column; rest (P + 1, attributes), sums of least when a place is reached;
             before (P, attributes), least of a place's columns before its cell was decided; after (attributes,).
    """

    marginals: IntArray
    least: FloatArray
    rest: FloatArray
    before: FloatArray
    after: FloatArray


@compiled
def all_left(cells: Cells, fill: Fill, marginals: IntArray) -> Left:
    """Nothing but cells without a choice is decided."""
    size, attributes = fill.order.size, cells.column.shape[1]
    left = Left(
        marginals - fill.closed,
        np.empty(marginals.size),
        np.zeros((size + 1, attributes)),
        np.empty((size, attributes)),
        np.empty(attributes),
    )
    for column in range(marginals.size):
        left.least[column] = least_of(cells, fill, column, marginals[column])
        left.rest[0, cells.attribute[column]] += left.least[column]
    return left


@uncounted
def least_with(cells: Cells, later: Least, left: Left, place: int, cell: int, count: int, most: float) -> float:
    """What the cells after a place lose at least where its own has this count; any bound from `most` on will do."""
    worst = 0.0
    for attribute in range(left.after.size):
        column = cells.column[cell, attribute]
        left.after[attribute] = 0.0
        if cells.known[column] == 1:
            left.after[attribute] = least_at(later, place, attribute, left.marginals[column] - count)
        own = left.rest[place, attribute] - left.least[column] + left.after[attribute]
        left.rest[place + 1, attribute] = own
        worst = max(worst, own)
        if worst >= most:
            break
    return worst


@uncounted
def take(cells: Cells, left: Left, place: int, cell: int, count: int) -> None:
    """Decide on the count that was looked at last."""
    for attribute in range(left.after.size):
        column = cells.column[cell, attribute]
        left.marginals[column] -= count
        left.before[place, attribute], left.least[column] = left.least[column], left.after[attribute]


@uncounted
def put_back(cells: Cells, left: Left, place: int, cell: int, count: int) -> None:
    """Undo it."""
    for attribute in range(left.after.size):
        column = cells.column[cell, attribute]
        left.marginals[column] += count
        left.least[column] = left.before[place, attribute]


class Trial(NamedTuple):
    """Counts that are tried.  Shapes: turns (P, most), in their order; pick, loss (P + 1,), chosen (P,), so far."""

    turns: IntArray
    pick: IntArray
    chosen: IntArray
    loss: FloatArray


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
    left, size = all_left(cells, fill, marginals), fill.order.size
    if left.rest[0].max() >= budget - ROUNDING:
        return np.inf, 0
    later = later_cells(cells, fill)
    trial = Trial(
        turns_of(cells, fill, ways), np.zeros(size + 1, np.int64), np.zeros(size, np.int64), np.zeros(size + 1)
    )
    return depth_first(cells, fill, (later, left, trial), budget, nodes, ways[0], counts)


@uncounted
def depth_first(
    cells: Cells,
    fill: Fill,
    state: tuple[Least, Left, Trial],
    budget: float,
    nodes: int,
    is_any: bool,
    counts: IntArray,
) -> tuple[float, int]:
    """The search itself, from its start; is_any: it ends at the first counts."""
    later, left, trial = state
    pick, chosen, loss, size = trial.pick, trial.chosen, trial.loss, fill.order.size
    best, place, visited = np.inf, 0, 0
    while True:
        if place == size:
            # The bounds of what is left are finite: nothing is.
            best = budget = loss[place]
            for cell in range(counts.size):
                counts[cell] = fill.low[cell]
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
            put_back(cells, left, place, fill.order[place], chosen[place])
            continue
        cell, count = fill.order[place], trial.turns[place, pick[place]]
        pick[place] += 1
        visited += 1
        if visited > nodes:
            break
        lost, most = loss[place] + cells.loss[cell, count], budget - ROUNDING
        if lost >= most and not is_any:
            # The others lose more.
            pick[place] = fill.size[cell]
        if lost >= most or least_with(cells, later, left, place, cell, count, most - lost) >= most - lost:
            continue
        take(cells, left, place, cell, count)
        chosen[place] = count
        place += 1
        loss[place] = lost
    return best, visited
