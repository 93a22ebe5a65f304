"""Compiled tables of `marginals`: what cells lose at least where they reach a count of one level together.

Only counts that lose no more than a budget are looked at, and only cells with a choice between some. The cells of one
level are no other level's, so that the sum over an attribute's levels bounds what a set loses. The least loss with
which cells reach a count takes the smallest increments of all of them first, as losses are convex.

Worked example: two cells of one level lose (0, 3, 7) and (0, 1, 5) by their counts: together (0, 1, 4, 8, 12) at least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.sorting_kernel import nth, sort
from mprlib.optimisers.whole.decoder_kernel import ROUNDING


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
def by_number(count: IntArray) -> IntArray:
    """Cells with two counts or more, those with few first; equal ones as they are."""
    end = np.zeros(count.max() + 1, np.int64)
    for cell in range(count.size):
        if count[cell] > 1:
            end[count[cell]] += 1
    end = np.cumsum(end)
    found = np.empty(end[end.size - 1], np.int64)
    for cell in range(count.size - 1, -1, -1):
        if count[cell] > 1:
            end[count[cell]] -= 1
            found[end[count[cell]]] = cell
    return found


@compiled
def prepare(cells: Cells, budget: float, k: int) -> Fill:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    low, count = windows(cells, budget)
    columns = cells.known.size
    order = by_number(count)
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
        number = end[column + 1] - end[column]
        rising = slopes[end[column] : end[column + 1]]
        whole.size[column] = min(number, k)
        if number > k:
            nth(rising, number, k - 1)
        sort(rising, whole.size[column])
        for place in range(whole.size[column]):
            whole.loss[column, place + 1] = whole.loss[column, place] + rising[place]
    return Fill(low, count, order, closed, whole)


@uncounted
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
    for place in range(most + 1):
        own[place] = room[place]
    return most


@compiled
def later_cells(cells: Cells, fill: Fill) -> Least:
    """The least losses (P, attributes) of the cells after each in the order, of its levels."""
    columns, width = cells.known.size, fill.whole.loss.shape[1]
    shape = fill.order.size, cells.column.shape[1]
    after = Least(np.empty((shape[0], shape[1], width)), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    own = Least(np.zeros((columns, width)), np.zeros(columns, np.int64), np.zeros(columns, np.int64))
    add_all(cells, fill, after, own, np.empty(width))
    return after


@uncounted
def add_all(cells: Cells, fill: Fill, after: Least, own: Least, room: FloatArray) -> None:
    """Write what is after each cell, from the last one on; own: of each column, so far."""
    for place in range(fill.order.size - 1, -1, -1):
        cell = fill.order[place]
        losses = cells.loss[cell, fill.low[cell] : fill.low[cell] + fill.size[cell]]
        for attribute in range(cells.column.shape[1]):
            column = cells.column[cell, attribute]
            after.low[place, attribute], after.size[place, attribute] = own.low[column], own.size[column]
            for count in range(own.size[column] + 1):
                after.loss[place, attribute, count] = own.loss[column, count]
            own.size[column] = add_cell(own.loss[column], own.size[column], losses, room)
            own.low[column] += fill.low[cell]


@uncounted
def least_of(cells: Cells, fill: Fill, column: int, count: int) -> float:
    """What the cells of a column lose at least where they have this count."""
    if cells.known[column] == 0:
        return 0.0
    place = count - fill.whole.low[column]
    if place < 0 or place > fill.whole.size[column]:
        return np.inf
    return float(fill.whole.loss[column, place])


@uncounted
def least_at(after: Least, place: int, attribute: int, left: int) -> float:
    """The same of the cells after a place, in the column of the cell there; left: their count."""
    at = left - after.low[place, attribute]
    if at < 0 or at > after.size[place, attribute]:
        return np.inf
    return float(after.loss[place, attribute, at])
