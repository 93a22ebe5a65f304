"""Compiled loops of `cell_lattice`: whole counts of cells, one cell after another.

A count is dropped when the part of v that is decided leaves the ball, or when the losses so far and the least that
the rest of the ball leaves unused of rho exceed the gap. Both are convex in the count: once their sum rises beyond
the gap, no further count on that side is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.decoder_kernel import ROUNDING, Basis, Walk, close, new_walk, next_value, open_level


class Counted(NamedTuple):
    """Cells in the order of the coordinates; the last one takes what is left of k.

    Shapes:  cell, capacity, rest (d,): the cell, its capacity, and what the cells decided later and the last one hold;
             loss (F, k + 1); is_determined (d,): 0 where the cell's step lies in the span of those decided later.
    """

    cell: IntArray
    capacity: IntArray
    rest: IntArray
    is_determined: IntArray
    loss: FloatArray
    last: int
    last_capacity: int


class CountTask(NamedTuple):
    """What is asked for: rho; k; price length |z|; dual bound; nodes.

    is_shortest: the set of the smallest |v| in the place of the most similar one.
    """

    k: int
    rho: float
    length: float
    bound: float
    nodes: int
    is_shortest: bool


class Sums(NamedTuple):
    """Items and losses of the cells decided (d + 1,), and the last excess on either side of a cell (d,)."""

    taken: IntArray
    lost: FloatArray
    excess_up: FloatArray
    excess_down: FloatArray


@compiled
def open_cell(basis: Basis, cells: Counted, walk: Walk, sums: Sums, level: int, limit: float) -> None:
    """Start a cell; where v does not tell its counts apart, from the cheapest one."""
    sums.excess_up[level] = np.inf
    sums.excess_down[level] = np.inf
    if cells.is_determined[level] == 1:
        open_level(basis, walk, level, limit, cells.capacity[level])
        return
    walk.line[level] = 0.0
    cheapest = np.argmin(cells.loss[cells.cell[level]])
    walk.centre[level] = cheapest
    walk.down[level] = cheapest
    walk.up[level] = cheapest + 1
    walk.is_up_open[level] = 1
    walk.is_down_open[level] = 1


@compiled
def is_beyond(walk: Walk, sums: Sums, level: int, is_up: bool, excess: float) -> None:
    """A count was dropped by its excess: no further one on that side where the excess rises."""
    last = sums.excess_up[level] if is_up else sums.excess_down[level]
    if excess >= last:
        close(walk, level, is_up)
    if is_up:
        sums.excess_up[level] = excess
    else:
        sums.excess_down[level] = excess


@compiled
def decide_count(
    basis: Basis, cells: Counted, walk: Walk, sums: Sums, level: int, limit: float, task: CountTask, gap: float
) -> bool:
    """Try the next count of a cell; whether it stays in the ball, below the gap, and within k."""
    value, is_up = next_value(walk, level)
    taken = sums.taken[level + 1] + value
    if value < 0 or value > cells.capacity[level] or taken > task.k:
        if (value < 0) != is_up:
            close(walk, level, is_up)
        return False
    if taken + cells.rest[level] < task.k:
        if not is_up:
            close(walk, level, is_up)
        return False
    step = 0.0
    if cells.is_determined[level] == 1:
        step = walk.line[level] + basis.triangle[level, level] * value
    square = walk.square[level + 1] + step * step
    if square > limit:
        if (step > 0.0) == is_up:
            close(walk, level, is_up)
        return False
    priced = walk.priced[level + 1] + basis.along[level] * step
    lost = sums.lost[level + 1] + cells.loss[cells.cell[level], value]
    if not task.is_shortest:
        unused = task.rho * task.length - priced - basis.reach[level] * np.sqrt(limit - square)
        excess = lost + max(unused, 0.0)
        if excess > gap - ROUNDING:
            is_beyond(walk, sums, level, is_up, excess)
            return False
    walk.value[level], walk.square[level], walk.priced[level] = value, square, priced
    sums.taken[level], sums.lost[level] = taken, lost
    return True


@compiled
def counted(
    basis: Basis, cells: Counted, task: CountTask, start: float, counts: IntArray
) -> tuple[float, float, bool, int]:
    """The best counts (F,), written where they beat the similarity `start`, or the shortest ones within rho.

    Returns the best similarity, the square of the smallest |v| (infinite where none was found), whether the search
    was finished, and the nodes visited.
    """
    levels = basis.offset.size
    walk = new_walk(levels)
    sums = Sums(np.zeros(levels + 1, np.int64), np.zeros(levels + 1), np.zeros(levels), np.zeros(levels))
    walk.priced[levels] = basis.constant
    limit = task.rho * task.rho - basis.outside
    best, shortest, nodes, level = start, np.inf, 0, levels - 1
    if limit < 0.0:
        return best, shortest, True, 0
    if level >= 0:
        open_cell(basis, cells, walk, sums, level, limit)
    while True:
        if level >= 0:
            if walk.is_up_open[level] == 0 and walk.is_down_open[level] == 0:
                walk.value[level] = 0
                level += 1
                if level == levels:
                    break
                continue
            nodes += 1
            if nodes > task.nodes:
                return best, shortest, False, nodes
            if not decide_count(basis, cells, walk, sums, level, limit, task, task.bound - best):
                continue
            if level > 0:
                level -= 1
                open_cell(basis, cells, walk, sums, level, limit)
                continue
        left = task.k - sums.taken[0]
        if 0 <= left <= cells.last_capacity:
            unused = max(task.rho * task.length - walk.priced[0], 0.0)
            similarity = task.bound - sums.lost[0] - cells.loss[cells.last, left] - unused
            if task.is_shortest or similarity > best + ROUNDING:
                best = similarity
                shortest = walk.square[0] + basis.outside
                counts[:] = 0
                for place in range(levels):
                    counts[cells.cell[place]] = walk.value[place]
                counts[cells.last] = left
                if task.is_shortest:
                    limit = walk.square[0] - ROUNDING * walk.square[0]
        if levels == 0:
            break
    return best, shortest, True, nodes
