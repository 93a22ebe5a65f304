"""Compiled search for orders whose prefixes stay near the reference: a beam over counts of cells, with a bound.

Within a cell better items come first, so that what stands in the first j places is known from their counts of cells.
Two ways to the same counts leave the same items for the same places: the better one is kept (dynamic programming). A
state's bound adds the best of what is left in falling score. Of more states than the beam is wide, those with the
largest bounds go on, and some of those nearest to the reference; what was dropped bounds every order that went
through it. Where nothing was dropped the best order found is best, and without one there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.order_kernel import Course, Rest, add_item, best_of_rest, distance_of, rest_of
from mprlib.optimisers.sorting_kernel import order_of

# A part of the beam is kept for the states nearest to the reference, one in so many.
NEAREST = 4


class Layer(NamedTuple):
    """States with the same number of items.

    Shapes:  counts (S, C), gaps (S, r), value and bound (S,); distance (S,), of the gaps from the reference;
             parent (S,) and cell (S,), how each was reached; code (S,), a hash of the counts.
    """

    counts: IntArray
    gaps: FloatArray
    value: FloatArray
    bound: FloatArray
    distance: FloatArray
    parent: IntArray
    cell: IntArray
    code: IntArray


@compiled
def new_layer(size: int, cells: int, functions: int) -> Layer:
    """Room for so many states, with nothing in it."""
    return Layer(
        np.empty((size, cells), np.int64),
        np.empty((size, functions)),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


@compiled
def place_of(table: IntArray, layer: Layer, counts: IntArray, code: int) -> int:
    """The slot of a hash table for these counts: that of the state that has them, or an empty one."""
    slot = code & (table.size - 1)
    while table[slot] >= 0:
        is_same = layer.code[table[slot]] == code
        for cell in range(counts.size):
            if not is_same:
                break
            is_same = layer.counts[table[slot], cell] == counts[cell]
        if is_same:
            return slot
        slot = (slot + 1) & (table.size - 1)
    return slot


@compiled
def extended(course: Course, layer: Layer, width: int, place: int, least: float, found: Layer, table: IntArray) -> int:
    """States with one item more, into `found`; how many. None breaks a limit, or cannot exceed `least`.

    table: of hashes, twice as many as states may be found, all -1.
    """
    k, cells = course.weights.size, course.capacity.size
    size, counts, gaps = 0, np.zeros(cells, np.int64), np.zeros(course.functions.shape[1])
    rest = Rest(np.zeros(cells, np.int64), np.zeros(k + 1), np.zeros(k + 1))
    for state in range(width):
        counts[:] = layer.counts[state]
        rest_of(course, counts, place, rest)
        for cell in range(cells):
            if counts[cell] >= course.capacity[cell]:
                continue
            value = layer.value[state] + course.weights[place] * course.scores[cell, counts[cell]]
            bound = value + best_of_rest(rest, cell, k - place - 1)
            if bound <= least:
                continue
            counts[cell] += 1
            code = layer.code[state] + course.codes[cell]
            slot = place_of(table, found, counts, code)
            known = table[slot]
            if known >= 0:
                if value > found.value[known]:
                    found.bound[known] = bound
                    found.value[known] = value
                    found.parent[known] = state
                    found.cell[known] = cell
            elif add_item(course, layer.gaps[state], cell, place, gaps):
                distance = distance_of(course, counts, gaps, place)
                if distance < np.inf:
                    table[slot] = size
                    found.counts[size] = counts
                    found.gaps[size] = gaps
                    found.value[size] = value
                    found.bound[size] = bound
                    found.distance[size] = distance
                    found.parent[size] = state
                    found.cell[size] = cell
                    found.code[size] = code
                    size += 1
            counts[cell] -= 1
    return size


@compiled
def kept(found: Layer, size: int, width: int) -> IntArray:
    """Which of the states go on: the largest bounds, and some of the smallest gaps among the others."""
    by_bound = order_of(-found.bound[:size])
    if size <= width:
        return by_bound
    first = width - width // NEAREST
    chosen = np.zeros(width, np.int64)
    chosen[:first] = by_bound[:first]
    rest = by_bound[first:]
    nearest = order_of(found.distance[rest])
    chosen[first:] = rest[nearest[: width - first]]
    return chosen


@compiled
def dropped_bound(found: Layer, size: int, chosen: IntArray) -> float:
    """The largest bound of the states that do not go on; -inf where all do."""
    is_kept = np.zeros(size, np.bool_)
    for state in chosen:
        is_kept[state] = True
    largest = -np.inf
    for state in range(size):
        if not is_kept[state]:
            largest = max(largest, found.bound[state])
    return largest


@compiled
def searched(course: Course, width: int, least: float) -> tuple[IntArray, float, float]:
    """The cells (k,) of the best order found, its value, and a bound on the value of every order but those at `least`
    or below. The cells are empty where no order was found; the bound is -inf where there is none above `least`."""
    k, cells, functions = course.weights.size, course.capacity.size, course.functions.shape[1]
    layer, found = new_layer(width, cells, functions), new_layer(width * cells, cells, functions)
    layer.counts[0], layer.gaps[0], layer.value[0], layer.code[0] = 0, 0.0, 0.0, 0
    parents, taken = np.zeros((k, width), np.int64), np.zeros((k, width), np.int64)
    states, dropped = 1, -np.inf
    for place in range(k):
        slots = 16
        while slots < 2 * states * cells:
            slots *= 2
        size = extended(course, layer, states, place, least, found, np.full(slots, -1))
        if size == 0:
            return np.zeros(0, np.int64), -np.inf, dropped
        chosen = kept(found, size, width)
        dropped = max(dropped, dropped_bound(found, size, chosen))
        states = chosen.size
        for at in range(states):
            layer.counts[at] = found.counts[chosen[at]]
            layer.gaps[at] = found.gaps[chosen[at]]
            layer.value[at] = found.value[chosen[at]]
            layer.code[at] = found.code[chosen[at]]
            parents[place, at] = found.parent[chosen[at]]
            taken[place, at] = found.cell[chosen[at]]
    order, state = np.zeros(k, np.int64), int(np.argmax(layer.value[:states]))
    value = layer.value[state]
    for place in range(k - 1, -1, -1):
        order[place] = taken[place, state]
        state = parents[place, state]
    return order, value, max(value, dropped)
