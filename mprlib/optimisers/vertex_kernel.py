"""Compiled: the last basis of `simplex_kernel`, and what its multipliers prove (`cell_programme`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled
from mprlib.optimisers.basis_kernel import Basis, Cut, Items, priced
from mprlib.optimisers.simplex_kernel import INFEASIBLE, OPTIMAL, optimise
from mprlib.optimisers.sorting_kernel import order_of

# Steps after which the inverse of the basis is computed anew.
MOST_UPDATES = 30


class Priced(NamedTuple):
    """What is written.  Shapes: counts (G,); prices (J,) of the cuts; price (G,), what they sum to."""

    counts: FloatArray
    prices: FloatArray
    price: FloatArray


@compiled
def weigh(cuts: Cut, used: int, prices: FloatArray, price: FloatArray) -> float:
    """The sum of cuts times their prices (J,) into price (G,); the same of their right sides."""
    price[:], room = 0.0, 0.0
    for cut in range(used):
        own = prices[cut]
        if own != 0.0:
            room += own * cuts.right[cut]
            for cell in range(price.size):
                price[cell] += own * cuts.rows[cut, cell]
    return room


@compiled
def best_sum(items: Items, price: FloatArray, level: float) -> float:
    """At least the sum of the k best scores net of prices (G,); exactly at the level of the k-th best one."""
    total = items.k * level
    for cell in range(price.size):
        at = items.offset[cell] + 1
        while items.marginals[at] - price[cell] > level:
            total += (items.marginals[at] - price[cell]) - level
            at += 1
    return total


@compiled
def cheapest_sum(items: Items, price: FloatArray) -> float:
    """The sum of the k smallest prices of items."""
    left, total = items.k, 0.0
    for cell in order_of(price):
        at = items.offset[cell] + 1
        while left > 0 and items.marginals[at] > -np.inf:
            total += price[cell]
            left -= 1
            at += 1
    return total


@compiled
def priced_vertex(
    items: Items, given: Items, cuts: Cut, used: int, basis: Basis, most_steps: int, found: Priced
) -> tuple[int, int, float, float, float]:
    """As `optimise`, with prices by the scores as given.

    Returns what `optimise` does, then a bound on what is maximised, the level of the k-th best item, and the sum of the
    cuts' right sides at their prices. Where no counts meet the cuts it is a bound on 0, by their sum.
    """
    status, steps = optimise(items, cuts, used, basis, (most_steps, MOST_UPDATES), found.counts, found.prices)
    if status == INFEASIBLE:
        room = weigh(cuts, used, found.prices, found.price)
        return status, steps, room - cheapest_sum(items, found.price), 0.0, room
    if status != OPTIMAL:
        return status, steps, np.inf, 0.0, 0.0
    multipliers = np.empty(found.counts.size + 1)
    priced(given, cuts, basis, multipliers, found.price)
    found.prices[:] = 0.0
    for row in range(basis.number[1]):
        found.prices[basis.tight[row]] = max(multipliers[row + 1], 0.0)
    room, level = weigh(cuts, used, found.prices, found.price), multipliers[0]
    return status, steps, room + best_sum(given, found.price, level), level, room
