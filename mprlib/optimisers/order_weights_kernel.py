"""Compiled parts of selecting items and order together: the places, and the dual bound on their value.

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


class Places(NamedTuple):
    """Places to be filled from G cells.

    Shapes:  scores (G, most), falling, of the items of each cell, -inf where there are no more; capacity (G,).
             functions (G, r), the gaps that one item adds, centred; weights (k,), falling.
             squares (G, G), squared distances of two cells' functions, for a ball.
    is_ball: the limit is on the length of the r gaps, else on each of them.
    """

    scores: FloatArray
    capacity: IntArray
    functions: FloatArray
    weights: FloatArray
    squares: FloatArray
    is_ball: bool


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
def squares_of(functions: FloatArray) -> FloatArray:
    """Squared distances (G, G) of rows (G, r)."""
    size = functions.shape[0]
    squares = np.zeros((size, size))
    for one in range(size):
        for other in range(one):
            for function in range(functions.shape[1]):
                step = functions[one, function] - functions[other, function]
                squares[one, other] += step * step
            squares[other, one] = squares[one, other]
    return squares


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
