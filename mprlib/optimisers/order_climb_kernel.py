"""Compiled local search over orders of cells: two places exchanged, or another cell's item put at a place.

What a move changes is known at once: the value from sums over each cell's later places, whose items all move by one,
and a ball's gap from inner products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.order_kernel import length_of
from mprlib.optimisers.order_weights_kernel import ROUNDING, Places, gaps_of, value_of

# Places exchanged with the next so many in a step of the local search of long orders.
REACH = 64


class Gains(NamedTuple):
    """What the value gains, in parts that add up.

    Shapes:  leaves (k,), when a place's item goes and the later ones of its cell move up by one; joins (k, G), when a
             cell's next item comes to a place and its later ones move down, -inf where it has no item left for it.
             goes (G, k), when a cell whose item left an earlier place has this place instead; comes (k,), when this
             place's item joined an earlier place.
    """

    leaves: FloatArray
    joins: FloatArray
    goes: FloatArray
    comes: FloatArray


@compiled
def tabulate(places: Places, order: IntArray, counts: IntArray, gains: Gains) -> None:
    """Fill the tables of an order; counts (G,), of its cells, is filled as well."""
    k, cells = order.size, counts.size
    counts[:] = 0
    for cell in order:
        counts[cell] += 1
    before, up, down = counts.copy(), np.zeros(cells), np.zeros(cells)
    for place in range(k - 1, -1, -1):
        own, weight = order[place], places.weights[place]
        # up, down: what the items of each cell at later places gain when they move by one.
        for cell in range(cells):
            rank = before[cell] - 1 if cell == own else before[cell]
            has_one = rank < places.capacity[cell]
            gains.joins[place, cell] = down[cell] + weight * places.scores[cell, rank] if has_one else -np.inf
            gains.goes[cell, place] = weight * places.scores[cell, rank - 1] - up[cell] if rank > 0 else -np.inf
        before[own] -= 1
        rank = before[own]
        score = places.scores[own, rank]
        gains.leaves[place], gains.comes[place] = up[own] - weight * score, -down[own] - weight * score
        if rank > 0:
            up[own] += weight * (places.scores[own, rank - 1] - score)
        if rank + 1 < places.capacity[own]:
            change = weight * (places.scores[own, rank + 1] - score)
            down[own] += change
            gains.comes[place] -= change


@compiled
def length_in_ball(square: float, along: float, weight: float, distance: float) -> float:
    """The length of gaps, of this square, with so much of a step: their product, and the step's own square."""
    return float(np.sqrt(max(square + 2.0 * weight * along + weight * weight * distance, 0.0)))


@compiled
def largest_after(functions: FloatArray, gaps: FloatArray, weight: float, own: int, cell: int, most: float) -> float:
    """The largest gap when this much attention goes from a cell to another; beyond `most` only that it is."""
    largest = 0.0
    for function in range(gaps.size):
        step = functions[cell, function] - functions[own, function]
        largest = max(largest, abs(gaps[function] + weight * step))
        if largest > most:
            break
    return largest


@compiled
def products_with(places: Places, gaps: FloatArray) -> FloatArray:
    """Products (G,) of the cells' functions with the gaps."""
    along = np.zeros(places.capacity.size)
    for cell in range(along.size):
        for function in range(gaps.size):
            along[cell] += places.functions[cell, function] * gaps[function]
    return along


@compiled
def best_move(
    places: Places, order: IntArray, gaps: FloatArray, rho: float, penalty: float, value: float, merit: float
) -> tuple[int, int, bool]:
    """The move with the largest value - penalty * (gap beyond rho): a place, a later place or a cell, and whether it is
    a place. The first is -1 where no move is better."""
    k, cells = order.size, places.capacity.size
    counts = np.zeros(cells, np.int64)
    gains = Gains(np.zeros(k), np.zeros((k, cells)), np.zeros((cells, k)), np.zeros(k))
    tabulate(places, order, counts, gains)
    functions, squares, is_ball = places.functions, places.squares, places.is_ball
    along, square = products_with(places, gaps), length_of(gaps, True) ** 2
    best, best_place, best_other, is_exchange = merit + ROUNDING, -1, -1, False
    for place in range(k):
        own, weight, left = order[place], places.weights[place], value + gains.leaves[place]
        for other in range(place + 1, min(k, place + REACH)):
            cell = order[other]
            if cell == own:
                continue
            reached = left + gains.joins[place, cell] + gains.goes[own, other] + gains.comes[other]
            if reached > best:
                most = rho + (reached - best) / penalty
                moved = weight - places.weights[other]
                if is_ball:
                    length = length_in_ball(square, along[cell] - along[own], moved, squares[own, cell])
                else:
                    length = largest_after(functions, gaps, moved, own, cell, most)
                if length < most:
                    best = reached - penalty * max(length - rho, 0.0)
                    best_place, best_other, is_exchange = place, other, True
        for cell in range(cells):
            if cell == own or counts[cell] >= places.capacity[cell]:
                continue
            reached = left + gains.joins[place, cell]
            if reached > best:
                most = rho + (reached - best) / penalty
                if is_ball:
                    length = length_in_ball(square, along[cell] - along[own], weight, squares[own, cell])
                else:
                    length = largest_after(functions, gaps, weight, own, cell, most)
                if length < most:
                    best = reached - penalty * max(length - rho, 0.0)
                    best_place, best_other, is_exchange = place, cell, False
    return best_place, best_other, is_exchange


@compiled
def climbed(places: Places, given: IntArray, rho: float, penalty: float, steps: int) -> tuple[IntArray, float, float]:
    """An order by steepest ascent on value - penalty * (gap beyond rho), its value and its gap.

    Moves exchange the cells of two places, or put another cell's item at a place.
    """
    order, taken, gaps = given.copy(), np.zeros(places.capacity.size, np.int64), gaps_of(places, given)
    value, length = value_of(places, order, taken), length_of(gaps, places.is_ball)
    merit = value - penalty * max(length - rho, 0.0)
    for _ in range(steps):
        place, other, is_exchange = best_move(places, order, gaps, rho, penalty, value, merit)
        if place < 0:
            break
        moved = order.copy()
        moved[place] = order[other] if is_exchange else other
        if is_exchange:
            moved[other] = order[place]
        gaps = gaps_of(places, moved)
        new_value, new_length = value_of(places, moved, taken), length_of(gaps, places.is_ball)
        new_merit = new_value - penalty * max(new_length - rho, 0.0)
        if new_merit <= merit:
            # Nothing but rounding of what a move was said to change.
            break
        order, value, length, merit = moved, new_value, new_length, new_merit
    return order, value, length
