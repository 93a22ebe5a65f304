"""A method with a rho: what the optimisers share, their parameter and the grid of a trade-off curve."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mprlib.function_classes.base import Oracle, measured
from mprlib.method import Method
from mprlib.problem import Problem

# The paper's smallest rho, for classes scaled as C' and for shares alike (half a percentage point).
SMALLEST_RHO = 0.005
# Where top-k's MPR is below it, the grid starts at this part of top-k's MPR instead.
SMALLEST_FRACTION = 0.02


class ConstrainedMethod(Method):
    """A method that bounds the MPR of the oracle's class by rho."""

    __slots__ = ()

    parameter: ClassVar[str] = "rho"
    is_constrained: ClassVar[bool] = True

    @classmethod
    def grid(cls, problem: Problem, oracle: Oracle, points: int) -> list[float]:
        """Evenly spaced rho from the paper's 0.005 to top-k's MPR, in the class's own units.

        Where top-k's MPR is below 0.005 the paper's grid would fall; ours starts at a fiftieth of top-k's MPR.
        """
        highest = measured(problem, oracle, problem.best_first[: problem.k]).value
        lowest = SMALLEST_RHO if highest > SMALLEST_RHO else SMALLEST_FRACTION * highest
        return [float(rho) for rho in np.linspace(lowest, highest, points)]
