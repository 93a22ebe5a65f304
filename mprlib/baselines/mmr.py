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
from typing import Annotated, ClassVar

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
BATCH = 16
# The items of this many steps must have been among the best 2 BATCH candidates before them, else the
# ranking changes too much for a batch to pay off.
FORESIGHT = 6
# Rounding of a sum of k terms in double precision, as a share of the terms; added to what float32 leaves in doubt.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Mmr(SharedBaseline):
    """Maximal marginal relevance: similarity against distance to the chosen."""

    name: ClassVar[str] = "mmr"
    parameter: ClassVar[str] = "lambda"
    value: ClassVar[Number] = Number(least=0, most=1)
    needs_embeddings: ClassVar[bool] = True

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
    combine, combine_errors = SPREADS[spread]
    chosen = np.empty((trade_offs.size, problem.k), dtype=np.intp)
    chosen[:, 0] = problem.best_first[0]
    walkers = np.arange(trade_offs.size)
    relevance = (1.0 - trade_offs)[:, None] * problem.scores
    relevance_rounding = ROUNDING * np.abs(relevance).max(axis=1, keepdims=True)
    merits = deque([relevance.copy()], maxlen=FORESIGHT)
    total = np.empty(relevance.shape)
    error = np.empty(relevance.shape)
    for step in range(1, problem.k):
        latest = chosen[:, step - 1]
        distances.prepare(_promising(distances, merits, chosen[:, max(0, step - FORESIGHT) : step]))
        relevance[walkers, latest] = -np.inf
        needed, column_of = np.unique(latest, return_inverse=True)
        columns = distances.columns(needed)
        errors = distances.errors(columns)
        if step == 1:
            total[:], error[:] = columns[column_of], errors[column_of]
        else:
            for walker, column in enumerate(column_of):
                combine(total[walker], columns[column], out=total[walker])
                combine_errors(error[walker], errors[column], out=error[walker])
        share = (trade_offs / step if spread == "mean" else trade_offs)[:, None]
        merit = relevance + share * total
        merits.append(merit)
        doubt = share * (error + ROUNDING * total) + relevance_rounding
        is_open = merit + doubt >= np.max(merit - doubt, axis=1, keepdims=True)
        for walker in range(trade_offs.size):
            candidates: IntArray = np.flatnonzero(is_open[walker])
            if candidates.size > 1:
                apart = combine.reduce(distances.exact(candidates, chosen[walker, :step]), axis=1)
                candidates = _best(problem, candidates, relevance[walker, candidates] + share[walker] * apart)
            chosen[walker, step] = candidates[0]
    return chosen


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


def _best(problem: Problem, candidates: IntArray, merit: FloatArray) -> IntArray:
    """The candidates of largest merit, in the pool's order."""
    return problem.ranked(candidates[merit == merit.max()])
