"""Compiled loops of `marginals`: the points of a lattice of marginal counts, and the cells that realise them.

A value of a coordinate (see `decoder_kernel`) is dropped when the part of v that is decided leaves the ball, when
even the best rest of the ball leaves the cap z.v >= rho |z| - gap, or when an attribute's counts cannot sum to k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.decoder_kernel import ROUNDING, Basis, Walk, close, new_walk, next_value, open_level

# Counts of an unknown marginal are not limited by it.
UNLIMITED = 1 << 40


class Lattice(NamedTuple):
    """Marginal counts c of the decided columns, and v as in `Basis`.

    Shapes:  attribute, column, capacity (d,) of each coordinate;
             rest (d,): items that the attribute's columns decided later can hold, its undecided ones included.
    """

    attribute: IntArray
    column: IntArray
    capacity: IntArray
    rest: IntArray


class Cells(NamedTuple):
    """Cells of the pool.  Shapes: column (G, attributes), each cell's columns; capacity (G,); loss (G, k + 1);

    last (attributes,), the column that takes what an attribute has left; -1 where columns stay unknown.
    """

    column: IntArray
    capacity: IntArray
    loss: FloatArray
    last: IntArray
    known: IntArray


class Task(NamedTuple):
    """What is asked for: rho; k; price length |z|; dual bound; nodes; nodes of one search among cells.

    is_shortest: the set of the smallest |v| in the place of the most similar one.
    """

    k: int
    rho: float
    length: float
    bound: float
    nodes: int
    cell_nodes: int
    is_shortest: bool


class Fill(NamedTuple):
    """Counts of the cells that lose at most a budget.  Shapes: low, size, order (G,); fewest, most (G + 1, l)."""

    low: IntArray
    size: IntArray
    order: IntArray
    fewest: IntArray
    most: IntArray


@compiled
def decide(
    basis: Basis,
    lattice: Lattice,
    walk: Walk,
    used: IntArray,
    level: int,
    limits: tuple[float, float, int],
    fill: Fill,
) -> bool:
    """Try the next value of a coordinate; whether it stays in the ball, in the cap, and within the counts.

    limits: the largest square of |v|, the least z.v, and k.
    """
    limit, least, k = limits
    value, is_up = next_value(walk, level)
    taken = used[lattice.attribute[level]] + value
    column = lattice.column[level]
    is_low = value < max(fill.fewest[0, column], 0)
    if is_low or value > min(fill.most[0, column], lattice.capacity[level]) or taken > k:
        # Values beyond the limit on the other side are still to come.
        if is_low != is_up:
            close(walk, level, is_up)
        return False
    if taken + lattice.rest[level] < k:
        if not is_up:
            close(walk, level, is_up)
        return False
    step = walk.line[level] + basis.triangle[level, level] * value
    square = walk.square[level + 1] + step * step
    if square > limit:
        if (step > 0.0) == is_up:
            close(walk, level, is_up)
        return False
    priced = walk.priced[level + 1] + basis.along[level] * step
    if priced + basis.reach[level] * np.sqrt(limit - square) < least:
        close(walk, level, is_up)
        return False
    walk.value[level], walk.square[level], walk.priced[level] = value, square, priced
    return True


@compiled
def prepare(cells: Cells, budget: float, columns: int) -> Fill:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    size = cells.capacity.size
    low, count = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for cell in range(size):
        first, last = -1, -1
        for taken in range(cells.capacity[cell] + 1):
            if cells.loss[cell, taken] <= budget + ROUNDING:
                if first < 0:
                    first = taken
                last = taken
        low[cell], count[cell] = first, last - first + 1
    order = np.argsort(count, kind="mergesort")
    fewest, most = np.zeros((size + 1, columns), np.int64), np.zeros((size + 1, columns), np.int64)
    for place in range(size - 1, -1, -1):
        cell = order[place]
        fewest[place] = fewest[place + 1]
        most[place] = most[place + 1]
        for attribute in range(cells.column.shape[1]):
            column = cells.column[cell, attribute]
            fewest[place, column] += low[cell]
            most[place, column] += low[cell] + count[cell] - 1
    for column in range(columns):
        if cells.known[column] == 0:
            fewest[:, column] = -UNLIMITED
            most[:, column] = UNLIMITED
    return Fill(low, count, order, fewest, most)


@compiled
def fits(cells: Cells, fill: Fill, left: IntArray, place: int, cell: int, count: int) -> bool:
    """Whether the cells after this one can still bring every marginal to what is asked for."""
    for attribute in range(cells.column.shape[1]):
        column = cells.column[cell, attribute]
        rest = left[column] - count
        if rest < fill.fewest[place + 1, column] or rest > fill.most[place + 1, column]:
            return False
    return True


@compiled
def move(cells: Cells, left: IntArray, cell: int, count: int) -> None:
    """Take `count` items of a cell from what is left of its marginals."""
    for attribute in range(cells.column.shape[1]):
        left[cells.column[cell, attribute]] -= count


@compiled
def is_used_up(cells: Cells, left: IntArray) -> bool:
    """Whether every known marginal is what was asked for."""
    missing = 0
    for column in range(left.size):
        missing += cells.known[column] * abs(left[column])
    return missing == 0


@compiled
def cheapest_fill(
    cells: Cells, fill: Fill, left: IntArray, budget: float, nodes: int, is_any: bool, counts: IntArray
) -> tuple[float, int]:
    """Depth first over the cells: counts (G,), written, with these marginals and the least loss below the budget.

    is_any: the first ones will do. Returns the loss, infinite where there are none, and the nodes visited: more than
    `nodes` where the search was not finished.
    """
    size = fill.order.size
    pick, loss = np.zeros(size + 1, np.int64), np.zeros(size + 1)
    best, place, visited = np.inf, 0, 0
    while place >= 0:
        is_done = place == size
        if is_done and loss[place] < budget - ROUNDING and is_used_up(cells, left):
            best = budget = loss[place]
            for earlier in range(size):
                cell = fill.order[earlier]
                counts[cell] = fill.low[cell] + pick[earlier] - 1
            if is_any:
                break
        if is_done or pick[place] >= fill.size[fill.order[place]]:
            if not is_done:
                pick[place] = 0
            place -= 1
            if place >= 0:
                cell = fill.order[place]
                move(cells, left, cell, -(fill.low[cell] + pick[place] - 1))
            continue
        cell = fill.order[place]
        count = fill.low[cell] + pick[place]
        pick[place] += 1
        visited += 1
        if visited > nodes:
            break
        lost = loss[place] + cells.loss[cell, count]
        if lost >= budget - ROUNDING or not fits(cells, fill, left, place, cell, count):
            continue
        move(cells, left, cell, count)
        place += 1
        loss[place] = lost
    return best, visited


@compiled
def marginals_of(lattice: Lattice, cells: Cells, walk: Walk, used: IntArray, k: int) -> IntArray:
    """The counts (l,) of every known column at a point."""
    left = np.zeros(cells.known.size, np.int64)
    left[left.size - 1] = k
    for level in range(lattice.column.size):
        left[lattice.column[level]] = walk.value[level]
    for attribute in range(cells.last.size):
        if cells.last[attribute] >= 0:
            left[cells.last[attribute]] = k - used[attribute]
    return left


@compiled
def decoded(
    basis: Basis, lattice: Lattice, cells: Cells, task: Task, start: float, counts: IntArray
) -> tuple[float, float, bool, int]:
    """The best counts (G,), written where they beat the similarity `start`, or the shortest ones within rho.

    Returns the best similarity, the square of the smallest |v| (infinite where none was found), whether the search
    was finished, and the nodes visited.
    """
    levels = basis.offset.size
    walk, used = new_walk(levels), np.zeros(cells.last.size, np.int64)
    walk.priced[levels] = basis.constant
    limit = task.rho * task.rho - basis.outside
    best, shortest = start, np.inf
    nodes, cell_nodes, is_complete = 0, 0, True
    budget = np.inf if task.is_shortest else task.bound - start
    fill = prepare(cells, budget, cells.known.size)
    filled = np.zeros(counts.size, np.int64)
    level = levels - 1
    if limit < 0.0:
        return best, shortest, True, 0
    if level >= 0:
        open_level(basis, walk, level, limit, lattice.capacity[level])
    while True:
        if level >= 0:
            if walk.is_taken[level] == 1:
                used[lattice.attribute[level]] -= walk.value[level]
                walk.is_taken[level] = 0
            if walk.is_up_open[level] == 0 and walk.is_down_open[level] == 0:
                level += 1
                if level == levels:
                    break
                continue
            nodes += 1
            if nodes > task.nodes or cell_nodes > task.cell_nodes:
                is_complete = False
                break
            least = task.rho * task.length - (task.bound - best) - ROUNDING
            if not decide(basis, lattice, walk, used, level, (limit, least, task.k), fill):
                continue
            used[lattice.attribute[level]] += walk.value[level]
            walk.is_taken[level] = 1
            if level > 0:
                level -= 1
                open_level(basis, walk, level, limit, lattice.capacity[level])
                continue
        slack = max(task.rho * task.length - walk.priced[0], 0.0)
        own = np.inf if task.is_shortest else task.bound - best - slack
        if not task.is_shortest and task.bound - best < 0.5 * budget:
            budget = task.bound - best
            fill = prepare(cells, budget, cells.known.size)
        left = marginals_of(lattice, cells, walk, used, task.k)
        allowed = max(task.cell_nodes - cell_nodes, 1)
        loss, visited = cheapest_fill(cells, fill, left, own, allowed, task.is_shortest, filled)
        cell_nodes += visited
        is_complete = is_complete and visited <= allowed
        if loss < np.inf:
            counts[:] = filled
            if task.is_shortest:
                shortest = walk.square[0] + basis.outside
                limit = walk.square[0] - ROUNDING * walk.square[0]
            else:
                best = task.bound - loss - slack
        if levels == 0:
            break
    return best, shortest, is_complete, nodes + cell_nodes
