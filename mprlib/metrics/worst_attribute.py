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

from dataclasses import dataclass

from numpy.typing import ArrayLike

from mprlib.metrics.awrf import awrf
from mprlib.metrics.ndkl import ndkl
from mprlib.metrics.ranking import rankings
from mprlib.metrics.skew import max_skew, min_skew
from mprlib.problem import Problem


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
    of_attributes = rankings(problem, items).values()
    return WorstAttribute(
        awrf=min(map(awrf, of_attributes)),
        ndkl=max(map(ndkl, of_attributes)),
        max_skew=max(map(max_skew, of_attributes)),
        min_skew=min(map(min_skew, of_attributes)),
    )
