"""The most similar set that may claim each rho, where labels may be wrong.

Sets are found on expected true labels for a few bounds rho' below rho, and each is asked what it may claim
(`mprlib.label_errors.claims`); the bounds of the next round are read off the answers. Of all sets that were found, the
most similar one whose claim suffices is taken for each rho. No bound on the similarity of such sets is known, so
that none is called best, and none is ruled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mprlib.arrays import IntArray, summable
from mprlib.function_classes.base import FunctionClass
from mprlib.label_errors.claims import claim_of, next_limits, with_claim
from mprlib.label_errors.expected import expected_problem
from mprlib.method import Method, Stopwatch, selected
from mprlib.optimisers.request import checked_rhos
from mprlib.problem import Problem
from mprlib.selection import Selection

# Sweeps over rho': the first is spread over the range of rho, the others are read off what was claimed.
ROUNDS = 3
# Values of rho' in the first sweep, and the smallest of them as a part of the largest.
FIRST_VALUES, SMALLEST_PART = 8, 0.02


def claiming_sets(
    method: Method, problem: Problem, function_class: FunctionClass, values: Sequence[float], confidence: float
) -> list[Selection]:
    """One Selection per rho, in the order given: the method's own on expected labels, and measured as they are."""
    watch, rhos = Stopwatch(), checked_rhos(values, method.name)
    search = _Search(method, problem, function_class, confidence)
    search.sweep(_first_limits(max(rhos)))
    for _ in range(ROUNDS - 1):
        search.sweep(search.limits(rhos))
    oracle = function_class.bind(problem)
    rows = []
    for rho, value in zip(rhos, values):
        items = search.best(rho)
        row = selected(problem, oracle, items, method=method.name, value=value, rho=rho)
        # In the order that the method has them.
        rows.append(with_claim(problem, replace(row, items=items), function_class, confidence))
    return [replace(row, solve_seconds=watch.seconds() / len(rows)) for row in rows]


def _first_limits(largest: float) -> list[float]:
    if largest < np.finfo(float).tiny:
        return [largest]
    spaced: list[float] = np.geomspace(largest * SMALLEST_PART, largest, FIRST_VALUES).tolist()
    return spaced


class _Search:
    """Sets that were found, by the rho' that they were found for, and what each claims."""

    def __init__(self, method: Method, problem: Problem, function_class: FunctionClass, confidence: float) -> None:
        self._method, self._problem = method, problem
        self._class, self._confidence = function_class, confidence
        self._expected = expected_problem(problem)
        self._oracle = self._expected.oracle(problem, function_class)
        self._sets: dict[bytes, tuple[IntArray, float, float]] = {}
        self._tried: dict[float, float] = {}
        self._keep(problem.best_first[: problem.k])

    def sweep(self, limits: Sequence[float]) -> None:
        """Find and keep a set for each rho' that was not tried."""
        new = sorted({limit for limit in limits if limit not in self._tried}, reverse=True)
        found = self._method.sweep(self._expected.problem, self._oracle, new) if new else []
        for limit, row in zip(new, found):
            self._tried[limit] = self._keep(row.items)

    def limits(self, rhos: Sequence[float]) -> list[float]:
        """The rho' to try for each rho."""
        tried = np.array(list(self._tried))
        return next_limits(rhos, tried, np.array([self._tried[limit] for limit in self._tried]))

    def best(self, rho: float) -> IntArray:
        """The most similar set that may claim rho; else the one that may claim the smallest."""
        carried = [one for one in self._sets.values() if one[2] <= rho]
        if carried:
            return max(carried, key=lambda one: one[1])[0]
        return min(self._sets.values(), key=lambda one: one[2])[0]

    def _keep(self, items: IntArray) -> float:
        key = np.sort(items).tobytes()
        if key not in self._sets:
            bound = claim_of(self._problem, items, self._class).bound(self._confidence)
            self._sets[key] = (items, float(summable(self._problem.scores)[items].sum()), bound)
        return self._sets[key][2]
