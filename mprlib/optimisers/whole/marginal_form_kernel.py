"""Compiled step of `marginals` from a ball's features to a lattice: the levels with items, in triangular form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.whole.lattice_kernel import Taken, held_by, inverse_products, triangular
from mprlib.optimisers.whole.marginal_kernel import Lattice


class Levels(NamedTuple):
    """Levels of cells, as `marginals.Marginals` has them."""

    column: IntArray
    attribute: IntArray
    decided: IntArray


class Opened(NamedTuple):
    """The lattice of the decided levels that have items, in triangular form.

    products (d, d): the inverse of those of its columns with each other.
    """

    form: Taken
    lattice: Lattice
    products: FloatArray


@compiled
def opened(levels: Levels, filled: IntArray, capacity: IntArray, k: int, axes: FloatArray, dependence: float) -> Opened:
    """The lattice of a pool.

    Shapes:  filled (F,), cells with items; capacity (G,); axes (d, r), what one item of each decided level adds to v.
    """
    held = np.zeros(levels.attribute.size, np.int64)
    for cell in filled:
        for attribute in range(levels.column.shape[1]):
            held[levels.column[cell, attribute]] += capacity[cell]
    # Of levels without items the count is 0.
    is_open = held[levels.decided] > 0
    column = levels.decided[is_open]
    form = triangular(axes[is_open].T.copy(), dependence)
    column, most = column[form.order], np.minimum(held, k)
    found = held_by(levels.attribute, levels.column.shape[1], column, most)
    lattice = Lattice(k, found.attribute, column, most[column], found.is_final, found.rest)
    return Opened(form, lattice, inverse_products(form.triangle, column.size))
