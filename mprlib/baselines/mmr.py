"""Maximal marginal relevance: similarity traded against distance to what is chosen already.

The first item is the most similar one; then each step takes the item with the largest
(1 - lambda) * similarity + lambda * mean Euclidean distance to the chosen items. The paper's
authors standardise both terms by constants of the whole pool, which are the same for every
candidate and cancel; no pass over all pairs is needed. A sweep shares its distance columns, since
the first items agree for neighbouring lambda.

Source: Carbonell and Goldstein 1998; the MPR paper's stand-in for PATHS (section 5).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import FloatArray, IntArray, Problem
from mprlib.selection import Selection


def grid(problem: Problem, oracle: Oracle, points: int) -> list[float]:
    """Evenly spaced lambda in [0, 1), as in the paper."""
    return [float(value) for value in np.arange(points) / points]


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
    """One Selection a lambda, in the order given.

    Raises:  InputError without embeddings, or for a lambda outside [0, 1].
    """
    if problem.embeddings is None:
        raise InputError("mmr needs the pool's embeddings: pass embeddings= to Problem")
    for value in values:
        if value is None or not 0 <= value <= 1:
            raise InputError(f"mmr's lambda is {value}: a number from 0 to 1 is expected")
    distances = _DistanceColumns(problem.embeddings)
    selections = []
    for value in values:
        watch = Stopwatch()
        items = _greedy(problem, distances, float(value))
        selections.append(selected(problem, oracle, items, method="mmr", value=value, solve_seconds=watch.seconds()))
    return selections


def _greedy(problem: Problem, distances: _DistanceColumns, trade_off: float) -> IntArray:
    """Candidates in the pool's order, so that argmax breaks ties by score, then by item id."""
    order = problem.best_first
    relevance = (1.0 - trade_off) * problem.scores
    total_distance = np.zeros(problem.n)
    is_free = np.ones(problem.n, dtype=bool)
    chosen = [int(order[0])]
    is_free[chosen[0]] = False
    while len(chosen) < problem.k:
        total_distance += distances.column(chosen[-1])
        merit = np.where(is_free, relevance + trade_off * (total_distance / len(chosen)), -np.inf)
        best = int(order[np.argmax(merit[order])])
        chosen.append(best)
        is_free[best] = False
    return np.array(chosen)


class _DistanceColumns:
    """Euclidean distances from one item to all, computed when first asked for."""

    def __init__(self, embeddings: FloatArray) -> None:
        # Near-duplicates differ in the last digits of float32; the square of a difference of
        # products would lose them.
        self._embeddings = embeddings.astype(np.float64)
        self._squares = np.einsum("ij,ij->i", self._embeddings, self._embeddings)
        self._columns: dict[int, FloatArray] = {}

    def column(self, item: int) -> FloatArray:
        if item not in self._columns:
            products = self._embeddings @ self._embeddings[item]
            squares = self._squares + self._squares[item] - 2.0 * products
            self._columns[item] = np.sqrt(np.maximum(squares, 0.0))
        return self._columns[item]
