"""Compiled loops of `item_swaps`: products of items, and swaps that ascend.

With a_j = s_j - (2 M_j . v + |M_j|^2) / (2 t) for the item j that comes and d_i likewise for the item i that goes, a
swap changes the merit similarity - |v|^2 / (2 t) by

    a_j + d_i + K_ij / t,       d_i = -s_i + (2 M_i . v - |M_i|^2) / (2 t).

Each item i of the set in turn is exchanged for the best j, until none of them gains: an ascent then looks at hardly
more than k rows of K for all its swaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.random_kernel import below, next_state, part

# Numbers that are compared beside each other.
LANES = 128


class Shortlist(NamedTuple):
    """Items among which sets are searched: scores (C,), squares (C,) and products (C, C) of their features."""

    scores: FloatArray
    squares: FloatArray
    products: FloatArray


class State(NamedTuple):
    """A set under search: chosen (k,), their places in the shortlist; is_chosen (C,); lean (C,) = M v; square (1,)."""

    chosen: IntArray
    is_chosen: BoolArray
    lean: FloatArray
    square: FloatArray


@compiled
def complete(features: FloatArray, known: int, found: FloatArray) -> None:
    """Write the products (C, C) of features (C, r) that are not those of the first `known` items with each other.

    Each is summed in the order of the columns. r is even, C at least 2.
    """
    count, columns = features.shape
    by_column = features.T.copy()
    for place in range(known, count, 2):
        # Two rows and two columns at a time, so that a number that is read serves more than one sum.
        row = min(place, count - 2)
        upper, lower = found[row], found[row + 1]
        upper[: row + 2] = 0.0
        lower[: row + 2] = 0.0
        for column in range(0, columns, 2):
            first, second = by_column[column], by_column[column + 1]
            one, two = features[row, column], features[row, column + 1]
            three, four = features[row + 1, column], features[row + 1, column + 1]
            for other in range(row + 2):
                upper[other] = (upper[other] + one * first[other]) + two * second[other]
                lower[other] = (lower[other] + three * first[other]) + four * second[other]
        for other in range(row + 2):
            found[other, row], found[other, row + 1] = upper[other], lower[other]


@compiled
def gather(known: FloatArray, places: IntArray, found: FloatArray) -> None:
    """Write the products of the items at some places (c,) as those of the first c."""
    for row in range(places.size):
        own = known[places[row]]
        for other in range(places.size):
            found[row, other] = own[places[other]]


@compiled
def place(listed: Shortlist, state: State) -> None:
    """Compute all of a state from its chosen items."""
    state.is_chosen[:] = False
    state.lean[:] = 0.0
    for item in state.chosen:
        state.is_chosen[item] = True
        own = listed.products[item]
        for other in range(own.size):
            state.lean[other] += own[other]
    square = 0.0
    for item in state.chosen:
        square += state.lean[item]
    state.square[0] = max(square, 0.0)


@compiled
def swap(listed: Shortlist, state: State, position: int, new: int) -> None:
    """Exchange the item at a position of the set."""
    old, products, squares = state.chosen[position], listed.products, listed.squares
    state.square[0] += (squares[new] + 2.0 * state.lean[new]) + (squares[old] - 2.0 * state.lean[old])
    state.square[0] -= 2.0 * products[old, new]
    for item in range(state.lean.size):
        state.lean[item] += products[new, item] - products[old, item]
    state.is_chosen[old], state.is_chosen[new] = False, True
    state.chosen[position] = new


@compiled
def largest(values: FloatArray, lanes: FloatArray) -> float:
    """The largest of values (C,), C a multiple of LANES: without branches, in so many maxima (LANES,)."""
    lanes[:] = values[:LANES]
    for start in range(LANES, values.size, LANES):
        block = values[start : start + LANES]
        for lane in range(LANES):
            lanes[lane] = block[lane] if block[lane] > lanes[lane] else lanes[lane]
    most = -np.inf
    for value in lanes:
        if value > most:
            most = value
    return most


@compiled
def place_of(value: float, values: FloatArray) -> int:
    """Where a value is first."""
    for place in range(values.size):
        if values[place] == value:
            return place
    return -1


@compiled
def ascend(listed: Shortlist, state: State, time: float, smallest_gain: float, swaps: int) -> None:
    """Ascent on similarity - |v|^2 / (2 t) for t = `time`: each item of the set in turn goes for the best other."""
    scores, squares, products, count = listed.scores, listed.squares, listed.products, listed.scores.size
    values, lanes, coming = np.full(count + LANES - 1 - (count - 1) % LANES, -np.inf), np.empty(LANES), np.empty(count)
    position, idle, is_moved = 0, 0, True
    while idle < state.chosen.size and swaps > 0:
        if is_moved:
            for other in range(count):
                coming[other] = scores[other] - (2.0 * state.lean[other] + squares[other]) / (2.0 * time)
            for item in state.chosen:
                coming[item] = -np.inf
        item = state.chosen[position]
        own, factor = products[item], 1.0 / time
        for other in range(count):
            values[other] = coming[other] + factor * own[other]
        most = largest(values, lanes)
        is_moved = most - scores[item] + (2.0 * state.lean[item] - squares[item]) / (2.0 * time) > smallest_gain
        if is_moved:
            swap(listed, state, position, place_of(most, values))
            swaps -= 1
        idle = 0 if is_moved else idle + 1
        position = (position + 1) % state.chosen.size


@compiled
def improve(listed: Shortlist, state: State, limit: float, smallest_gain: float, swaps: int) -> None:
    """Ascent on similarity by swaps that leave |v|^2 within a limit."""
    scores, squares, products, count = listed.scores, listed.squares, listed.products, listed.scores.size
    values, lanes, room = np.full(count + LANES - 1 - (count - 1) % LANES, -np.inf), np.empty(LANES), np.empty(count)
    position, idle, is_moved = 0, 0, True
    while idle < state.chosen.size and swaps > 0:
        if is_moved:
            for other in range(count):
                room[other] = limit - state.square[0] - (2.0 * state.lean[other] + squares[other])
            for item in state.chosen:
                room[item] = -np.inf
        item = state.chosen[position]
        own, going = products[item], squares[item] - 2.0 * state.lean[item]
        for other in range(count):
            values[other] = scores[other] if going - 2.0 * own[other] <= room[other] else -np.inf
        most = largest(values, lanes)
        is_moved = most - scores[item] > smallest_gain
        if is_moved:
            swap(listed, state, position, place_of(most, values))
            swaps -= 1
        idle = 0 if is_moved else idle + 1
        position = (position + 1) % state.chosen.size


@compiled
def exchange(listed: Shortlist, state: State, time: float, count: int, choices: int, random: np.uint64) -> np.uint64:
    """Exchange `count` random items, each for one of the best others, also where that loses; the next random state."""
    scores, squares, products = listed.scores, listed.squares, listed.products
    gains, best = np.empty(choices), np.empty(choices, np.int64)
    for turn in range(count):
        random = next_state(random)
        # The first `turn` items of the set are those that were exchanged already.
        position = turn + below(part(random, 0), state.chosen.size - turn)
        item = state.chosen[position]
        found = 0
        for other in range(scores.size):
            if state.is_chosen[other]:
                continue
            change = 2.0 * state.lean[other] + squares[other] - 2.0 * products[item, other]
            gain = scores[other] - change / (2.0 * time)
            if found == choices and gain <= gains[found - 1]:
                continue
            found = min(found + 1, choices)
            at = found - 1
            while at > 0 and gains[at - 1] < gain:
                gains[at], best[at] = gains[at - 1], best[at - 1]
                at -= 1
            gains[at], best[at] = gain, other
        swap(listed, state, position, best[below(part(random, 1), found)])
        state.chosen[turn], state.chosen[position] = state.chosen[position], state.chosen[turn]
    return random


class Rule(NamedTuple):
    """An iterated local search: so many restarts, with swaps at most per ascent.

    exchanged, choices: per restart so many items, each for one of some choices; twice and three times as many in every
    second restart. cooling, lowest, back: t falls by a factor per step to its lowest part, and steps back by another.
    """

    restarts: int
    swaps: int
    exchanged: int
    choices: int
    cooling: float
    lowest: float
    back: float
    smallest_gain: float


@compiled
def search(listed: Shortlist, rule: Rule, rho: float, time: float, state: State, best: IntArray, most: float) -> float:
    """The largest similarity of sets within rho, from chosen items on; the set is written to `best` (k,).

    best, most: the set known and its similarity; -inf where none is, and then `best` is the one nearest to rho.
    """
    limit, part_of, random, nearest = rho * rho, 1.0, np.uint64(1), np.inf
    place(listed, state)
    for turn in range(rule.restarts):
        while True:
            ascend(listed, state, part_of * time, rule.smallest_gain, rule.swaps)
            if state.square[0] <= limit or part_of <= rule.lowest:
                break
            part_of *= rule.cooling
        if most == -np.inf and state.square[0] < nearest:
            nearest = state.square[0]
            best[:] = state.chosen
        if state.square[0] <= limit:
            improve(listed, state, limit, rule.smallest_gain, rule.swaps)
            similarity = 0.0
            for item in state.chosen:
                similarity += listed.scores[item]
            if similarity > most + rule.smallest_gain:
                most = similarity
                best[:] = state.chosen
        state.chosen[:] = best
        place(listed, state)
        part_of = min(1.0, part_of * rule.back)
        exchanged, choices = rule.exchanged, rule.choices
        if turn % 2 == 1:
            exchanged, choices = min(2 * exchanged, state.chosen.size), 3 * choices
        random = exchange(listed, state, part_of * time, exchanged, choices, random)
    return most
