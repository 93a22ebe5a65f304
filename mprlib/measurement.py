"""What measuring a selection under a function class finds: a value, its bound and a witness."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mprlib.arrays import IntArray
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.cells import selection_weights
from mprlib.chance import Chance, chance_of
from mprlib.function_classes.base import FunctionClass
from mprlib.problem import Problem
from mprlib.witness import Witness, witness


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Lottery:
    """Which lottery a measurement compares with: it is drawn when somebody asks."""

    problem: Problem
    function_class: FunctionClass


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """MPR of one selection under one function class.

    value is attained by the witness; upper_bound is proven and equals value when is_exact.
    chi = value * sqrt((n + m) / D) is free of the data's size; None for classes in share units.
    p_value and chance_level compare the value with lotteries from the reference (`mprlib.chance`).
    """

    value: float
    upper_bound: float
    is_exact: bool
    chi: float | None
    witness: Witness
    lottery: Lottery | None = field(default=None, repr=False, compare=False)

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

    def _chance(self) -> Chance | None:
        return None if self.lottery is None else chance_of(self.lottery.problem, self.lottery.function_class)

    def __post_init__(self) -> None:
        # One name for zero and no rounding residue below it: values are compared and printed.
        object.__setattr__(self, "value", float(np.maximum(self.value, 0.0)))
        object.__setattr__(self, "upper_bound", float(np.maximum(self.upper_bound, self.value)))


def measure_with(
    problem: Problem, items: IntArray, function_class: FunctionClass, attention: AnyAttention = UNIFORM
) -> Measurement:
    """MPR of checked items under one class, with its witness; in their order where places do not count alike.

    Source:  MPR paper, Definition 1.
    """
    problem = attended(problem, attention, len(items))
    oracle = function_class.bind(problem)
    weights = selection_weights(problem, items)
    worst = oracle.worst_case(weights)
    chi = None
    if function_class.is_normalised:
        # Under C' MPR is at most 1 (Proposition 3); sums of n terms may round above it.
        worst = replace(worst, value=min(worst.value, 1.0), upper_bound=min(worst.upper_bound, 1.0))
        chi = worst.value * float(np.sqrt((problem.n + problem.m) / problem.scale))
    return Measurement(
        value=worst.value,
        upper_bound=worst.upper_bound,
        is_exact=worst.is_exact,
        chi=chi,
        witness=witness(problem, oracle, worst, weights),
        lottery=Lottery(problem=problem, function_class=function_class),
    )
