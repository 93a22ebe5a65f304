"""Measures of groups over all attributes of a problem: each by the attribute that it is worst for.

A measure has one value per attribute, over that attribute's levels. What is reported of a selection is the smallest
AWRF, the largest NDKL, the largest MaxSkew and the smallest MinSkew, which need not be the same attribute's.

>>> import mprlib
>>> labels = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6], labels=labels, reference=labels, k=2,
...                          attributes={"sex": [0, 1], "age": [2, 3]})
>>> worst = mprlib.metrics.worst_attribute(problem, [0, 1])  # one sex, both ages
>>> round(worst.max_skew, 6), worst.min_skew
(0.693147, -inf)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.cells import cells_of
from mprlib.metrics.awrf import awrf_of_rows
from mprlib.metrics.ndkl import ndkl_of_rows
from mprlib.metrics.skew import skews_of_rows
from mprlib.naming import cell_levels
from mprlib.problem import Problem

# Entries of prefixes of rankings that are held at once, some 50 MB.
LARGEST_BLOCK = 2_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class WorstAttribute:
    """Each measure's value for the attribute that it is worst for.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.metrics.worst_attribute(problem, [0, 2]).ndkl, 4)
    0.425
    """

    awrf: float
    ndkl: float
    max_skew: float
    min_skew: float


def worst_attribute(problem: Problem, items: ArrayLike) -> WorstAttribute:
    """The measures of items in the order given, against the reference.

    Shapes:  items (any number,), positions in the pool, distinct.
    Raises:  InputError for items that are empty, repeated or out of range, and where an attribute has no levels.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.metrics.worst_attribute(problem, [0, 1]).min_skew
    -inf
    """
    return worst_attributes(problem, problem.checked_items(items)[None])[0]


def worst_attributes(problem: Problem, selections: IntArray) -> list[WorstAttribute]:
    """The measures of each of some selections of one size.

    Shapes:  selections (B, k), checked items of each in its order.
    """
    cells, found = cells_of(problem), []
    attributes = [
        (own.codes, sums_by(own.codes, cells.reference_shares, len(own.names))) for own in cell_levels(problem).values()
    ]
    largest = max(target.size for _, target in attributes)
    block = max(1, LARGEST_BLOCK // (largest * selections.shape[1]))
    for start in range(0, len(selections), block):
        cell = cells.pool_cell[selections[start : start + block]]
        found += _worst([(codes[cell], target) for codes, target in attributes])
    return found


def _worst(attributes: Sequence[tuple[IntArray, FloatArray]]) -> list[WorstAttribute]:
    """Of the levels (B, k) of selections' items and the target (L,), for each attribute."""
    skews = [skews_of_rows(*one) for one in attributes]
    measures = (
        np.min([awrf_of_rows(*one) for one in attributes], axis=0),
        np.max([ndkl_of_rows(*one) for one in attributes], axis=0),
        np.max([np.nanmax(one, axis=1) for one in skews], axis=0),
        np.min([np.nanmin(one, axis=1) for one in skews], axis=0),
    )
    return [
        WorstAttribute(awrf=awrf, ndkl=ndkl, max_skew=most, min_skew=least)
        for awrf, ndkl, most, least in zip(*(measure.tolist() for measure in measures))
    ]
