"""CLIP-Clip: rank without the embedding columns that tell most about an attribute.

Columns are ordered by their mutual information with the attribute; a selection drops the first
ones and ranks by the plain dot product of those that are kept, without normalising again. The
order depends on the data set and the attribute, not on the query, so a job computes it once.
Similarity in the result is that of the whole embedding.

Source: Wang, Liu, Wang 2021, "Are Gender-Neutral Queries Really Gender-Neutral?".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.mutual_information import mutual_information
from mprlib.baselines.ranking import best_by
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.selection import Selection
from mprlib.settings import Whole

# The paper drops 1, 11, 21, ... columns.
GRID_STEP = 10


def grid(problem: Problem, oracle: Oracle, points: int) -> list[int]:
    """1, 11, 21, ... columns dropped, at most that many values and fewer than there are columns."""
    width = pool_embeddings(problem, "clip_clip").shape[1]
    return list(range(1, width, GRID_STEP))[:points] or [0]


def columns_dropped(width: int) -> Whole:
    """How many columns can be dropped: one is left."""
    return Whole(least=0, most=width - 1)


def column_order(embeddings: FloatArray, labels: IntArray) -> IntArray:
    """Columns (d,) of embeddings (n, d) by falling mutual information with labels (n,)."""
    return order_of(mutual_information(embeddings, labels))


def order_of(information: FloatArray) -> IntArray:
    """Columns (d,) by falling information (d,).

    Columns that tell nothing are tied at 0. They come as numpy's default sort leaves them, as in the
    authors' code; that is fixed for a numpy and a kind of processor, so an order that is to be the
    same everywhere has to be computed once and passed on.
    """
    return np.argsort(information)[::-1]


def sweep(problem: Problem, oracle: Oracle, values: Sequence[int], order: ArrayLike | None = None) -> list[Selection]:
    """One Selection a number of columns dropped, in the order given.

    Shapes:  order (d,), all columns, the one to drop first at the front; by default by mutual
             information with the joint cell of all labels, on this pool.
    Raises:  InputError without embeddings or query, and for an order that is no permutation.
    """
    embeddings, query = pool_embeddings(problem, "clip_clip"), query_vector(problem, "clip_clip")
    width = embeddings.shape[1]
    watch = Stopwatch()
    checked = _pool_order(problem) if order is None else _checked_order(order, width)
    shared_seconds = watch.seconds() / len(values)
    selections = []
    for value in values:
        watch = Stopwatch()
        kept = query.astype(np.float64)
        kept[checked[:value]] = 0.0
        # Not a BLAS product: equal rows must give equal bits wherever they stand, as ties go by id.
        items = best_by(problem, np.einsum("ij,j->i", embeddings, kept), problem.k)
        seconds = shared_seconds + watch.seconds()
        selections.append(selected(problem, oracle, items, method="clip_clip", value=value, solve_seconds=seconds))
    return selections


def _pool_order(problem: Problem) -> IntArray:
    cells = cells_of(problem)
    return problem.cached("clip_clip order", lambda: column_order(problem.embeddings, cells.pool_cell))


def _checked_order(order: ArrayLike, width: int) -> IntArray:
    columns = np.asarray(order)
    if (
        columns.shape != (width,)
        or columns.dtype.kind not in "iu"
        or not np.array_equal(np.sort(columns), np.arange(width))
    ):
        raise InputError(f"order is no permutation of the {width} columns of the embeddings")
    return columns.astype(np.intp)
