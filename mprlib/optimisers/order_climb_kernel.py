"""Compiled local search over orders of cells: two places exchanged, or another cell's item put at a place."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.order_kernel import length_of
from mprlib.optimisers.order_weights_kernel import ROUNDING, Places, gaps_of, highest_of, value_of

# Places exchanged with the next so many in a step of the local search of long orders.
REACH = 64


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
