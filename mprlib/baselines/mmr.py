"""Maximal marginal relevance: similarity traded against distance to what is chosen already.

The first item is the most similar one; then each step takes the item with the largest
(1 - lambda) * similarity + lambda * spread, where spread is its mean Euclidean distance to the
chosen items (the paper's form), or the distance to the nearest or the farthest of them. The paper's
authors standardise both terms by constants of the whole pool, which are the same for every
candidate and cancel; no pass over all pairs is needed.

All lambda of a sweep advance together and share their distance columns (`mmr_kernel`). Where vectors are too many
for the processor's cache and a column is missing, those of the next best candidates of every lambda whose last items
were predictable (some steps ago all of them were near the top) are computed with it: most are chosen soon, and a
product with a hundred vectors takes as long as three products with one. Columns of distances do not depend on the
query: whoever asks one pool after the other of the same items hands in a place that keeps them
(`distances.DistanceColumns`), and chooses the same. Columns are computed in float32 with a
proven bound on their error; where that error could change the winner, the candidates in doubt are
compared in double precision, by differences.

Source: Carbonell and Goldstein 1998; the MPR paper's stand-in for PATHS (section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import Chosen, SharedBaseline
from mprlib.baselines.distances import PoolDistances, handed_in
from mprlib.pool_order import ranks
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import Choice, Number

if TYPE_CHECKING:
    from mprlib.baselines.mmr_columns_kernel import Columns, Kept, Pool
    from mprlib.baselines.mmr_kernel import Ahead, Walkers

# How distances to the chosen items become one number, by their numbers in the kernel.
SPREADS = {"mean": 0, "nearest": 1, "farthest": 2}
# Entries of a (lambda, item) matrix: more lambda than fit are run in groups.
LARGEST_MATRIX = 1_000_000
# Columns that are kept for other lambda, in bytes; further ones are computed when needed.
LARGEST_CACHE_BYTES = 128 * 1024 * 1024
# Vectors of this size stay near the processor: columns computed one by one take at most twice as long as together.
NEAR_BYTES = 16 * 1024 * 1024
# Of larger ones so many columns are computed together, at least, and the next best candidates of each lambda among
# them, if the items of some steps were among the best 2 BATCH candidates before them: else the ranking changes too much
# for a batch to pay off.
BATCH, AHEAD = 32, 12
# Rounding of a sum of k terms in double precision, as a share of the terms; added to what float32 leaves in doubt.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Mmr(SharedBaseline):
    """Maximal marginal relevance: similarity against distance to the chosen.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> [row.items.tolist() for row in mprlib.sweep(problem, "mmr", [0.0, 0.9])]
    [[0, 1], [0, 2]]
    """

    name: ClassVar[str] = "mmr"
    reads_reference: ClassVar[bool] = False
    parameter: ClassVar[str] = "lambda"
    value: ClassVar[Number] = Number(least=0, most=1)
    needs_embeddings: ClassVar[bool] = True
    takes_distances: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    spread: Annotated[str, Choice(tuple(SPREADS)), "how distances to the chosen items become one number"] = "mean"

    @classmethod
    def spaced_values(cls, problem: Problem, points: int) -> list[float]:
        """Evenly spaced lambda in [0, 1), as in the paper."""
        return [float(value) for value in np.arange(points) / points]

    def choose_all(self, problem: Problem, values: Sequence[float]) -> list[Chosen]:
        """The items of each lambda.

        Raises:  InputError without embeddings.
        """
        distances = handed_in(problem) or PoolDistances.of(pool_embeddings(problem, self.name))
        chosen = walked(problem, distances, values, self.spread)
        return [Chosen(items=items) for items in chosen]


def walked(problem: Problem, distances: PoolDistances, values: Sequence[float], spread: str) -> list[IntArray]:
    """The items (k,) of each lambda, by distances between them; equal lambda are run once."""
    distinct = list(dict.fromkeys(float(value) for value in values))
    walk = Walk.of(problem, distances, spread)
    together = max(1, LARGEST_MATRIX // problem.n)
    chosen: dict[float, IntArray] = {}
    for start in range(0, len(distinct), together):
        group = distinct[start : start + together]
        chosen.update(zip(group, walk.items(np.array(group))))
    return [chosen[float(value)] for value in values]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Walk:
    """The pool of one problem, for any number of lambda. kept: columns of distances that other pools share."""

    problem: Problem
    pool: Pool
    kept: Kept
    square_error: float
    spread: str

    @classmethod
    def of(cls, problem: Problem, distances: PoolDistances, spread: str) -> Walk:
        """The pool of these distances."""
        from mprlib.baselines.mmr_columns_kernel import Pool, none_kept

        order = problem.best_first
        pool = Pool(
            vectors=distances.vectors,
            squares=distances.squares,
            given=distances.given,
            rows=distances.rows,
            order=order,
            rank=ranks(order),
        )
        kept = none_kept(distances.vectors.dtype) if distances.kept is None else distances.kept
        return cls(problem=problem, pool=pool, kept=kept, square_error=distances.square_error, spread=spread)

    def items(self, trade_offs: FloatArray) -> IntArray:
        """Chosen items (L, k) of L lambda, in the order in which they are taken."""
        return self.with_columns(trade_offs)[0]

    def with_columns(self, trade_offs: FloatArray) -> tuple[IntArray, int]:
        """The same, and how many columns of distances were computed."""
        from mprlib.baselines import mmr_kernel as kernel

        problem = self.problem
        walkers = self._walkers(trade_offs)
        rounding = ROUNDING * (1.0 - trade_offs) * float(np.abs(problem.scores).max())
        terms = kernel.Terms(self.square_error, float(np.sqrt(self.square_error)), ROUNDING, rounding)
        ahead, spread = self._ahead(trade_offs.size), SPREADS[self.spread]
        columns = self._columns(trade_offs.size, ahead.most > 0)
        chosen = np.empty((trade_offs.size, problem.k), dtype=np.int64)
        chosen[:, 0] = self.pool.order[0]
        kernel.walk(self.pool, self.kept, columns, walkers, terms, ahead, spread, chosen)
        return chosen.astype(np.intp), int(columns.number[1])

    def _walkers(self, trade_offs: FloatArray) -> Walkers:
        from mprlib.baselines import mmr_kernel as kernel

        shape = trade_offs.size, self.problem.n
        none = np.inf if self.spread == "nearest" else 0.0
        return kernel.Walkers(
            trade_off=trade_offs,
            relevance=(1.0 - trade_offs)[:, None] * self.problem.scores,
            total=np.full(shape, none),
            error=np.zeros(shape),
            high=np.empty((kernel.FORESIGHT, *shape)),
            exact=np.full(shape, none),
            known=np.zeros(shape, dtype=np.int64),
            low=np.empty(shape[1]),
            found=np.empty(shape[1], dtype=np.int64),
        )

    def _columns(self, lambdas: int, is_ahead: bool) -> Columns:
        """Room for columns of distances; each step of a lambda needs one, and others are computed ahead."""
        from mprlib.baselines.mmr_columns_kernel import NONE, Columns

        vectors, most = self.pool.vectors, self.problem.n
        needed = most if is_ahead else min(most, lambdas * self.problem.k)
        kept = min(needed, max(1, LARGEST_CACHE_BYTES // (most * vectors.itemsize)))
        return Columns(
            table=np.empty((kept + lambdas, most), dtype=vectors.dtype),
            slot=np.full(most, NONE, dtype=np.int64),
            number=np.zeros(2, dtype=np.int64),
        )

    def _ahead(self, lambdas: int) -> Ahead:
        from mprlib.baselines.mmr_kernel import Ahead

        # What one pool lacks of kept columns, others may ask for.
        if self.pool.vectors.nbytes <= NEAR_BYTES and not self.kept.owner.size:
            return Ahead(most=0, from_top=0, settled=0)
        # At the first step, small lambda take the most similar items.
        from_top = min(self.problem.k, 2 * BATCH) if lambdas > 1 else 0
        return Ahead(most=max(AHEAD, -(-BATCH // lambdas)), from_top=from_top, settled=2 * BATCH)
