"""Who stands where people look: the share of each named group of the first items, and of the attention.

Shares count all of a selection's items alike, and readers see the first ones. So beside them stand the shares of the
first 5 and the first 10 items in the order in which they are returned, and the exposure, the share of the attention
under DCG's curve.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from mprlib import Problem
from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.attention import LOG2
from mprlib.cells import cells_of
from mprlib.function_classes.groups import Groups

FIRST = (5, 10)


def first_shown(problem: Problem, named: Groups, items: IntArray) -> dict[str, pa.Array]:
    """Columns of the groups' table for items in order; of a selection of fewer items the first 5 or 10 are all."""
    oracle, cell = named.bind(problem), cells_of(problem).pool_cell[items]

    def shares(weights: FloatArray) -> pa.Array:
        return pa.array(oracle.totals(sums_by(cell[: weights.size], weights, oracle.cells.size)))

    found = {f"share_first_{count}": shares(_equal(min(count, items.size))) for count in FIRST}
    return found | {"exposure": shares(LOG2.weights(items.size))}


def _equal(count: int) -> FloatArray:
    weights: FloatArray = np.full(count, 1.0 / count)
    return weights
