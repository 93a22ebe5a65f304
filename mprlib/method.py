"""What every selection method is to its callers, and how a set of items becomes a Selection."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mprlib.cells import selection_weights
from mprlib.function_classes.base import Oracle
from mprlib.problem import IntArray, Problem
from mprlib.selection import Selection, Status

Sweep = Callable[..., list[Selection]]
Grid = Callable[[Problem, Oracle, int], list[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """A registered method.

    parameter: the name of what a sweep varies ("rho", "lambda"), None when there is none.
    sweep: sweep(problem, oracle, values, **extras) -> one Selection a value, in the order given.
    grid: grid(problem, oracle, points) -> the paper's values for that many points.
    limits: the parameter's smallest and largest value.
    classes: names of the classes that a constrained method can bound; None where it takes all.
    is_constrained: the method bounds the MPR of the oracle's class (it has a target class).
    needs_embeddings: it reads problem.embeddings; needs_query: it reads problem.query.
    """

    name: str
    summary: str
    sweep: Sweep
    parameter: str | None = None
    grid: Grid | None = None
    limits: tuple[float, float] = (0.0, float("inf"))
    classes: tuple[str, ...] | None = None
    is_constrained: bool = False
    needs_embeddings: bool = False
    needs_query: bool = False

    def takes(self, function_class: str) -> bool:
        """Whether the method can bound the class of that name; any class where it bounds none."""
        return self.classes is None or function_class in self.classes

    @property
    def keywords(self) -> tuple[str, ...]:
        """Names of the extras that `sweep` takes."""
        return tuple(inspect.signature(self.sweep).parameters)[3:]


class Stopwatch:
    """Seconds since it was made, for `solve_seconds`."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds of wall time until now."""
        return time.perf_counter() - self._start


def selected(
    problem: Problem,
    oracle: Oracle,
    items: IntArray,
    *,
    method: str,
    value: Any,
    status: Status = Status.DONE,
    **fields: Any,
) -> Selection:
    """A Selection of these items, ordered best first and measured by the measuring code."""
    ranked = problem.ranked(items)
    worst = oracle.worst_case(selection_weights(problem, ranked))
    return Selection(
        items=ranked,
        status=status,
        method=method,
        value=value,
        similarity=mean_score(problem, ranked),
        mpr=worst.value,
        mpr_upper_bound=worst.upper_bound,
        **fields,
    )


def failed(*, method: str, value: Any, message: str, **fields: Any) -> Selection:
    """A Selection without items; the message says why."""
    return Selection(
        items=np.empty(0, dtype=np.intp),
        status=Status.FAILED,
        method=method,
        value=value,
        similarity=None,
        mpr=None,
        mpr_upper_bound=None,
        message=message,
        **fields,
    )


def mean_score(problem: Problem, ranked: Sequence[int]) -> float:
    """Mean similarity of items, summed best first so that equal sets give equal bits."""
    return float(np.mean(problem.scores[ranked]))
