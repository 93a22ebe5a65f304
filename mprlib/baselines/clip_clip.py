"""CLIP-Clip: rank without the embedding columns that tell most about an attribute.

Columns are ordered by their mutual information with the attribute; a selection drops the first
ones and ranks by the plain dot product of those that are kept, without normalising again. The
order depends on the data set and the attribute, not on the query, so a job computes it once.
Similarity in the result is that of the whole embedding.

Source: Wang, Liu, Wang 2021, "Are Gender-Neutral Queries Really Gender-Neutral?".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import Chosen, SharedBaseline
from mprlib.baselines.mutual_information import mutual_information, order_of
from mprlib.baselines.ranking import best_by
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.settings import Whole
from mprlib.spelling import numbered

# The paper drops 1, 11, 21, ... columns.
GRID_STEP = 10


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ClipClip(SharedBaseline):
    """Similarity without the embedding columns that tell most about the labels.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "clip_clip", 1, order=[0, 1]).items.tolist()
    [2, 3]
    """

    name: ClassVar[str] = "clip_clip"
    reads_reference: ClassVar[bool] = False
    parameter: ClassVar[str] = "columns dropped"
    value: ClassVar[Whole] = Whole(least=0)
    needs_embeddings: ClassVar[bool] = True
    needs_query: ClassVar[bool] = True

    order: Annotated[
        ArrayLike | None,
        "all columns (d,), the one to drop first at the front; default: by mutual information with the joint cell of "
        "all labels, on this pool",
    ] = None

    @classmethod
    def value_of_width(cls, width: int) -> Whole:
        """How many columns can be dropped: one is left."""
        return Whole(least=0, most=width - 1)

    @classmethod
    def spaced_values(cls, problem: Problem, points: int) -> list[int]:
        """1, 11, 21, ... columns dropped, fewer than there are columns."""
        width = pool_embeddings(problem, cls.name).shape[1]
        return list(range(1, width, GRID_STEP))[:points] or [0]

    def choose_all(self, problem: Problem, values: Sequence[int]) -> list[Chosen]:
        """The best items by the columns that each value leaves.

        Raises:  InputError without embeddings or query, and for an order that is no permutation.
        """
        embeddings, query = pool_embeddings(problem, self.name), query_vector(problem, self.name)
        width = embeddings.shape[1]
        order = _pool_order(problem, embeddings) if self.order is None else _checked_order(self.order, width)
        return [Chosen(items=_best_without(problem, embeddings, query, order[:value])) for value in values]


def _best_without(problem: Problem, embeddings: FloatArray, query: FloatArray, dropped: IntArray) -> IntArray:
    """The k best items (k,) by the products without some columns."""
    kept = query.astype(np.float64)
    kept[dropped] = 0.0
    # Not a BLAS product: equal rows must give equal bits at every position, as ties go by id.
    return best_by(problem, np.einsum("ij,j->i", embeddings, kept), problem.k)


def column_order(embeddings: FloatArray, labels: IntArray) -> IntArray:
    """Columns (d,) of embeddings (n, d) by falling mutual information with labels (n,)."""
    return order_of(mutual_information(embeddings, labels))


def _pool_order(problem: Problem, embeddings: FloatArray) -> IntArray:
    cells = cells_of(problem)
    return problem.cached("clip_clip order", lambda: column_order(embeddings, cells.pool_cell))


def _checked_order(order: ArrayLike, width: int) -> IntArray:
    columns = np.asarray(order)
    if (
        columns.shape != (width,)
        or columns.dtype.kind not in "iu"
        or not np.array_equal(np.sort(columns), np.arange(width))
    ):
        raise InputError(f"order is no permutation of the embeddings' {numbered(width, 'column')}")
    return columns.astype(np.intp)
