"""Compiled parts of selecting items and order together: a dual bound, a local search, and branch and bound.

The places i = 1, ..., k have falling weights w_i, and an order is a sequence of cells: within a cell better items come
first. With prices z of the class's functions, and a_i = s_i - z . M_g for an item of cell g,

    sum w_i s_(i) <= sum w_i a_[i] + rho |z|            for every order with |sum w_i M_(i)| <= rho,

where a_[1] >= a_[2] >= ... are the largest values of a. Without scores the same inequality bounds rho.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.order_kernel import length_of

# Gaps of values that are rounding.
ROUNDING = 1e-12
# Iterations without a better bound after which the expected improvement is halved.
PATIENCE = 12
# Places exchanged with the next so many in a step of the local search of long orders.
REACH = 64


class Places(NamedTuple):
    """Places to be filled from G cells.

    Shapes:  scores (G, most), falling, of the items of each cell, -inf where there are no more; capacity (G,).
             functions (G, r), the gaps that one item adds, centred; weights (k,), falling.
    is_ball: the limit is on the length of the r gaps, else on each of them.
    """

    scores: FloatArray
    capacity: IntArray
    functions: FloatArray
    weights: FloatArray
    is_ball: bool


class Rest(NamedTuple):
    """Values, falling, and the cells that they are of; the first `size` are meant."""

    cells: IntArray
    values: FloatArray
    size: int


class Dual(NamedTuple):
    """What the dual found: prices (r,), the bound that they prove; the order (k,) of the best value among those within
    rho, or of the smallest gap, and whether it is within rho."""

    prices: FloatArray
    bound: float
    order: IntArray
    is_within: bool


@compiled
def dual_length(prices: FloatArray, is_ball: bool) -> float:
    """What rho is multiplied with: the prices' length, or their sum."""
    found = 0.0
    for price in prices:
        found += price * price if is_ball else abs(price)
    return np.sqrt(found) if is_ball else found


@compiled
def cell_prices(places: Places, prices: FloatArray) -> FloatArray:
    """z . M_g (G,)."""
    found = np.zeros(places.capacity.size)
    for cell in range(found.size):
        for function in range(prices.size):
            found[cell] += places.functions[cell, function] * prices[function]
    return found


@compiled
def fill_best(
    places: Places, price: FloatArray, factor: float, counts: IntArray, cells: IntArray, values: FloatArray
) -> int:
    """The largest of the values factor * score - price that are left, falling, with their cells; how many there are."""
    taken, size = counts.copy(), 0
    while size < values.size:
        best, highest = -1, -np.inf
        for cell in range(taken.size):
            if taken[cell] < places.capacity[cell]:
                value = factor * places.scores[cell, taken[cell]] - price[cell]
                if value > highest:
                    best, highest = cell, value
        if best < 0:
            break
        cells[size], values[size] = best, highest
        taken[best] += 1
        size += 1
    return size


@compiled
def gaps_of(places: Places, order: IntArray) -> FloatArray:
    """sum w_i M_(i) (r,) of an order."""
    gaps = np.zeros(places.functions.shape[1])
    for place in range(order.size):
        for function in range(gaps.size):
            gaps[function] += places.weights[place] * places.functions[order[place], function]
    return gaps


@compiled
def value_of(places: Places, order: IntArray, taken: IntArray) -> float:
    """sum w_i s_(i) of an order; -inf where a cell has too few items. taken (G,) is scratch."""
    taken[:] = 0
    total = 0.0
    for place in range(order.size):
        cell = order[place]
        if taken[cell] >= places.capacity[cell]:
            return -np.inf
        total += places.weights[place] * places.scores[cell, taken[cell]]
        taken[cell] += 1
    return total


@compiled
def highest_of(places: Places) -> float:
    """The largest value of all orders: by score alone."""
    k, size = places.weights.size, places.capacity.size
    cells, values = np.zeros(k, np.int64), np.zeros(k)
    fill_best(places, np.zeros(size), 1.0, np.zeros(size, np.int64), cells, values)
    highest = 0.0
    for place in range(k):
        highest += places.weights[place] * values[place]
    return highest


@compiled
def minimised(places: Places, rho: float, start: FloatArray, factor: float, iterations: int) -> Dual:
    """The dual's bound by subgradients with Polyak's steps towards an expected value. factor: of the scores; at 0 the
    bound, once it is negative, proves that no order is within rho."""
    k, prices = places.weights.size, start.copy()
    cells, values = np.zeros(k, np.int64), np.zeros(k)
    none, taken = np.zeros(places.capacity.size, np.int64), np.zeros(places.capacity.size, np.int64)
    best_prices, bound = prices.copy(), np.inf
    order, best_value, least, is_within = np.zeros(k, np.int64), -np.inf, np.inf, False
    expected, without = -1.0, 0
    for _ in range(iterations):
        size = dual_length(prices, places.is_ball)
        fill_best(places, cell_prices(places, prices), factor, none, cells, values)
        found = rho * size
        for place in range(k):
            found += places.weights[place] * values[place]
        gaps = gaps_of(places, cells)
        length = length_of(gaps, places.is_ball)
        value = value_of(places, cells, taken)
        if length <= rho and (not is_within or value > best_value):
            is_within, best_value = True, value
            order[:] = cells
        elif not is_within and length < least:
            least = length
            order[:] = cells
        without += 1
        if found < bound - ROUNDING:
            if found < bound - 0.1 * abs(expected):
                without = 0
            bound = found
            best_prices[:] = prices
        if expected < 0.0:
            expected = max(0.05 * abs(found), ROUNDING) if best_value == -np.inf else max(found - best_value, ROUNDING)
        if is_within and factor > 0.0 and bound - best_value <= ROUNDING:
            break
        if without >= PATIENCE:
            expected, without = 0.5 * expected, 0
            prices[:] = best_prices
            if expected < ROUNDING:
                break
            continue
        # The direction in which the bound rises.
        square = 0.0
        for function in range(gaps.size):
            toward = 0.0
            if size > 0.0:
                toward = rho * prices[function] / size if places.is_ball else rho * np.sign(prices[function])
            gaps[function] = toward - gaps[function]
            square += gaps[function] * gaps[function]
        if square <= 0.0 or (size == 0.0 and length <= rho):
            break
        step = (found - (bound - expected)) / square
        for function in range(gaps.size):
            moved = prices[function] - step * gaps[function]
            # A price that changes sides stops where its gap has no price.
            if not places.is_ball and prices[function] * moved < 0.0:
                moved = 0.0
            prices[function] = moved
    return Dual(best_prices, bound, order, is_within)


@compiled
def climbed(places: Places, given: IntArray, rho: float, penalty: float, steps: int) -> tuple[IntArray, float, float]:
    """An order by steepest ascent on value - penalty * (gap beyond rho), its value and its gap.

    Moves exchange the cells of two places, or put another cell's item at a place.
    """
    order, taken = given.copy(), np.zeros(places.capacity.size, np.int64)
    k, size = order.size, places.capacity.size
    gaps = gaps_of(places, order)
    after = np.zeros(gaps.size)
    value, length = value_of(places, order, taken), length_of(gaps, places.is_ball)
    merit, highest = value - penalty * max(length - rho, 0.0), highest_of(places)
    for _ in range(steps):
        best, best_place, best_cell, is_exchange = merit + ROUNDING, -1, -1, False
        for place in range(k):
            own = order[place]
            for other in range(place + 1, min(k, place + REACH)):
                cell = order[other]
                if cell == own:
                    continue
                weight = places.weights[place] - places.weights[other]
                for function in range(after.size):
                    step = places.functions[cell, function] - places.functions[own, function]
                    after[function] = gaps[function] + weight * step
                beyond = penalty * max(length_of(after, places.is_ball) - rho, 0.0)
                if highest - beyond <= best:
                    continue
                order[place], order[other] = cell, own
                tried = value_of(places, order, taken) - beyond
                order[place], order[other] = own, cell
                if tried > best:
                    best, best_place, best_cell, is_exchange = tried, place, other, True
            for cell in range(size):
                if cell == own:
                    continue
                for function in range(after.size):
                    step = places.functions[cell, function] - places.functions[own, function]
                    after[function] = gaps[function] + places.weights[place] * step
                beyond = penalty * max(length_of(after, places.is_ball) - rho, 0.0)
                if highest - beyond <= best:
                    continue
                order[place] = cell
                tried = value_of(places, order, taken) - beyond
                order[place] = own
                if tried > best:
                    best, best_place, best_cell, is_exchange = tried, place, cell, False
        if best_place < 0:
            break
        if is_exchange:
            order[best_place], order[best_cell] = order[best_cell], order[best_place]
        else:
            order[best_place] = best_cell
        merit = best
        gaps = gaps_of(places, order)
        value = value_of(places, order, taken)
    return order, value, length_of(gaps, places.is_ball)


@compiled
def branched(
    places: Places, rho: float, prices: FloatArray, least: float, nodes: int
) -> tuple[IntArray, float, float, int]:
    """Depth first over the places: the best order found above `least`, its value, a bound, and the nodes it took.

    The order is empty where none is above. The bound is that of what was not looked at, or -inf where all was.
    """
    k, size, functions = places.weights.size, places.capacity.size, prices.size
    price, unused = cell_prices(places, prices), rho * dual_length(prices, places.is_ball)
    counts, order, best_order = np.zeros(size, np.int64), np.zeros(k, np.int64), np.zeros(0, np.int64)
    value, priced, gaps = np.zeros(k + 1), np.zeros(k + 1), np.zeros((k + 1, functions))
    children, bounds = np.zeros((k, size), np.int64), np.zeros((k, size))
    number, place_in = np.zeros(k, np.int64), np.zeros(k, np.int64)
    cells, values = np.zeros(k + 1, np.int64), np.zeros(k + 1)
    best, visited, depth, is_new = least, 0, 0, True
    while depth >= 0:
        if is_new:
            visited += 1
            left = fill_best(places, price, 1.0, counts, cells[: k - depth + 1], values[: k - depth + 1])
            rest, into = Rest(cells, values, left), Rest(children[depth], bounds[depth], 0)
            number[depth] = opened(places, counts, price, priced[depth] + unused, depth, rest, best, into)
            place_in[depth] = 0
        if visited >= nodes or place_in[depth] >= number[depth] or bounds[depth, place_in[depth]] <= best:
            if visited >= nodes:
                break
            depth -= 1
            if depth >= 0:
                counts[order[depth]] -= 1
                is_new = False
            continue
        cell = children[depth, place_in[depth]]
        place_in[depth] += 1
        weight, score = places.weights[depth], places.scores[cell, counts[cell]]
        for function in range(functions):
            gaps[depth + 1, function] = gaps[depth, function] + weight * places.functions[cell, function]
        value[depth + 1] = value[depth] + weight * score
        priced[depth + 1] = priced[depth] + weight * (score - price[cell])
        order[depth] = cell
        if depth + 1 == k:
            if value[k] > best and length_of(gaps[k], places.is_ball) <= rho:
                best, best_order = value[k], order.copy()
            is_new = False
            continue
        counts[cell] += 1
        depth += 1
        is_new = True
    unseen = -np.inf
    for at in range(depth + 1):
        for child in range(place_in[at], number[at]):
            unseen = max(unseen, bounds[at, child])
    return best_order, best, unseen, visited


@compiled
def opened(
    places: Places, counts: IntArray, price: FloatArray, base: float, depth: int, rest: Rest, best: float, into: Rest
) -> int:
    """The cells that may stand at a place, by falling bound, `into`; how many have a bound above the best value known.

    rest: the largest of what is left; one of it stands at the place, the others follow in order.
    """
    k, size = places.weights.size, 0
    for cell in range(counts.size):
        if counts[cell] >= places.capacity[cell]:
            continue
        total = base + places.weights[depth] * (places.scores[cell, counts[cell]] - price[cell])
        at, is_out = 0, False
        for place in range(depth + 1, k):
            if not is_out and at < rest.size and rest.cells[at] == cell:
                is_out = True
                at += 1
            if at >= rest.size:
                total = -np.inf
                break
            total += places.weights[place] * rest.values[at]
            at += 1
        if total <= best:
            continue
        where = size
        while where > 0 and into.values[where - 1] < total:
            into.values[where], into.cells[where] = into.values[where - 1], into.cells[where - 1]
            where -= 1
        into.values[where], into.cells[where] = total, cell
        size += 1
    return size
