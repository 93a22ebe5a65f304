"""Compiled loops of `products`: the dual bound on whole counts under a sum of squares, and the ascent to its prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.separable_kernel import sift

# The first step in parts of Polyak's, which is halved after so many steps that bring next to nothing, in parts of what
# is still to be gained; and what each direction keeps of the one before.
FIRST_STEP, PATIENCE, NOTHING, MOMENTUM = 1.0, 12, 0.01, 0.6
# The price of the limit moves by so many times what margins' prices do, relative to each: from the relaxation's it
# often has to rise several times, and steps end before it has where it moves as they do.
QUICKER = 30.0
# A price is changed by no larger factor at once.
LARGEST_FACTOR = 2.0
# Error of a sum of a thousand numbers, in parts of the sum of their sizes.
ROUNDING = 1e-13


class Squares(NamedTuple):
    """|v|^2 = constant + own sum_g (x_g - target_g)^2 + sum_m weight_m (c_m - centre_m)^2, c_m = sum of x_g in m.

    Shapes:  first, capacity, target (F,); scores (N,), falling within each cell; member (F, sets), the margins of each
             cell; weight, centre, most (M,), the largest count of each margin.
    """

    k: int
    first: IntArray
    capacity: IntArray
    target: FloatArray
    scores: FloatArray
    own: float
    member: IntArray
    weight: FloatArray
    centre: FloatArray
    most: IntArray
    constant: float


class Point(NamedTuple):
    """Prices, and what is best at them.

    Shapes:  prices (M,) of an item of each margin; counts (F,), the best of the cells; surplus (M,), by how much a
             margin's best count exceeds theirs.
    """

    prices: FloatArray
    counts: IntArray
    surplus: FloatArray


@compiled
def gain(squares: Squares, price: float, offset: float, cell: int, count: int) -> float:
    """What one more item of a cell adds at the prices, beside `count` of them."""
    if count >= squares.capacity[cell]:
        return -np.inf
    found: float = squares.scores[squares.first[cell] + count] - offset
    found -= price * squares.own * (2.0 * (count - squares.target[cell]) + 1.0)
    return found


@compiled
def greedy(squares: Squares, price: float, offset: FloatArray, counts: IntArray) -> tuple[float, float, float]:
    """The best counts (F,) at the prices, written: what they are worth, the sum of its terms' sizes, the last term."""
    cells = counts.size
    key, heap, total, size, last = np.empty(cells), np.arange(cells), 0.0, 0.0, 0.0
    for cell in range(cells):
        counts[cell] = 0
        key[cell] = gain(squares, price, offset[cell], cell, 0)
        size += price * squares.own * squares.target[cell] ** 2
    total -= size
    for place in range(cells // 2 - 1, -1, -1):
        sift(heap, key, place)
    for _ in range(squares.k):
        cell = heap[0]
        last = key[cell]
        total += last
        size += abs(last) + abs(offset[cell])
        counts[cell] += 1
        key[cell] = gain(squares, price, offset[cell], cell, counts[cell])
        sift(heap, key, 0)
    return total, size, last


@compiled
def best_count(squares: Squares, price: float, own: float, margin: int) -> int:
    """The whole count of a margin at which  own * count - price * weight * (count - centre)^2  is largest."""
    count = squares.centre[margin] + own / (2.0 * price * squares.weight[margin])
    return int(np.rint(min(max(count, 0.0), float(squares.most[margin]))))


@compiled
def offsets(squares: Squares, prices: FloatArray) -> FloatArray:
    """The sum (F,) of the prices of each cell's margins."""
    cells, sets = squares.member.shape
    found = np.zeros(cells)
    for cell in range(cells):
        for one in range(sets):
            found[cell] += prices[squares.member[cell, one]]
    return found


@compiled
def looked_at(squares: Squares, limit: float, price: float, point: Point) -> tuple[float, float]:
    """The bound at some prices, errors of its sums included, and |v|^2 of what is best there. The point is written."""
    bound, size, _ = greedy(squares, price, offsets(squares, point.prices), point.counts)
    square = squares.constant
    point.surplus[:] = 0.0
    for cell in range(point.counts.size):
        square += squares.own * (point.counts[cell] - squares.target[cell]) ** 2
        for one in range(squares.member.shape[1]):
            point.surplus[squares.member[cell, one]] -= point.counts[cell]
    for margin in range(point.prices.size):
        count = best_count(squares, price, point.prices[margin], margin)
        distance = squares.weight[margin] * (count - squares.centre[margin]) ** 2
        bound += point.prices[margin] * count - price * distance
        size += abs(point.prices[margin]) * count + price * distance
        square += distance
        point.surplus[margin] += count
    rest = price * (limit - squares.constant)
    size += price * (limit + squares.constant)
    return bound + rest + ROUNDING * size, square


@compiled
def moved(
    squares: Squares, price: float, point: Point, slope: FloatArray, turn: tuple[float, float, float]
) -> tuple[float, float]:
    """One step from a point along what is kept of former directions: the price of the limit, and its direction.

    slope (M,), the margins' directions, is written over. turn: the direction of the limit's price, its scale, which is
    0 where it is fixed, and the length of the step in Polyak's sense: what is to be gained.
    """
    own_slope, scale, gained = turn
    norm = scale * own_slope**2
    for margin in range(slope.size):
        slope[margin] = (1.0 - MOMENTUM) * point.surplus[margin] + MOMENTUM * slope[margin]
        norm += 2.0 * price * squares.weight[margin] * slope[margin] ** 2
    if norm <= 0.0:
        return price, 0.0
    factor = gained / norm
    for margin in range(slope.size):
        point.prices[margin] -= factor * 2.0 * price * squares.weight[margin] * slope[margin]
    changed = price - factor * scale * own_slope
    return min(max(changed, price / LARGEST_FACTOR), price * LARGEST_FACTOR), norm


@compiled
def ascended(
    squares: Squares, limit: float, price: float, prices: FloatArray, goal: float, steps: tuple[int, bool]
) -> tuple[float, float]:
    """The smallest bound that is met on the worth of counts with |v|^2 up to the limit, and the limit's price there.

    prices (M,) of the margins are where the ascent starts, and written over. goal: a worth that some counts have, or a
    bound that would do. steps: how many, and whether the price of the limit is free.
    """
    most, is_free = steps
    cells = squares.target.size
    point = Point(prices.copy(), np.zeros(cells, np.int64), np.zeros(prices.size))
    slope, own_slope = np.zeros(prices.size), 0.0
    best, best_price, length, idle = np.inf, price, FIRST_STEP, 0
    for _ in range(most):
        bound, square = looked_at(squares, limit, price, point)
        idle = idle + 1 if bound > best - NOTHING * (best - goal) else 0
        if bound < best:
            best, best_price = bound, price
            prices[:] = point.prices
        if best <= goal:
            break
        if idle >= PATIENCE:
            price, length, idle = best_price, 0.5 * length, 0
            point.prices[:] = prices
            slope[:] = 0.0
            own_slope = 0.0
            continue
        own_slope = (1.0 - MOMENTUM) * (limit - square) + MOMENTUM * own_slope
        scale = QUICKER * price / (limit + square) if is_free and limit + square > 0.0 else 0.0
        price, norm = moved(squares, price, point, slope, (own_slope, scale, length * (bound - goal)))
        if norm == 0.0:
            break
    return best, best_price


@compiled
def near_counts(squares: Squares, counts: IntArray, margins: FloatArray) -> float:
    """Counts (F,) and those of the margins (M,), written, whose |v|^2 is small, and that: each item adds the least."""
    sets = squares.member.shape[1]
    counts[:] = 0
    margins[:] = 0.0
    square: float = squares.constant + squares.own * (squares.target**2).sum()
    square += (squares.weight * squares.centre**2).sum()
    for _ in range(squares.k):
        least, best = np.inf, 0
        for cell in range(counts.size):
            if counts[cell] < squares.capacity[cell]:
                more = squares.own * (2.0 * (counts[cell] - squares.target[cell]) + 1.0)
                for one in range(sets):
                    margin = squares.member[cell, one]
                    more += squares.weight[margin] * (2.0 * (margins[margin] - squares.centre[margin]) + 1.0)
                if more < least:
                    least, best = more, cell
        square += least
        counts[best] += 1
        for one in range(sets):
            margins[squares.member[best, one]] += 1.0
    return square
