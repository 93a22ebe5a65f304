"""A method with a rho: what the optimisers share, their parameter and the grid of a trade-off curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mprlib.chance import chance_level_of
from mprlib.errors import InputError
from mprlib.function_classes.base import FunctionClass, Oracle, measured
from mprlib.method import Method
from mprlib.problem import Problem
from mprlib.selection import Selection
from mprlib.settings import Number, Setting

# The rho up to which a fair lottery comes: the 95% point of the MPR of k draws from the reference.
CHANCE = "chance"

# The paper's smallest rho, for classes scaled as C' and for shares alike (half a percentage point).
SMALLEST_RHO = 0.005
# Where top-k's MPR is below it, the grid starts at this part of top-k's MPR instead.
SMALLEST_FRACTION = 0.02


class ConstrainedMethod(Method):
    """A method that bounds the MPR of the oracle's class by rho."""

    __slots__ = ()

    parameter: ClassVar[str] = "rho"
    value: ClassVar[Setting] = Number(least=0, word=CHANCE)
    is_constrained: ClassVar[bool] = True

    def swept_values(self, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[Selection]:
        """One Selection per rho; where labels may be wrong, with what it may claim of the true MPR."""
        found = super().swept_values(problem, function_class, values)
        if problem.label_error is None:
            return found
        from mprlib.label_errors.claims import with_claim

        return [with_claim(problem, row, function_class) for row in found]

    @classmethod
    def grid(cls, problem: Problem, oracle: Oracle, points: int) -> list[float]:
        """Evenly spaced rho from the paper's 0.005 to top-k's MPR, in the class's own units.

        Where top-k's MPR is below 0.005 the paper's grid would fall; ours starts at a fiftieth of top-k's MPR.
        """
        highest = measured(problem, oracle, problem.best_first[: problem.k]).value
        lowest = SMALLEST_RHO if highest > SMALLEST_RHO else SMALLEST_FRACTION * highest
        return [float(rho) for rho in np.linspace(lowest, highest, points)]

    @classmethod
    def settled(cls, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[tuple[Any, str]]:
        """The number that `chance` stands for, with a remark.

        Raises:  InputError for a class whose lotteries have no distribution.
        """
        return [_chance_level(problem, function_class) if value == CHANCE else (value, "") for value in values]


def _chance_level(problem: Problem, function_class: FunctionClass) -> tuple[float, str]:
    level = chance_level_of(problem, function_class)
    if level is None:
        raise InputError(
            f"rho is {CHANCE!r}, and {function_class.name} is searched by a heuristic, so that what chance shows under "
            "it is not known: a number is expected"
        )
    return level, f"rho is chance: 95% of draws of {problem.k} from the reference have at most this MPR"
