"""Maximal marginal relevance: similarity traded against distance to what is chosen already.

The first item is the most similar one; then each step takes the item with the largest
(1 - lambda) * similarity + lambda * spread, where spread is its mean Euclidean distance to the
chosen items (the paper's form), or the distance to the nearest or the farthest of them. The paper's
authors standardise both terms by constants of the whole pool, which are the same for every
candidate and cancel; no pass over all pairs is needed.

All lambda of a sweep advance together and share their distance columns. When one is missing and the
last items were predictable (some steps ago all of them were near the top), those of the next best
candidates are computed with it: most are chosen soon, and a product with sixteen vectors takes as
long as three products with one. Columns are computed in float32 with a
proven bound on their error; where that error could change the winner, the candidates in doubt are
compared in double precision, by differences.

Source: Carbonell and Goldstein 1998; the MPR paper's stand-in for PATHS (section 5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import Chosen, SharedBaseline
from mprlib.baselines.distances import DistanceColumns
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import Choice, Number

# How distances to the chosen items become one number, and how the errors of the distances add up.
SPREADS = {"mean": (np.add, np.add), "nearest": (np.minimum, np.maximum), "farthest": (np.maximum, np.maximum)}
# Entries of a (lambda, item) matrix: more lambda than fit are run in groups.
LARGEST_MATRIX = 1_000_000
# Columns that are computed together, at least.
BATCH = 32
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
    walkers = [_Walker(problem, trade_off, spread) for trade_off in trade_offs.tolist()]
    # Merits by which the last items were taken, one matrix a step; the oldest is written over.
    merits: deque[FloatArray] = deque([np.stack([walker.relevance for walker in walkers])])
    for step in range(1, problem.k):
        latest = chosen[:, step - 1]
        distances.prepare(_promising(distances, merits, chosen[:, max(0, step - FORESIGHT) : step]))
        needed, column_of = np.unique(latest, return_inverse=True)
        columns = distances.columns(needed)
        errors = distances.errors(columns)
        largest = np.array([np.delete(one, item).max(initial=0.0) for one, item in zip(errors, needed)])
        merit = merits.popleft() if len(merits) == FORESIGHT else np.empty((len(walkers), problem.n))
        for row, (walker, column) in enumerate(zip(walkers, column_of)):
            walker.take(int(latest[row]), columns[column], errors[column], float(largest[column]))
            candidates = walker.open_items(step, out=merit[row])
            if candidates.size > 1:
                candidates = walker.best(candidates, distances.exact(candidates, chosen[row, :step]))
            chosen[row, step] = candidates[0]
        merits.append(merit)
    return chosen


class _Walker:
    """One lambda on its way: relevance (n,), -inf for what is chosen, and how far each item is from what is chosen.

    Every step looks at all items a few times, one lambda after the other, so that its rows stay in a core's cache.
    """

    def __init__(self, problem: Problem, trade_off: float, spread: str) -> None:
        self._problem, self._trade_off, self._is_mean = problem, trade_off, spread == "mean"
        self._combine, self._combine_errors = SPREADS[spread]
        self.relevance = (1.0 - trade_off) * problem.scores
        self._rounding = ROUNDING * float(np.abs(self.relevance).max())
        self._total, self._error = np.empty((2, problem.n))
        self._largest_error: float | None = None
        self._share = trade_off

    def take(self, item: int, column: FloatArray, error: FloatArray, largest: float) -> None:
        """Note a chosen item: the distances to it, the bounds of their errors, and the largest to another item."""
        self.relevance[item] = -np.inf
        if self._largest_error is None:
            self._total[:], self._error[:], self._largest_error = column, error, largest
        else:
            self._combine(self._total, column, out=self._total)
            self._combine_errors(self._error, error, out=self._error)
            self._largest_error = float(self._combine_errors(self._largest_error, largest))

    def open_items(self, step: int, out: FloatArray) -> IntArray:
        """Items that may have the largest merit; merits go into out (n,)."""
        self._share = self._trade_off / step if self._is_mean else self._trade_off
        np.multiply(self._total, self._share, out=out)
        out += self.relevance
        highest = float(out.max())
        # Few items can reach the highest however their errors fall; only theirs are looked at.
        most = self._doubt(self._largest_error or 0.0, float(self._total.max()))
        near: IntArray = np.flatnonzero(out >= highest - 2.0 * most * (1.0 + ROUNDING))
        merit, doubt = out[near], self._doubt(self._error[near], self._total[near])
        open_items: IntArray = near[merit + doubt >= np.max(merit - doubt)]
        return open_items

    def best(self, candidates: IntArray, distances: FloatArray) -> IntArray:
        """The candidates of largest merit, in the pool's order. distances (candidates, chosen), exact."""
        merit = self.relevance[candidates] + self._share * self._combine.reduce(distances, axis=1)
        return self._problem.ranked(candidates[merit == merit.max()])

    def _doubt(self, error: Any, total: Any) -> Any:
        return self._share * (error + ROUNDING * total) + self._rounding


def _promising(distances: DistanceColumns, merits: Sequence[FloatArray], recent: IntArray) -> IntArray:
    """Items whose columns a step needs and lacks, and the next best candidates where prefetching pays off.

    Shapes:  recent (L, steps), the last items; merits, each (L, n), those by which they were taken.
    """
    latest = recent[:, -1]
    lacking = [walker for walker, item in enumerate(latest.tolist()) if item not in distances]
    items = [latest[lacking]]
    before, merit = merits[0], merits[-1]
    ahead = min(-(-BATCH // max(1, len(lacking))), merit.shape[1])
    for walker in lacking if len(merits) > 1 else ():
        if np.count_nonzero(before[walker] > before[walker, recent[walker]].min()) < 2 * BATCH:
            items.append(np.argpartition(merit[walker], merit.shape[1] - ahead)[-ahead:])
    return np.unique(np.concatenate(items))
