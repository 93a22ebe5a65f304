"""A basis of the best items of cells under cuts, compiled: what it takes, and what one more item is worth under it.

Within a cell all items have one column, so that a basis is: how many of each cell's best items are taken whole, the
free cells, whose next item is taken in part, and the tight cuts, one fewer than the free cells. Its matrix has a
column for each free cell (1 and the tight cuts' coefficients), a few dozen rows. Its inverse is kept with it, as what
is next starts from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.inverse_kernel import inverse_of


class Cut(NamedTuple):
    """Cuts rows . x <= right; those beyond `used` are room for more.

    Shapes:  rows (J, G); right (J,); size (J,), the largest coefficients.
    """

    rows: FloatArray
    right: FloatArray
    size: FloatArray


class Items(NamedTuple):
    """Scores without ties, as in `CellPool`.  Shapes: marginals (N + 2G,); offset (G,), where a cell starts."""

    k: int
    marginals: FloatArray
    offset: IntArray


class Basis(NamedTuple):
    """What is taken and what is tight; written over.

    Shapes:  taken (G,), whole items of each cell; free (G + 1,) and tight (G + 1,), cells and cuts of which the first
             ones count; is_tight (J,); number (3,), of free cells, of tight cuts, and of exchanges since
             the inverse was computed anew, -1 where there is none; inverse (room, room), of which the first rows and
             columns are the matrix's: its rows are free cells, its first column the sum, the others tight cuts.
    """

    taken: IntArray
    free: IntArray
    tight: IntArray
    is_tight: IntArray
    number: IntArray
    inverse: FloatArray


@compiled
def invert(cuts: Cut, basis: Basis) -> bool:
    """The inverse of the basis matrix, anew; False where it has none."""
    size = basis.number[0]
    matrix = np.ones((size, size))
    for row in range(1, size):
        for column in range(size):
            matrix[row, column] = cuts.rows[basis.tight[row - 1], basis.free[column]]
    is_found = inverse_of(matrix, basis.inverse)
    basis.number[2] = 0 if is_found else -1
    return is_found


@compiled
def counts_at(items: Items, cuts: Cut, basis: Basis, counts: FloatArray) -> None:
    """The counts (G,) of a basis, within their bounds or not."""
    size, inverse = basis.number[0], basis.inverse
    right = np.empty(size)
    right[0] = items.k - basis.taken.sum()
    taken = np.flatnonzero(basis.taken)
    for row in range(1, size):
        own = cuts.right[basis.tight[row - 1]]
        for one in taken:
            own -= cuts.rows[basis.tight[row - 1], one] * basis.taken[one]
        right[row] = own
    for cell in range(basis.taken.size):
        counts[cell] = basis.taken[cell]
    for position in range(size):
        part = 0.0
        for row in range(size):
            part += inverse[position, row] * right[row]
        counts[basis.free[position]] += part


@compiled
def priced(items: Items, cuts: Cut, basis: Basis, multipliers: FloatArray, price: FloatArray) -> None:
    """Multipliers of the sum and of the tight cuts, and the price (G,) of one item of each cell."""
    size, inverse = basis.number[0], basis.inverse
    multipliers[:size] = 0.0
    for position in range(size):
        cell = basis.free[position]
        own = items.marginals[items.offset[cell] + basis.taken[cell] + 1]
        for row in range(size):
            multipliers[row] += own * inverse[position, row]
    price[:] = multipliers[0]
    for row in range(1, size):
        for cell in range(price.size):
            price[cell] += multipliers[row] * cuts.rows[basis.tight[row - 1], cell]
