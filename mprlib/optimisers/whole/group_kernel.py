"""Compiled loops of `group_limits`: whole counts of cells under limits on the counts of groups.

At dual prices of the limits a set is below the dual bound by the losses of its cells and by what it leaves unused of
each priced limit. Both grow as cells are decided, one after another, depth first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.sorting_kernel import order_of
from mprlib.optimisers.whole.decoder_kernel import ROUNDING


class Grouped(NamedTuple):
    """Cells and the groups that hold them.

    Shapes:  group (F, sets of attributes), capacity (F,), loss (F, k + 1); low, high (groups,), limits of counts;
             price (groups,): of the upper limit where positive, of the lower one where negative.
    """

    k: int
    group: IntArray
    capacity: IntArray
    loss: FloatArray
    low: IntArray
    high: IntArray
    price: FloatArray


class Options(NamedTuple):
    """Counts of each cell below the budget, the cheapest first.  Shapes: size, order (F,); counts (F, k + 1);

    fewest, most (F + 1, groups), what the cells from each place of the order on add; items (F + 1, 2) in all.
    """

    counts: IntArray
    size: IntArray
    order: IntArray
    fewest: IntArray
    most: IntArray
    items: IntArray


@compiled
def unused(problem: Grouped, options: Options, taken: IntArray, group: int, place: int) -> float:
    """The least that a priced limit costs, whatever the cells from a place on add."""
    price: float = problem.price[group]
    left: int = taken[group] + options.fewest[place, group] - problem.low[group]
    if price > 0.0:
        left = problem.high[group] - taken[group] - options.most[place, group]
    return abs(price) * max(left, 0)


@compiled
def options_below(problem: Grouped, budget: float) -> Options:
    """The counts of each cell that lose at most the budget; cells with few of them come first."""
    cells, groups = problem.capacity.size, problem.low.size
    size, count = np.zeros(cells, np.int64), np.zeros((cells, problem.k + 1), np.int64)
    for cell in range(cells):
        largest = problem.capacity[cell]
        for place in range(problem.group.shape[1]):
            largest = min(largest, problem.high[problem.group[cell, place]])
        for taken in range(largest + 1):
            loss = problem.loss[cell, taken]
            if loss <= budget + ROUNDING:
                place = size[cell]
                while place > 0 and problem.loss[cell, count[cell, place - 1]] > loss:
                    count[cell, place] = count[cell, place - 1]
                    place -= 1
                count[cell, place] = taken
                size[cell] += 1
    order = order_of(size)
    fewest, most = np.zeros((cells + 1, groups), np.int64), np.zeros((cells + 1, groups), np.int64)
    items = np.zeros((cells + 1, 2), np.int64)
    for place in range(cells - 1, -1, -1):
        cell = order[place]
        fewest[place], most[place] = fewest[place + 1], most[place + 1]
        if size[cell] == 0:
            continue
        low, top = count[cell, : size[cell]].min(), count[cell, : size[cell]].max()
        for one in range(problem.group.shape[1]):
            fewest[place, problem.group[cell, one]] += low
            most[place, problem.group[cell, one]] += top
        items[place, 0] = items[place + 1, 0] + low
        items[place, 1] = items[place + 1, 1] + top
    return Options(count, size, order, fewest, most, items)


@compiled
def step_cost(problem: Grouped, options: Options, taken: IntArray, place: int, count: int) -> float:
    """What deciding a cell's count adds to the least that priced limits cost; infinite where a limit is broken."""
    cell, added = options.order[place], 0.0
    for one in range(problem.group.shape[1]):
        group = problem.group[cell, one]
        after = taken[group] + count
        if after + options.fewest[place + 1, group] > problem.high[group]:
            return np.inf
        if after + options.most[place + 1, group] < problem.low[group]:
            return np.inf
        if problem.price[group] != 0.0:
            added -= unused(problem, options, taken, group, place)
            taken[group] += count
            added += unused(problem, options, taken, group, place + 1)
            taken[group] -= count
    return added


@compiled
def take(problem: Grouped, taken: IntArray, cell: int, count: int) -> None:
    """Add items of a cell to its groups."""
    for one in range(problem.group.shape[1]):
        taken[problem.group[cell, one]] += count


@compiled
def cheapest(
    problem: Grouped, bound: float, start: float, nodes: int, is_any: bool, counts: IntArray
) -> tuple[float, bool, int]:
    """The best counts (F,), written where they beat the similarity `start`; is_any: the first ones will do.

    Returns the best similarity, whether the search was finished, and the nodes visited.
    """
    cells = problem.capacity.size
    options = options_below(problem, bound - start)
    taken = np.zeros(problem.low.size, np.int64)
    pick, total = np.zeros(cells + 1, np.int64), np.zeros(cells + 1, np.int64)
    cost = np.zeros(cells + 1)
    for group in range(problem.low.size):
        if options.most[0, group] < problem.low[group] or options.fewest[0, group] > problem.high[group]:
            return start, True, 0
        cost[0] += unused(problem, options, taken, group, 0)
    place, visited, best = 0, 0, start
    while place >= 0:
        is_done = place == cells
        if is_done and total[place] == problem.k and bound - cost[place] > best + ROUNDING:
            best = bound - cost[place]
            for earlier in range(cells):
                cell = options.order[earlier]
                counts[cell] = options.counts[cell, pick[earlier] - 1]
            if is_any:
                break
        if is_done or pick[place] >= options.size[options.order[place]]:
            if not is_done:
                pick[place] = 0
            place -= 1
            if place >= 0:
                cell = options.order[place]
                take(problem, taken, cell, -options.counts[cell, pick[place] - 1])
            continue
        cell = options.order[place]
        count = options.counts[cell, pick[place]]
        pick[place] += 1
        visited += 1
        if visited > nodes:
            return best, False, visited
        after = total[place] + count
        if after + options.items[place + 1, 0] > problem.k or after + options.items[place + 1, 1] < problem.k:
            continue
        spent = cost[place] + problem.loss[cell, count]
        if spent > bound - best - ROUNDING:
            # The others lose more.
            pick[place] = options.size[cell]
            continue
        spent += step_cost(problem, options, taken, place, count)
        if spent > bound - best - ROUNDING:
            continue
        take(problem, taken, cell, count)
        place += 1
        total[place], cost[place] = after, spent
    return best, True, visited
