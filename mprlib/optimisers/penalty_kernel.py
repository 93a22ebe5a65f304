"""Compiled: by how much an optimum falls, at least, when a count that is a fraction becomes whole (`cell_programme`).

That is what the first step of the dual simplex method towards either whole number costs.

Source:  Driebeek 1966, on penalties of branch and bound.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled
from mprlib.optimisers.basis_kernel import Basis, Cut, Items, priced
from mprlib.optimisers.simplex_kernel import SMALL_ROW, SMALLEST_PIVOT, Leaving, pivot_row


@compiled
def first_ratio(
    items: Items,
    basis: Basis,
    price: FloatArray,
    multipliers: FloatArray,
    row: tuple[FloatArray, FloatArray],
    sign: float,
) -> float:
    """What an item less (sign 1) or more (-1) of what leaves costs; infinite where nothing makes up for it."""
    of_cells, of_cuts = row
    least = SMALLEST_PIVOT * max(np.abs(of_cells).max(), SMALL_ROW)
    best = np.inf
    for cell in range(price.size):
        own = sign * of_cells[cell]
        at = items.offset[cell] + basis.taken[cell]
        if own > least and items.marginals[at + 1] > -np.inf:
            best = min(best, max(price[cell] - items.marginals[at + 1], 0.0) / own)
        elif own < -least and items.marginals[at] < np.inf:
            best = min(best, max(items.marginals[at] - price[cell], 0.0) / -own)
    for position in range(basis.number[1]):
        own = sign * of_cuts[position]
        if own > SMALLEST_PIVOT:
            best = min(best, max(multipliers[position + 1], 0.0) / own)
    return best


@compiled
def write_penalties(items: Items, cuts: Cut, basis: Basis, whole: float, counts: FloatArray, found: FloatArray) -> None:
    """The penalties of the next smaller and the next larger whole count of each cell into found (2, G), -1 where the
    count (G,) is whole within a distance."""
    found[:] = -1.0
    size, cells = basis.number[0], counts.size
    price, multipliers = np.empty(cells), np.empty(cells + 1)
    priced(items, cuts, basis, multipliers, price)
    of_cells, of_cuts = np.empty(cells), np.empty(cells + 1)
    for position in range(size):
        cell = basis.free[position]
        part = counts[cell] - np.floor(counts[cell])
        if min(part, 1.0 - part) <= whole:
            continue
        pivot_row(cuts, basis, Leaving(position, -1, 0.0, 0.0), of_cells, of_cuts)
        # What leaves is not what makes up for it.
        of_cells[cell] = 0.0
        row = (of_cells, of_cuts)
        found[0, cell] = part * first_ratio(items, basis, price, multipliers, row, 1.0)
        found[1, cell] = (1.0 - part) * first_ratio(items, basis, price, multipliers, row, -1.0)
