"""The share of each named group among the first items, and of the attention.

Shares count all of a selection's items alike, and readers see the first ones. So beside them stand the shares of the
first 5 and the first 10 items in the order in which they are returned, and the exposure, the share of the attention
under the curve that the audit names, by default DCG's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by_row
from mprlib.attention import LOG2, UNIFORM, Attention, attention_of
from mprlib.function_classes.groups import GroupsOracle

FIRST = (5, 10)


def exposure_curve(attention: Sequence[str]) -> Attention:
    """The first of an audit's attentions under which places differ; DCG's curve where it names none.

    >>> exposure_curve(["uniform", "geometric(0.5)"]).name, exposure_curve(["uniform"]).name
    ('geometric(0.5)', 'log2')
    """
    return next((curve for curve in map(attention_of, attention) if curve != UNIFORM), LOG2)


def first_shown(oracle: GroupsOracle, cells: IntArray, curve: Attention) -> dict[str, FloatArray]:
    """Columns (B, groups) of the groups' table for selections of one size; where that is less, the first 5 or 10 are
    all.

    Shapes:  cells (B, k), those of the items of each selection in its order.
    """
    size = cells.shape[1]

    def shares(weights: FloatArray) -> FloatArray:
        return oracle.totals(sums_by_row(cells[:, : weights.size], weights, oracle.cells.size))

    found = {f"share_first_{count}": shares(equal(min(count, size))) for count in FIRST}
    return found | {"exposure": shares(curve.weights(size))}


def equal(count: int) -> FloatArray:
    """The weights (count,) of places that count alike."""
    weights: FloatArray = np.full(count, 1.0 / count)
    return weights
