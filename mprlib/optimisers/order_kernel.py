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

# A part of the beam is kept for the states nearest to the reference, one in so many.
NEAREST = 4


class Course(NamedTuple):
    """Places to be filled from C cells.

    Shapes:  scores (C, most), falling, of the items of each cell; capacity (C,), how many it has.
             functions (C, r), what one item of the cell adds to each function's gap.
             cells, ranks (N,), all items in falling score, as cell and place within the cell.
             weights (k,), falling, of the places; limits (k + 1,), on the gaps of the first j items added up.
             codes (C,), terms of a hash of counts.
    first: the fewest items that have a limit. is_ball: limits are on the length of the r gaps, else on each by itself.
    """

    scores: FloatArray
    capacity: IntArray
    functions: FloatArray
    cells: IntArray
    ranks: IntArray
    weights: FloatArray
    limits: FloatArray
    codes: IntArray
    first: int
    is_ball: bool


class Layer(NamedTuple):
    """States with the same number of items.

    Shapes:  counts (S, C), gaps (S, r), value and bound (S,); size (S,), that the gaps have, or cannot fall below where
             a limit is to come; parent (S,) and cell (S,), how each was reached; code (S,), a hash of the counts.
    """

    counts: IntArray
    gaps: FloatArray
    value: FloatArray
    bound: FloatArray
    size: FloatArray
    parent: IntArray
    cell: IntArray
    code: IntArray


@compiled
def length_of(gaps: FloatArray, is_ball: bool) -> float:
    """The length of some gaps (r,), or the largest."""
    found = 0.0
    for gap in gaps:
        found = found + gap * gap if is_ball else max(found, abs(gap))
    return np.sqrt(found) if is_ball else found


@compiled
def least_length(course: Course, counts: IntArray, gaps: FloatArray, more: int) -> float:
    """A lower bound on the length of the gaps after so many items more: along the gaps, or of the largest."""
    cells, length = counts.size, length_of(gaps, course.is_ball)
    if length == 0.0:
        return 0.0
    steps, left = np.zeros(cells), np.zeros(cells, np.int64)
    largest = np.argmax(np.abs(gaps))
    for cell in range(cells):
        left[cell] = course.capacity[cell] - counts[cell]
        if course.is_ball:
            for function in range(gaps.size):
                steps[cell] += course.functions[cell, function] * gaps[function] / length
        else:
            steps[cell] = course.functions[cell, largest] * np.sign(gaps[largest])
    for _ in range(more):
        best = -1
        for cell in range(cells):
            if left[cell] > 0 and (best < 0 or steps[cell] < steps[best]):
                best = cell
        if best < 0:
            return np.inf
        length += steps[best]
        left[best] -= 1
    return length


@compiled
def best_of_rest(course: Course, counts: IntArray, place: int) -> float:
    """The most that the places from this one on can add, with what is left in falling score."""
    total, k = 0.0, course.weights.size
    for at in range(course.cells.size):
        if place >= k:
            break
        if course.ranks[at] >= counts[course.cells[at]]:
            total += course.weights[place] * course.scores[course.cells[at], course.ranks[at]]
            place += 1
    return total


@compiled
def new_layer(size: int, cells: int, functions: int) -> Layer:
    """Room for so many states."""
    return Layer(
        np.zeros((size, cells), np.int64),
        np.zeros((size, functions)),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
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
    """States with one item more, into `found`; how many. None breaks a limit, or cannot exceed `least`."""
    table[:] = -1
    size, counts, gaps = 0, np.zeros(course.capacity.size, np.int64), np.zeros(course.functions.shape[1])
    for state in range(width):
        counts[:] = layer.counts[state]
        for cell in range(counts.size):
            if counts[cell] >= course.capacity[cell]:
                continue
            for function in range(gaps.size):
                gaps[function] = layer.gaps[state, function] + course.functions[cell, function]
            length = length_of(gaps, course.is_ball)
            if length > course.limits[place + 1]:
                continue
            value = layer.value[state] + course.weights[place] * course.scores[cell, counts[cell]]
            counts[cell] += 1
            if place + 1 < course.first:
                length = least_length(course, counts, gaps, course.first - place - 1)
                if length > course.limits[course.first]:
                    counts[cell] -= 1
                    continue
            code = layer.code[state] + course.codes[cell]
            slot = place_of(table, found, counts, code)
            if table[slot] >= 0:
                known = table[slot]
                if value > found.value[known]:
                    found.bound[known] += value - found.value[known]
                    found.value[known] = value
                    found.parent[known] = state
                    found.cell[known] = cell
            else:
                bound = value + best_of_rest(course, counts, place + 1)
                if bound > least:
                    table[slot] = size
                    found.counts[size] = counts
                    found.gaps[size] = gaps
                    found.value[size] = value
                    found.bound[size] = bound
                    found.size[size] = length
                    found.parent[size] = state
                    found.cell[size] = cell
                    found.code[size] = code
                    size += 1
            counts[cell] -= 1
    return size


@compiled
def kept(found: Layer, size: int, width: int) -> IntArray:
    """Which of the states go on: the largest bounds, and some of the smallest gaps among the others."""
    by_bound = np.argsort(-found.bound[:size], kind="mergesort")
    if size <= width:
        return by_bound
    first = width - width // NEAREST
    chosen = np.zeros(width, np.int64)
    chosen[:first] = by_bound[:first]
    rest = by_bound[first:]
    nearest = np.argsort(found.size[rest], kind="mergesort")
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
    slots = 16
    while slots < 4 * width * cells:
        slots *= 2
    table = np.zeros(slots, np.int64)
    parents, taken = np.zeros((k, width), np.int64), np.zeros((k, width), np.int64)
    states, dropped = 1, -np.inf
    for place in range(k):
        size = extended(course, layer, states, place, least, found, table)
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
