"""Compiled loops of `marginals`: the points of a lattice of marginal counts, and the cells that realise them.

A value of a coordinate (see `decoder_kernel`) is dropped when the part of v that is decided leaves the ball, when
even the best rest of the ball leaves the cap z.v >= rho |z| - gap, which what the counts decided so far lose at least
makes narrower, or when an attribute's counts cannot sum to k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.whole.decoder_kernel import ROUNDING, Basis, Walk, close, new_walk, next_value, open_level
from mprlib.optimisers.whole.marginal_fill_kernel import cheapest_fill
from mprlib.optimisers.whole.marginal_loss_kernel import Cells, Fill, least_of, prepare


class Lattice(NamedTuple):
    """Marginal counts c of the decided columns, and v as in `Basis`.

    Shapes:  attribute, column, capacity (d,) of each coordinate; is_final (d,), the last one of its attribute to be
             decided; rest (d,): items that the attribute's columns decided later can hold, its undecided ones included.
    """

    k: int
    attribute: IntArray
    column: IntArray
    capacity: IntArray
    is_final: IntArray
    rest: IntArray


@compiled
def reordered(lattice: Lattice, order: IntArray) -> Lattice:
    """The coordinates in another order (d,)."""
    attribute, capacity = lattice.attribute[order], lattice.capacity[order]
    is_final, rest = np.ones(order.size, np.int64), np.zeros(order.size, np.int64)
    for level in range(order.size):
        for other in range(order.size):
            if attribute[other] == attribute[level]:
                is_final[level] *= other >= level
                rest[level] = max(rest[level], lattice.rest[order[other]] + capacity[other])
        for later in range(level, order.size):
            rest[level] -= capacity[later] if attribute[later] == attribute[level] else 0
    return Lattice(lattice.k, attribute, lattice.column[order], capacity, is_final, rest)


class Task(NamedTuple):
    """What is asked for: rho; price length |z|; dual bound; nodes; nodes of one search among cells.

    is_shortest: the set of the smallest |v| in the place of the most similar one.
    """

    rho: float
    length: float
    bound: float
    nodes: int
    cell_nodes: int
    is_shortest: bool


class Loss(NamedTuple):
    """What the counts decided so far lose at least, by each attribute.

    Shapes:  of_attributes (attributes,); before (d,), its attribute's before a coordinate was decided.
    """

    of_attributes: FloatArray
    before: FloatArray


@uncounted
def largest(values: FloatArray) -> float:
    """The largest of some numbers of at least 0."""
    found = 0.0
    for place in range(values.size):
        found = max(found, values[place])
    return found


@uncounted
def least_with(lattice: Lattice, cells: Cells, fill: Fill, loss: Loss, level: int, value: int, taken: int) -> float:
    """The loss of a coordinate's attribute with this value; taken: of its attribute, the value included."""
    attribute = lattice.attribute[level]
    found = loss.of_attributes[attribute] + least_of(cells, fill, lattice.column[level], value)
    if lattice.is_final[level] == 1 and cells.last[attribute] >= 0:
        found += least_of(cells, fill, cells.last[attribute], lattice.k - taken)
    return float(found)


@uncounted
def decide(
    basis: Basis,
    lattice: Lattice,
    walk: Walk,
    used: IntArray,
    level: int,
    limits: tuple[float, float],
    known: tuple[Cells, Fill, Loss],
) -> bool:
    """Try the next value of a coordinate; whether it stays in the ball, in the cap, and within the counts.

    limits: the largest square of |v| and the least z.v, of counts that lose nothing.
    """
    limit, least = limits
    cells, fill, loss = known
    value, is_up = next_value(walk, level)
    taken = used[lattice.attribute[level]] + value
    column = lattice.column[level]
    low = fill.whole.low[column]
    if value < low or value > min(low + fill.whole.size[column], lattice.capacity[level]) or taken > lattice.k:
        # Values beyond the limit on the other side are still to come.
        if (value < low) != is_up:
            close(walk, level, is_up)
        return False
    if taken + lattice.rest[level] < lattice.k:
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
    most = priced + basis.reach[level] * np.sqrt(limit - square)
    if most < least:
        close(walk, level, is_up)
        return False
    own = least_with(lattice, cells, fill, loss, level, value, taken)
    if own == np.inf or most < least + max(own, largest(loss.of_attributes)):
        return False
    loss.before[level] = loss.of_attributes[lattice.attribute[level]]
    loss.of_attributes[lattice.attribute[level]] = own
    walk.value[level], walk.square[level], walk.priced[level] = value, square, priced
    return True


@uncounted
def next_point(
    basis: Basis,
    lattice: Lattice,
    walk: Walk,
    used: IntArray,
    level: int,
    limits: tuple[float, float],
    known: tuple[Cells, Fill, Loss],
    most: int,
) -> tuple[int, int]:
    """Go on from a coordinate to the next point: -1 there, else where the walk ended; and the nodes visited.

    limits, known: as in `decide`. most: nodes; more are visited where they ended the walk.
    """
    visited, loss = 0, known[2]
    while level < walk.value.size:
        if walk.is_taken[level] == 1:
            used[lattice.attribute[level]] -= walk.value[level]
            loss.of_attributes[lattice.attribute[level]] = loss.before[level]
            walk.is_taken[level] = 0
        if walk.is_up_open[level] == 0 and walk.is_down_open[level] == 0:
            level += 1
            continue
        visited += 1
        if visited > most:
            break
        if not decide(basis, lattice, walk, used, level, limits, known):
            continue
        used[lattice.attribute[level]] += walk.value[level]
        walk.is_taken[level] = 1
        if level == 0:
            return -1, visited
        level -= 1
        open_level(basis, walk, level, limits[0], lattice.capacity[level])
    return level, visited


@compiled
def marginals_of(lattice: Lattice, cells: Cells, walk: Walk, used: IntArray) -> IntArray:
    """The counts (l,) of every known column at a point."""
    left = np.zeros(cells.known.size, np.int64)
    if cells.attribute[left.size - 1] == cells.last.size:
        left[left.size - 1] = lattice.k
    for level in range(lattice.column.size):
        left[lattice.column[level]] = walk.value[level]
    for attribute in range(cells.last.size):
        if cells.last[attribute] >= 0:
            left[cells.last[attribute]] = lattice.k - used[attribute]
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
    fill = prepare(cells, budget, lattice.k)
    filled = np.zeros(counts.size, np.int64)
    loss = Loss(np.zeros(cells.last.size), np.zeros(levels))
    level = levels - 1
    if limit < 0.0:
        return best, shortest, True, 0
    if level >= 0:
        open_level(basis, walk, level, limit, lattice.capacity[level])
    while True:
        if levels > 0:
            limits = limit, task.rho * task.length - (task.bound - best) - ROUNDING
            most = task.nodes - nodes if cell_nodes <= task.cell_nodes else 0
            level, visited = next_point(basis, lattice, walk, used, level, limits, (cells, fill, loss), most)
            nodes += visited
            if level >= 0:
                is_complete = is_complete and visited <= most
                break
            level = 0
        slack = max(task.rho * task.length - walk.priced[0], 0.0)
        own = np.inf if task.is_shortest else task.bound - best - slack
        if not task.is_shortest and task.bound - best < 0.5 * budget:
            budget = task.bound - best
            fill = prepare(cells, budget, lattice.k)
        left = marginals_of(lattice, cells, walk, used)
        allowed = max(task.cell_nodes - cell_nodes, 1)
        lost, visited = cheapest_fill(cells, fill, left, own, allowed, task.is_shortest, filled)
        cell_nodes += visited
        is_complete = is_complete and visited <= allowed
        if lost < np.inf:
            counts[:] = filled
            if task.is_shortest:
                shortest = walk.square[0] + basis.outside
                limit = walk.square[0] - ROUNDING * walk.square[0]
            else:
                best = task.bound - lost - slack
        if levels == 0:
            break
    return best, shortest, is_complete, nodes + cell_nodes
