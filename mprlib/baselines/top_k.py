"""The k most similar items; ties by item id."""

from __future__ import annotations

from collections.abc import Sequence

from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import Problem
from mprlib.selection import Selection


def sweep(problem: Problem, oracle: Oracle, values: Sequence[None]) -> list[Selection]:
    """The same k items for every value: there is no parameter."""
    selections = []
    for value in values:
        watch = Stopwatch()
        items = problem.best_first[: problem.k]
        selections.append(selected(problem, oracle, items, method="top_k", value=value, solve_seconds=watch.seconds()))
    return selections
