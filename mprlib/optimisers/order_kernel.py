"""Compiled: what is known of the first places of an order, from their counts of cells.

A prefix's gaps have limits, of its own length and of those to come. What is left adds most in falling score, whatever
its cells are: that bounds every order that begins with these items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


class Course(NamedTuple):
    """Places to be filled from C cells.

    Shapes:  scores (C, most), falling, of the items of each cell; capacity (C,), how many it has.
             functions (C, r), what one item of the cell adds to each function's gap.
             cells, ranks (N,), all items in falling score, as cell and place within the cell.
             weights (k,), falling, of the places; limits (k + 1,), on the length of the gaps of the first j items added
             up, for a ball; low, high (k + 1, r), on each of the gaps, for others.
             codes (C,), terms of a hash of counts.
    first: the fewest items that have a limit.
    """

    scores: FloatArray
    capacity: IntArray
    functions: FloatArray
    cells: IntArray
    ranks: IntArray
    weights: FloatArray
    limits: FloatArray
    low: FloatArray
    high: FloatArray
    codes: IntArray
    first: int
    is_ball: bool


class Rest(NamedTuple):
    """What is left of a state's items, in falling score: as many as there are places.

    Shapes:  at (C,), where each cell's next item is, or -1; ahead (k + 1,), what the items before one add when one has
             been taken before them; behind (k + 1,), what this and later ones add at the places that they have.
    """

    at: IntArray
    ahead: FloatArray
    behind: FloatArray


@compiled
def length_of(gaps: FloatArray, is_ball: bool) -> float:
    """The length of some gaps (r,), or the largest."""
    found = 0.0
    for gap in gaps:
        found = found + gap * gap if is_ball else max(found, abs(gap))
    return np.sqrt(found) if is_ball else found


@compiled
def least_length(course: Course, counts: IntArray, gaps: FloatArray, more: int) -> float:
    """A lower bound on the length of the gaps after so many items more: along the gaps."""
    cells, length = counts.size, length_of(gaps, True)
    if length == 0.0:
        return 0.0
    steps, left = np.zeros(cells), np.zeros(cells, np.int64)
    for cell in range(cells):
        left[cell] = course.capacity[cell] - counts[cell]
        for function in range(gaps.size):
            steps[cell] += course.functions[cell, function] * gaps[function] / length
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
def add_item(course: Course, before: FloatArray, cell: int, place: int, gaps: FloatArray) -> bool:
    """The gaps (r,) with an item of this cell at a place, into `gaps`; whether they are within their limits."""
    beyond = 0
    for function in range(gaps.size):
        gap = before[function] + course.functions[cell, function]
        gaps[function] = gap
        if not course.is_ball:
            beyond += (gap < course.low[place + 1, function]) | (gap > course.high[place + 1, function])
    return beyond == 0


@compiled
def distance_of(course: Course, counts: IntArray, gaps: FloatArray, place: int) -> float:
    """How far the gaps of the first places up to this one are from the reference; infinite where beyond a limit."""
    if not course.is_ball:
        # Against the room that each gap has.
        total = 0.0
        for function in range(gaps.size):
            low, high = course.low[place + 1, function], course.high[place + 1, function]
            off = (2.0 * gaps[function] - low - high) / (high - low + 1.0)
            total += off * off
        return total
    length = length_of(gaps, True)
    if length > course.limits[place + 1]:
        return np.inf
    if place + 1 < course.first:
        length = least_length(course, counts, gaps, course.first - place - 1)
        if length > course.limits[course.first]:
            return np.inf
    return length


@compiled
def rest_of(course: Course, counts: IntArray, place: int, rest: Rest) -> None:
    """What the places from this one on add at most, with what is left in falling score, if one of them is taken."""
    rest.at[:] = -1
    rest.ahead[0] = 0.0
    k, size = course.weights.size, 0
    for item in range(course.cells.size):
        if place + size >= k:
            break
        cell = course.cells[item]
        if course.ranks[item] >= counts[cell]:
            score = course.scores[cell, course.ranks[item]]
            if rest.at[cell] < 0:
                rest.at[cell] = size
            rest.behind[size] = course.weights[place + size] * score
            if place + size + 1 < k:
                rest.ahead[size + 1] = rest.ahead[size] + course.weights[place + size + 1] * score
            size += 1
    rest.behind[size] = 0.0
    for at in range(size - 1, -1, -1):
        rest.behind[at] += rest.behind[at + 1]


@compiled
def best_of_rest(rest: Rest, cell: int, places: int) -> float:
    """The most that so many places can add with what is left once the cell's next item is taken."""
    at = rest.at[cell]
    if at < 0:
        return float(rest.ahead[places])
    return float(rest.ahead[at] + rest.behind[at + 1])
