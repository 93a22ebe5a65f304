"""Compiled loop of `ball_annealing`: simulated annealing over the cells of a ball.

The energy of a set is  penalty max(0, |v| - rho) - similarity.  A move exchanges one of the k items for the next
best of another cell; with K the products of features it changes |v|^2 by

    2 (M_h - M_g) . v + |M_h|^2 + |M_g|^2 - 2 K_gh,

and M v is kept up to date, which costs a row of K for a move that is made and nothing for one that is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.cooling_kernel import Cooling, allowed_rise, factor
from mprlib.optimisers.random_kernel import below, next_state, part

# A gain below this is rounding of sums that a million moves have changed.
SMALLEST_GAIN = 1e-9


class Cells(NamedTuple):
    """Cells between which items move.

    Shapes:  products (C, C); marginals and offset (C,), for each cell +inf, its scores, -inf, from its offset on.
    """

    products: FloatArray
    marginals: FloatArray
    offset: IntArray


class Limit(NamedTuple):
    """How long |v| may be, and the penalty per unit beyond that."""

    rho: float
    penalty: float


@compiled
def annealed(cells: Cells, limit: Limit, cooling: Cooling, most: float, chosen: IntArray, best: IntArray) -> float:
    """The largest similarity above `most` of sets within rho, from the cells (k,) of k items; its own are written."""
    count, k = cells.offset.size, chosen.size
    counts, lean = np.zeros(count, np.int64), np.zeros(count)
    similarity, square = 0.0, 0.0
    for place in range(k):
        cell = chosen[place]
        counts[cell] += 1
        similarity += cells.marginals[cells.offset[cell] + counts[cell]]
        lean += cells.products[cell]
    for place in range(k):
        square += lean[chosen[place]]
    beyond = limit.penalty * max(np.sqrt(max(square, 0.0)) - limit.rho, 0.0)
    temperature, falling, state = cooling.first, factor(cooling), np.uint64(1)
    for _ in range(cooling.steps):
        temperature *= falling
        state = next_state(state)
        place, new = below(part(state, 0), k), below(part(state, 1), count)
        old = chosen[place]
        gain = cells.marginals[cells.offset[new] + counts[new] + 1] - cells.marginals[cells.offset[old] + counts[old]]
        # An empty cell's next item scores -inf.
        if new == old or gain == -np.inf:
            continue
        step = cells.products[new, new] + cells.products[old, old] - 2.0 * cells.products[old, new]
        after = square + 2.0 * (lean[new] - lean[old]) + step
        beyond_after = limit.penalty * max(np.sqrt(max(after, 0.0)) - limit.rho, 0.0)
        if beyond_after - beyond - gain > allowed_rise(cooling, temperature, state):
            continue
        counts[old] -= 1
        counts[new] += 1
        chosen[place] = new
        lean += cells.products[new] - cells.products[old]
        similarity, square, beyond = similarity + gain, after, beyond_after
        if beyond == 0.0 and similarity > most + SMALLEST_GAIN:
            most = similarity
            best[:] = chosen
    return most
