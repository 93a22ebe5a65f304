"""The order of a pool: by falling score, ties by item id, or by position without ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray


def best_first(scores: FloatArray, ids: NDArray[Any] | None) -> IntArray:
    """Positions (n,) of items with these scores (n,) and ids (n,).

    >>> best_first(np.array([0.5, 0.9, 0.5]), np.array(["b", "c", "a"])).tolist()
    [1, 2, 0]
    """
    if _is_best_first(scores, ids):
        return np.arange(scores.size, dtype=np.intp)
    # The faster sort may exchange what ties.
    order: IntArray = np.argsort(-scores)
    falling = scores[order]
    is_next_equal = falling[1:] == falling[:-1]
    if not is_next_equal.any():
        return order
    order = np.argsort(-scores, kind="stable")
    if ids is None:
        return order
    # Texts are slow to sort: only where scores tie, which are neighbours now.
    places = np.flatnonzero(np.append(is_next_equal, False) | np.append(False, is_next_equal))
    tied = order[places]
    order[places] = tied[np.lexsort((ids[tied], -scores[tied]))]
    return order


def _is_best_first(scores: FloatArray, ids: NDArray[Any] | None) -> bool:
    """Whether items are in that order already, as those of a search are."""
    if (scores[1:] > scores[:-1]).any():
        return False
    tied = np.flatnonzero(scores[1:] == scores[:-1])
    return ids is None or bool((ids[tied] < ids[tied + 1]).all())


def ranks(order: IntArray) -> IntArray:
    """The rank (n,) of each item, from 0, in an order (n,) of their positions."""
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    return rank
