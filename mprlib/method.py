"""What every selection method is to its callers, and how a set of items becomes a Selection."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mprlib.arrays import IntArray
from mprlib.cells import selection_weights
from mprlib.errors import SettingError
from mprlib.function_classes.base import Oracle
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.selection import Selection, Status
from mprlib.settings import Number, Setting, checked, checked_keywords, declared

Sweep = Callable[..., list[Selection]]
Grid = Callable[[Problem, Oracle, int], list[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """A registered method.

    parameter: the name of what a sweep varies ("rho", "lambda"), None when there is none.
    sweep: sweep(problem, oracle, values, **extras) -> one Selection a value, in the order given. The types of its
        keywords declare what settings may hold (mprlib.settings); a keyword that declares nothing is an array.
    grid: grid(problem, oracle, points) -> the paper's values for that many points.
    value: what the parameter may be; value_of_width(d): what it may be where vectors have d numbers.
    classes: names of the classes that a constrained method can bound; None where it takes all.
    is_constrained: the method bounds the MPR of the oracle's class (it has a target class).
    needs_embeddings: it reads problem.embeddings; needs_query: it reads problem.query.
    """

    name: str
    summary: str
    sweep: Sweep
    parameter: str | None = None
    grid: Grid | None = None
    value: Setting = Number(least=0)
    value_of_width: Callable[[int], Setting] | None = None
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

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What each extra that is no array may hold."""
        return {name: setting for name, setting in declared(self.sweep).items() if name in self.keywords}

    def checked_extras(self, extras: Mapping[str, Any]) -> dict[str, Any]:
        """The extras, those that are settings checked.

        Raises:  SettingError for a setting that the method has not, or a value that it may not hold.
        """
        for name in extras:
            if name not in self.keywords:
                known = f"it has {', '.join(self.keywords)}" if self.keywords else "it has no settings"
                raise SettingError(f"method {self.name!r} has no setting {name!r}: {known}", setting=name)
        return checked_keywords(self.sweep, extras, owner=f"{self.name}'s ")

    def checked_values(self, values: Sequence[Any], width: int | None = None) -> list[Any]:
        """The values of the parameter; None where the method has none. width: numbers of a vector, where known.

        Raises:  SettingError for a value that the parameter may not be, or one where there is no parameter.
        """
        if self.parameter is not None:
            is_settled = width is None or self.value_of_width is None
            setting = self.value if is_settled else self.value_of_width(width)
            return [checked(setting, self.parameter, value, owner=f"{self.name}'s ") for value in values]
        for value in values:
            if value is not None:
                raise SettingError(
                    f"{self.name} has no parameter: the value {value!r} does not apply, leave it out", setting="value"
                )
        return list(values)

    def expect_inputs(self, problem: Problem) -> None:
        """Refuse a problem that lacks the vectors which the method reads.

        Raises:  InputError naming them.
        """
        if self.needs_embeddings:
            pool_embeddings(problem, self.name)
        if self.needs_query:
            query_vector(problem, self.name)


class Stopwatch:
    """Seconds since it was made, for `solve_seconds`."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds of wall time until now."""
        return time.perf_counter() - self._start


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """What an optimiser knows of all sets that meet one rho.

    similarity_bound: no such set has a larger mean similarity; relaxation_bound: the convex relaxation's.
    rho_min: no set has a smaller MPR. is_infeasible: no set meets rho.
    is_stopped: a clock ended the search, so that a rerun may find another set.
    tolerance: sets this close to the bound, in mean similarity, are as good as any.
    """

    similarity_bound: float | None = None
    relaxation_bound: float | None = None
    rho_min: float | None = None
    is_infeasible: bool = False
    is_stopped: bool = False
    tolerance: float = 0.0


def selected(
    problem: Problem,
    oracle: Oracle,
    items: IntArray,
    *,
    method: str,
    value: Any,
    rho: float | None = None,
    proof: Proof = Proof(),
    solve_seconds: float = 0.0,
    message: str = "",
) -> Selection:
    """A Selection of these items, best first: the one place that measures a set, compares it with rho and
    says what is known of it.

    rho: what the method had to meet; None where it has none. No set is given out as meeting rho whose
    measured value exceeds it, and no bound lies below a set that attains it.
    """
    ranked = problem.ranked(items)
    worst = oracle.worst_case(selection_weights(problem, ranked))
    similarity = mean_score(problem, ranked)
    is_inside = rho is not None and worst.value <= rho
    bound, relaxed, rho_min = proof.similarity_bound, proof.relaxation_bound, proof.rho_min
    is_best = is_inside and bound is not None and bound - similarity <= proof.tolerance
    if is_best:
        # The bound and the mean are sums of the same scores in another order.
        bound = similarity
    if bound is not None and relaxed is not None:
        relaxed = max(relaxed, bound)
    if is_inside and rho_min is not None:
        rho_min = min(rho_min, worst.value)
    return Selection(
        items=ranked,
        # Of a class that is searched by a heuristic the measured value is a lower bound.
        status=_status(rho, is_inside, is_best and worst.upper_bound <= rho, proof),
        method=method,
        value=value,
        similarity=similarity,
        mpr=worst.value,
        mpr_upper_bound=worst.upper_bound,
        rho=rho,
        rho_min=rho_min,
        relaxation_bound=relaxed,
        similarity_bound=bound,
        solve_seconds=solve_seconds,
        message=message,
    )


def _status(rho: float | None, is_inside: bool, is_best: bool, proof: Proof) -> Status:
    if rho is None:
        return Status.TIME_LIMIT if proof.is_stopped else Status.DONE
    if is_inside and is_best:
        return Status.OPTIMAL
    if not is_inside and proof.is_infeasible:
        return Status.INFEASIBLE
    if proof.is_stopped:
        return Status.TIME_LIMIT
    return Status.FEASIBLE if is_inside else Status.NOT_FOUND


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
