"""Compiled branch and bound over places: depth first, with bounds from the dual's prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.order_kernel import length_of
from mprlib.optimisers.order_weights_kernel import Places, cell_prices, dual_length, fill_best


class Rest(NamedTuple):
    """Values, falling, and the cells that they are of; the first `size` are meant."""

    cells: IntArray
    values: FloatArray
    size: int


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
