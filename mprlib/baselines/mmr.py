"""Maximal marginal relevance: similarity traded against distance to what is chosen already.

The first item is the most similar one; then each step takes the item with the largest
(1 - lambda) * similarity + lambda * spread, where spread is its mean Euclidean distance to the
chosen items (the paper's form), or the distance to the nearest or the farthest of them. The paper's
authors standardise both terms by constants of the whole pool, which are the same for every
candidate and cancel; no pass over all pairs is needed.

All lambda of a sweep advance together and share their distance columns. When one is missing, those of
the next best candidates of every lambda whose last items were predictable (some steps ago all of them
were near the top) are computed with it: most are chosen soon, and a product with a hundred vectors
takes as long as three products with one. Columns are computed in float32 with a
proven bound on their error; where that error could change the winner, the candidates in doubt are
compared in double precision, by differences.

Source: Carbonell and Goldstein 1998; the MPR paper's stand-in for PATHS (section 5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import Chosen, SharedBaseline
from mprlib.baselines.distances import DistanceColumns
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import Choice, Number

# How distances to the chosen items become one number.
SPREADS = {"mean": np.add, "nearest": np.minimum, "farthest": np.maximum}
# Entries of a (lambda, item) matrix: more lambda than fit are run in groups.
LARGEST_MATRIX = 1_000_000
# Columns that are computed together, at least, and the next best candidates of each lambda among them.
BATCH, AHEAD = 32, 12
# The items of this many steps must have been among the best 2 BATCH candidates before them, else the
# ranking changes too much for a batch to pay off.
FORESIGHT = 3
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
        chosen = walked(problem, pool_embeddings(problem, self.name), values, self.spread)
        return [Chosen(items=items) for items in chosen]


def walked(problem: Problem, embeddings: FloatArray, values: Sequence[float], spread: str) -> list[IntArray]:
    """The items (k,) of each lambda, by distances between embeddings (n, d); equal lambda are run once."""
    distinct = list(dict.fromkeys(float(value) for value in values))
    distances = DistanceColumns(embeddings)
    together = max(1, LARGEST_MATRIX // problem.n)
    chosen: dict[float, IntArray] = {}
    for start in range(0, len(distinct), together):
        group = distinct[start : start + together]
        chosen.update(zip(group, _walk(problem, distances, np.array(group), spread)))
    return [chosen[float(value)] for value in values]


def _walk(problem: Problem, distances: DistanceColumns, trade_offs: FloatArray, spread: str) -> IntArray:
    """Chosen items (L, k) of L lambda, in the order in which they are taken."""
    chosen = np.empty((trade_offs.size, problem.k), dtype=np.intp)
    chosen[:, 0] = problem.best_first[0]
    walkers = [_Walker(problem, trade_off, spread, distances) for trade_off in trade_offs.tolist()]
    # Upper bounds of the merits by which the last items were taken, one matrix a step.
    merits: deque[FloatArray] = deque([np.stack([walker.relevance for walker in walkers])], maxlen=FORESIGHT)
    for step in range(1, problem.k):
        latest = chosen[:, step - 1]
        distances.prepare(_promising(problem, distances, merits, chosen[:, max(0, step - FORESIGHT) : step]))
        columns = distances.columns(np.unique(latest))
        merit = np.empty((len(walkers), problem.n)) if len(merits) < FORESIGHT else merits[0]
        for row, (walker, item) in enumerate(zip(walkers, latest.tolist())):
            candidates = walker.after(item, columns[item], step, high=merit[row])
            if candidates.size > 1:
                candidates = walker.best(candidates, distances.exact(candidates, chosen[row, :step]))
            chosen[row, step] = candidates[0]
        merits.append(merit)
    return chosen


class _Walker:
    """One lambda on its way: relevance (n,), -inf for what is chosen, and how far each item is from what is chosen.

    Every step looks at all items a few times, one lambda after the other, so that its rows stay in a core's cache.
    """

    def __init__(self, problem: Problem, trade_off: float, spread: str, distances: DistanceColumns) -> None:
        from mprlib.baselines import mmr_kernel as kernel

        self._kernel, self._problem, self._trade_off = kernel, problem, trade_off
        self._is_mean, self._combine = spread == "mean", SPREADS[spread]
        self._spread = {"mean": kernel.MEAN, "nearest": kernel.NEAREST, "farthest": kernel.FARTHEST}[spread]
        self.relevance = (1.0 - trade_off) * problem.scores
        rounding = ROUNDING * float(np.abs(self.relevance).max())
        self._terms = kernel.Terms(*distances.error_terms, ROUNDING, rounding)
        self._total = np.full(problem.n, np.inf if spread == "nearest" else 0.0)
        self._error, self._low = np.zeros((2, problem.n))
        self._found = np.empty(problem.n, dtype=np.int64)
        self._share = trade_off

    def after(self, item: int, column: FloatArray, step: int, high: FloatArray) -> IntArray:
        """Items that may have the largest merit after one is chosen, by the distances to it; upper bounds of merits go
        into high (n,)."""
        self.relevance[item] = -np.inf
        self._share = self._trade_off / step if self._is_mean else self._trade_off
        walk = self._kernel.Walk(self.relevance, self._total, self._error, self._low, high, self._found)
        number = self._kernel.step(walk, column, self._terms, self._share, self._spread)
        return self._found[:number]

    def best(self, candidates: IntArray, distances: FloatArray) -> IntArray:
        """The candidates of largest merit, in the pool's order. distances (candidates, chosen), exact."""
        merit = self.relevance[candidates] + self._share * self._combine.reduce(distances, axis=1)
        return self._problem.ranked(candidates[merit == merit.max()])


def _promising(
    problem: Problem, distances: DistanceColumns, merits: Sequence[FloatArray], recent: IntArray
) -> IntArray:
    """Items whose columns a step needs, and where one lacks the next best candidates where prefetching pays off.

    Shapes:  recent (L, steps), the last items; merits, each (L, n), those by which they were taken.
    """
    from mprlib.baselines.mmr_kernel import best_of

    latest = recent[:, -1]
    items = [latest]
    if all(item in distances for item in latest.tolist()):
        return latest
    before, merit = merits[0], merits[-1]
    if len(merits) == 1 and latest.size > 1:
        # Small lambda take them.
        items.append(problem.best_first[: min(problem.k, 2 * BATCH)])
    ahead = min(max(AHEAD, -(-BATCH // latest.size)), problem.n)
    for walker in range(latest.size) if len(merits) > 1 else ():
        if np.count_nonzero(before[walker] > before[walker, recent[walker]].min()) < 2 * BATCH:
            items.append(best_of(merit[walker], ahead))
    return np.unique(np.concatenate(items))
