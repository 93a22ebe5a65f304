"""What measuring a selection under a function class finds: a value, its bound and a witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from mprlib.arrays import IntArray
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.chance import Chance, chance_of
from mprlib.errors import InputError
from mprlib.frames import output
from mprlib.function_classes.base import FunctionClass, WorstCase
from mprlib.html import facts, table
from mprlib.problem import KIND, Problem
from mprlib.tables.groups import group_table
from mprlib.witness import Witness, witnesses

# Shares of cells of selections that are looked at together, some megabytes.
LARGEST_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """What was measured, and the class's worst function of it: lotteries, tables of groups and intervals are made of it
    when somebody asks."""

    problem: Problem
    items: IntArray
    function_class: FunctionClass
    worst: WorstCase


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Measurement:
    """MPR of one selection under one function class.

    value is attained by the witness; upper_bound is proven and equals value when is_exact.
    chi = value * sqrt((n + m) / D) is free of the data's size; None for classes in share units.
    p_value and chance_level compare the value with lotteries from the reference (`mprlib.chance`).

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> found = mprlib.measure(problem, [0, 1], "groups")
    >>> found.value, found.upper_bound, found.is_exact
    (0.5, 0.5, True)
    >>> round(found.p_value, 1), found.chance_level
    (0.5, 0.5)
    >>> print(found.witness)
    women: 100% retrieved, 50% in the reference
    """

    value: float
    upper_bound: float
    is_exact: bool
    chi: float | None
    witness: Witness
    of: Measured | None = field(default=None, compare=False)

    @property
    def p_value(self) -> float | None:
        """The chance that as many independent draws from the reference show at least this MPR.

        None for classes whose values come from a heuristic search.
        """
        chance = self._chance()
        return None if chance is None else chance.p_value(self.value)

    @property
    def chance_level(self) -> float | None:
        """The 95% point of the MPR of as many independent draws from the reference; None as for p_value."""
        chance = self._chance()
        return None if chance is None else chance.level

    def to_frame(self, kind: str | None = None) -> Any:
        """Every named group: its shares, the gap with an interval, and p values; the largest gap first.

        kind: pandas, polars or pyarrow; by default that of the frames which the problem was made of, else pandas
        where it is installed. The columns are those of `mprlib.tables.groups.group_table`.

        >>> import mprlib
        >>> candidates = {"sex": ["man", "man", "woman"], "score": [0.9, 0.8, 0.7]}
        >>> people = {"sex": ["woman", "man"]}
        >>> problem = mprlib.Problem.from_frames(candidates, people, score="score", attributes=["sex"], k=2)
        >>> mprlib.measure(problem, [0, 1], "groups").to_frame()[["group", "share_selected", "share_reference"]]
               group  share_selected  share_reference
        0    sex=man             1.0              0.5
        1  sex=woman             0.0              0.5

        Raises:  InputError where labels are no levels.
        """
        known = None if self.of is None else self.of.problem.cached(KIND, lambda: None)
        return output.made(self._groups(), known if kind is None else kind)

    def _groups(self) -> dict[str, Any]:
        if self.of is None:
            raise InputError("the measurement was not made by measure: it does not know its groups")
        return group_table(self.of.problem, self.of.items, self.of.function_class)

    def __repr__(self) -> str:
        bound = "" if self.is_exact else f", at most {self.upper_bound:.4g}"
        name = "MPR" if self.of is None else f"MPR under {self.of.function_class.name}"
        return f"Measurement({name}: {self.value:.4g}{bound}; {self.witness})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        try:
            return table(repr(self), self._groups())
        except InputError:
            return facts("Measurement", {"MPR": self.value, "at most": self.upper_bound, "witness": str(self.witness)})

    def _chance(self) -> Chance | None:
        return None if self.of is None else chance_of(self.of.problem, self.of.function_class)

    def __post_init__(self) -> None:
        # One name for zero and no rounding residue below it: values are compared and printed.
        object.__setattr__(self, "value", 0.0 if self.value <= 0 else float(self.value))
        object.__setattr__(
            self, "upper_bound", float(self.upper_bound) if self.upper_bound >= self.value else self.value
        )


def p_values(found: Sequence[Measurement]) -> list[float | None]:
    """The p value of each measurement; all are under one class, of selections of one size from one problem."""
    chance = found[0]._chance() if found else None
    if chance is None:
        return [None] * len(found)
    values: list[float | None] = chance.p_values(np.array([one.value for one in found])).tolist()
    return values


def measure_with(
    problem: Problem, items: IntArray, function_class: FunctionClass, attention: AnyAttention = UNIFORM
) -> Measurement:
    """MPR of checked items under one class, with its witness; in their order where places do not count alike.

    Source:  MPR paper, Definition 1.
    """
    return measure_each(problem, [items], function_class, attention)[0]


def measure_each(
    problem: Problem, selections: Sequence[IntArray], function_class: FunctionClass, attention: AnyAttention = UNIFORM
) -> list[Measurement]:
    """The same of several selections of one size, in a fraction of the time."""
    if not selections:
        return []
    problem = attended(problem, attention, len(selections[0]))
    oracle = function_class.bind(problem)
    found: list[Measurement] = []
    for start in range(0, len(selections), block := max(1, LARGEST_BLOCK // oracle.cells.size)):
        some = selections[start : start + block]
        worst = oracle.worst_of_each(problem, some)
        shown = witnesses(problem, oracle, worst, some)
        of = (Measured(problem, items, function_class, one) for items, one in zip(some, worst))
        found += map(_measurement, of, shown, repeat(_chi_of_one(problem, function_class)))
    return found


def _chi_of_one(problem: Problem, function_class: FunctionClass) -> float | None:
    """chi of the value 1; None for classes in share units."""
    return float(np.sqrt((problem.n + problem.m) / problem.scale)) if function_class.is_normalised else None


def _measurement(of: Measured, shown: Witness, chi_of_one: float | None) -> Measurement:
    # Under C' MPR is at most 1 (Proposition 3); sums of n terms may round above it.
    most = np.inf if chi_of_one is None else 1.0
    value = min(of.worst.value, most)
    return Measurement(
        value=value,
        upper_bound=min(of.worst.upper_bound, most),
        is_exact=of.worst.is_exact,
        chi=None if chi_of_one is None else value * chi_of_one,
        witness=shown,
        of=of,
    )
