"""Compiled loop of `ball_annealing`: simulated annealing over the cells of a ball.

The energy of a set is  penalty max(0, |v| - rho) - similarity.  A move exchanges one of the k items for the next
best of another cell; with K the products of features it changes |v|^2 by

    2 (M_h - M_g) . v + |M_h|^2 + |M_g|^2 - 2 K_gh,

and M v is kept up to date, which costs a row of K for a move that is made and nothing for one that is not.

The other cell is any, or one that differs in the level of one attribute. Or two items exchange their levels of an
attribute: no attribute's counts change, which near the smallest rho hardly any single move leaves as they should be.

Source:  Diaconis and Sturmfels 1998, on moves between tables with the same margins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.cooling_kernel import Cooling, allowed_rise, factor
from mprlib.optimisers.random_kernel import below, next_state, part

# A gain below this is rounding of sums that a million moves have changed.
SMALLEST_GAIN = 1e-9
# Of 16 moves so many go to any cell, and so many to one that differs in a level; the others exchange levels.
ANYWHERE, OTHER_LEVEL = 4, 6


class Cells(NamedTuple):
    """Cells between which items move.

    Shapes:  products (C, C); marginals and offset (C,), for each cell +inf, its scores, -inf, from its offset on;
             column (C, attributes), the level of each cell in each attribute, numbered through; turned (C, levels), the
             cell that differs from it in having that level, -1 where there is none.
    """

    products: FloatArray
    marginals: FloatArray
    offset: IntArray
    column: IntArray
    turned: IntArray


class Limit(NamedTuple):
    """How long |v| may be, and the penalty per unit beyond that."""

    rho: float
    penalty: float


@uncounted
def drawn(cells: Cells, chosen: IntArray, state: np.uint64) -> tuple[int, int, int, int]:
    """A move: a place among the items and its new cell, and those of the second item; the same ones without a second.

    A new cell is -1 where there is none.
    """
    attributes, levels, k = cells.column.shape[1], cells.turned.shape[1], chosen.size
    place, draw, kind = below(part(state, 0), k), part(state, 1), part(state, 3)
    old = chosen[place]
    if kind < ANYWHERE + OTHER_LEVEL or attributes == 0:
        is_any = kind < ANYWHERE or attributes == 0
        new = below(draw, cells.offset.size) if is_any else cells.turned[old, below(draw, levels)]
        return place, new, place, new
    second, attribute = divmod(below(draw, k * attributes), attributes)
    other = chosen[second]
    own, theirs = cells.column[old, attribute], cells.column[other, attribute]
    if own == theirs:
        return place, -1, second, -1
    return place, cells.turned[old, theirs], second, cells.turned[other, own]


@uncounted
def gained(cells: Cells, counts: IntArray, old: int, new: int) -> float:
    """What is gained in similarity where the last item of a cell goes for the next one of another; -inf without one."""
    lost = cells.marginals[cells.offset[old] + counts[old]]
    gain: float = cells.marginals[cells.offset[new] + counts[new] + 1] - lost
    return gain


@uncounted
def lengthened(cells: Cells, lean: FloatArray, old: int, new: int) -> float:
    """What the same adds to |v|^2."""
    own = cells.products[new, new] + cells.products[old, old] - 2.0 * cells.products[old, new]
    added: float = own + 2.0 * (lean[new] - lean[old])
    return added


@uncounted
def move(cells: Cells, counts: IntArray, lean: FloatArray, old: int, new: int) -> None:
    """Make it."""
    counts[old] -= 1
    counts[new] += 1
    for place in range(lean.size):
        lean[place] += cells.products[new, place] - cells.products[old, place]


@compiled
def annealed(cells: Cells, limit: Limit, cooling: Cooling, most: float, chosen: IntArray, best: IntArray) -> float:
    """The largest similarity above `most` of sets within rho, from the cells (k,) of k items; its own are written."""
    count, products = cells.offset.size, cells.products
    counts, lean = np.zeros(count, np.int64), np.zeros(count)
    similarity, square = 0.0, 0.0
    for cell in chosen:
        counts[cell] += 1
        similarity += cells.marginals[cells.offset[cell] + counts[cell]]
        lean += products[cell]
    for cell in chosen:
        square += lean[cell]
    beyond = limit.penalty * max(np.sqrt(max(square, 0.0)) - limit.rho, 0.0)
    temperature, falling, state = cooling.first, factor(cooling), np.uint64(1)
    for _ in range(cooling.steps):
        temperature *= falling
        state = next_state(state)
        place, new, second, last = drawn(cells, chosen, state)
        old, other, is_pair = chosen[place], chosen[second], second != place
        # Two items that differ in that attribute alone would only change places.
        if min(new, last) < 0 or new in (old, other) or last == old:
            continue
        gain, after = gained(cells, counts, old, new), square + lengthened(cells, lean, old, new)
        if is_pair:
            gain += gained(cells, counts, other, last)
            after += lengthened(cells, lean, other, last)
            after += 2.0 * (products[new, last] - products[new, other] - products[old, last] + products[old, other])
        # An empty cell's next item scores -inf.
        if gain == -np.inf:
            continue
        beyond_after = limit.penalty * max(np.sqrt(max(after, 0.0)) - limit.rho, 0.0)
        if beyond_after - beyond - gain > allowed_rise(cooling, temperature, state):
            continue
        move(cells, counts, lean, old, new)
        chosen[place] = new
        if is_pair:
            move(cells, counts, lean, other, last)
            chosen[second] = last
        similarity, square, beyond = similarity + gain, after, beyond_after
        if beyond == 0.0 and similarity > most + SMALLEST_GAIN:
            most = similarity
            best[:] = chosen
    return most
