"""What every selection method is to its callers, and how a set of items becomes a Selection."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mprlib.arrays import IntArray, mean_of
from mprlib.declarations import Declared
from mprlib.errors import SettingError
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase, measured
from mprlib.label_error import ChosenBy
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.selection import Selection, Status
from mprlib.settings import Choice, Number, Setting, checked

# The order in which items are returned, of methods that have one of their own.
ORDER = Choice(("score", "fair"))

# Points of a sweep where nobody says how many: enough for a curve.
DEFAULT_POINTS = 20


class Method(Declared):
    """A selection method: a frozen dataclass of its settings, which sweeps the values of its parameter.

    parameter: the name of what a sweep varies ("rho", "lambda"), None when there is none.
    value: what the parameter may be; `value_of_width` where that depends on the vectors.
    classes: names of the classes that a constrained method can bound; None where it takes all.
    is_constrained: the method bounds the MPR of the oracle's class (it has a target class).
    reads_labels: it looks at the labels of the items when it chooses them.
    reads_expected_labels: where labels may be wrong, it chooses by expected true ones.
    reads_reference: what it chooses depends on the reference, whose sampling error it may then fit.
    needs_embeddings: it reads problem.embeddings; needs_query: it reads problem.query. takes_distances: it looks at
    embeddings for the distances between them alone, and takes those that somebody keeps (`Problem.with_vectors`).
    """

    __slots__ = ()

    name: ClassVar[str]
    parameter: ClassVar[str | None] = None
    value: ClassVar[Setting] = Number(least=0)
    classes: ClassVar[tuple[str, ...] | None] = None
    is_constrained: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = True
    reads_expected_labels: ClassVar[bool] = False
    reads_reference: ClassVar[bool] = True
    needs_embeddings: ClassVar[bool] = False
    needs_query: ClassVar[bool] = False
    takes_distances: ClassVar[bool] = False

    @classmethod
    def chooses_by(cls) -> ChosenBy:
        """What it chooses items by where labels may be wrong."""
        if cls.reads_expected_labels:
            return "expected"
        return "labels" if cls.reads_labels else "other"

    @abstractmethod
    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[Any]) -> list[Selection]:
        """One Selection per checked value, in the order given, measured by the oracle."""

    def swept(self, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[Selection]:
        """One Selection per checked value, measured under a class; words among the values stand for numbers."""
        settled = self.settled(problem, function_class, values)
        found = self.swept_values(problem, function_class, [value for value, _ in settled])
        return [_with_remark(problem, one, remark) for one, (_, remark) in zip(found, settled)]

    def swept_values(self, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[Selection]:
        """One Selection per number, in the order given."""
        return self.sweep(problem, function_class.bind(problem), values)

    @classmethod
    def settled(cls, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[tuple[Any, str]]:
        """Each value as what `sweep` takes, with a remark on what it stood for."""
        return [(value, "") for value in values]

    @classmethod
    def grid(cls, problem: Problem, oracle: Oracle, points: int) -> list[Any]:
        """Up to that many values of the parameter for a curve, the paper's where it has some."""
        return [None]

    @classmethod
    def value_of_width(cls, width: int) -> Setting:
        """What the parameter may be where vectors have `width` numbers."""
        return cls.value

    @classmethod
    def takes(cls, function_class: str) -> bool:
        """Whether the method can bound the class of that name; any class where it bounds none."""
        return cls.classes is None or function_class in cls.classes

    @classmethod
    def checked_values(cls, values: Sequence[Any], width: int | None = None) -> list[Any]:
        """The values of the parameter; None where the method has none. width: numbers of a vector, where known.

        Raises:  SettingError for a value that the parameter may not be, or one where there is no parameter.
        """
        if cls.parameter is not None:
            setting = cls.value if width is None else cls.value_of_width(width)
            return [checked(setting, cls.parameter, value, cls._owner()) for value in values]
        for value in values:
            if value is not None:
                raise SettingError(
                    f"{cls.name} has no parameter: the value {value!r} does not apply, leave it out", setting="value"
                )
        return list(values)

    @classmethod
    def expect_inputs(cls, problem: Problem) -> None:
        """Refuse a problem that lacks the vectors which the method reads.

        Raises:  InputError naming them.
        """
        if cls.needs_embeddings:
            pool_embeddings(problem, cls.name)
        if cls.needs_query:
            query_vector(problem, cls.name)

    @classmethod
    def _notes(cls) -> list[str]:
        return [] if cls.parameter is None else [f"parameter {cls.parameter}: {cls.value.expected}"]

    @classmethod
    def _owner(cls) -> str:
        return f"{cls.name}'s "


def _with_remark(problem: Problem, found: Selection, remark: str) -> Selection:
    """A selection with the ids of its items, and a remark on its value."""
    message = "; ".join(part for part in (found.message, remark) if part)
    ids = None if problem.item_ids is None else problem.item_ids[found.items]
    return found if ids is None and not remark else replace(found, message=message, ids=ids)


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
    worst: what the measuring code says of the set that is given out, where it was asked already.
    """

    similarity_bound: float | None = None
    relaxation_bound: float | None = None
    rho_min: float | None = None
    is_infeasible: bool = False
    is_stopped: bool = False
    tolerance: float = 0.0
    worst: WorstCase | None = None


def selected(
    problem: Problem,
    oracle: Oracle,
    items: IntArray,
    *,
    method: str,
    value: Any,
    rho: float | None = None,
    proof: Proof = Proof(),
    message: str = "",
) -> Selection:
    """A Selection of these items, best first: the one place that measures a set, compares it with rho and
    says what is known of it.

    rho: what the method had to meet; None where it has none. No set is given out as meeting rho whose
    measured value exceeds it, and no bound is below the similarity of a set that meets rho.
    """
    # Where places have weights, items come in their order.
    ranked = problem.ranked(items) if problem.place_weights is None else items
    worst = measured(problem, oracle, ranked) if proof.worst is None else proof.worst
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
        status=_status(rho, is_inside, is_best and rho is not None and worst.upper_bound <= rho, proof),
        method=method,
        value=value,
        similarity=similarity,
        mpr=worst.value,
        mpr_upper_bound=worst.upper_bound,
        rho=rho,
        rho_min=rho_min,
        relaxation_bound=relaxed,
        similarity_bound=bound,
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


def mean_score(problem: Problem, ranked: IntArray) -> float:
    """Mean similarity of items, summed best first so that equal sets give equal bits; by the weights of places."""
    return mean_of(problem.scores[ranked], problem.place_weights)
