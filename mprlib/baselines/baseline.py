"""What a baseline is to the library: it chooses items, and everything else about a Selection is done here.

A baseline sees the problem, and the values of its parameter where it has one. It never sees a function
class: its sets are timed, measured and described by one driver, `Baseline.sweep`.

    FixedBaseline    no parameter: one set, whatever the value
    SweptBaseline    one set per value, each on its own
    SharedBaseline   the sets of all values at once, which share work
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mprlib.arrays import IntArray
from mprlib.function_classes.base import Oracle
from mprlib.method import ORDER, Method, Proof, Stopwatch, selected
from mprlib.problem import Problem
from mprlib.selection import Selection

__all__ = ["ORDER", "ORDER_MEANING", "Baseline", "Chosen", "FixedBaseline", "SharedBaseline", "SweptBaseline"]

ORDER_MEANING = "order of the items: by score, as the set that they are, or as the method ranks them"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """The set of one value.

    Shapes:  items (k,), distinct positions in the pool, in any order.
    message: what a reader should know of the set. is_stopped: a clock ended the search. is_ordered: the items are to
    be returned in this order, and not by score.
    """

    items: IntArray
    message: str = ""
    is_stopped: bool = False
    is_ordered: bool = False


class Baseline(Method):
    """A method that bounds no MPR."""

    __slots__ = ()

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[Any]) -> list[Selection]:
        """One Selection per value, in the order given."""
        return [
            replace(self._selection(problem, oracle, value, chosen), solve_seconds=seconds)
            for value, (chosen, seconds) in zip(values, self._timed(problem, values))
        ]

    def _selection(self, problem: Problem, oracle: Oracle, value: Any, chosen: Chosen) -> Selection:
        proof = Proof(is_stopped=chosen.is_stopped)
        found = selected(
            problem, oracle, chosen.items, method=self.name, value=value, proof=proof, message=chosen.message
        )
        return replace(found, items=chosen.items) if chosen.is_ordered else found

    @classmethod
    def grid(cls, problem: Problem, oracle: Oracle, points: int) -> list[Any]:
        """The spaced values, which depend on no function class."""
        return cls.spaced_values(problem, points)

    @classmethod
    def spaced_values(cls, problem: Problem, points: int) -> list[Any]:
        """Up to that many values of the parameter for a curve, the paper's where it has some."""
        return [None]

    @abstractmethod
    def _timed(self, problem: Problem, values: Sequence[Any]) -> Iterable[tuple[Chosen, float]]:
        """The set of each value, and the seconds that it took."""


class FixedBaseline(Baseline):
    """A baseline without a parameter."""

    __slots__ = ()

    @abstractmethod
    def choose(self, problem: Problem) -> Chosen:
        """The set.

        Raises:  InputError for settings that do not suit the problem.
        """

    def _timed(self, problem: Problem, values: Sequence[Any]) -> Iterable[tuple[Chosen, float]]:
        watch = Stopwatch()
        chosen = self.choose(problem)
        return [(chosen, watch.seconds() / len(values))] * len(values)


class SweptBaseline(Baseline):
    """A baseline that chooses for each value of its parameter on its own."""

    __slots__ = ()

    @abstractmethod
    def choose(self, problem: Problem, value: Any) -> Chosen:
        """The set of one value.

        Raises:  InputError for settings that do not suit the problem.
        """

    def _timed(self, problem: Problem, values: Sequence[Any]) -> Iterable[tuple[Chosen, float]]:
        for value in values:
            watch = Stopwatch()
            chosen = self.choose(problem, value)
            yield chosen, watch.seconds()


class SharedBaseline(Baseline):
    """A baseline whose values share work; each bears an equal part of the time."""

    __slots__ = ()

    @abstractmethod
    def choose_all(self, problem: Problem, values: Sequence[Any]) -> Sequence[Chosen]:
        """The set of each value, in the order given.

        Raises:  InputError for settings that do not suit the problem.
        """

    def _timed(self, problem: Problem, values: Sequence[Any]) -> Iterable[tuple[Chosen, float]]:
        watch = Stopwatch()
        found = self.choose_all(problem, values)
        seconds = watch.seconds() / len(values)
        return [(chosen, seconds) for chosen in found]
