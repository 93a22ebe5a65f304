"""mopr_qp: the relaxation of each rho as a cone programme, with sets and certificates as in mopr.

Source:  MPR paper, Appendix D.1.

Worked example: one item of each of two groups has the shares of a balanced reference, so rho = 0 is met.

>>> import mprlib
>>> problem = mprlib.Problem(
...     scores=[0.9, 0.8, 0.7], labels=[[1, 0], [1, 0], [0, 1]], reference=[[1, 0], [0, 1]], k=2)
>>> mprlib.select(problem, "mopr_qp", 0.0).items.tolist()
[0, 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle, measured
from mprlib.method import Stopwatch
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.constrained import ConstrainedMethod
from mprlib.optimisers.mopr import NODES, row_of
from mprlib.optimisers.request import requested
from mprlib.optimisers.separation import Separator
from mprlib.problem import Problem
from mprlib.selection import Selection


@dataclass(frozen=True, kw_only=True, slots=True)
class MoprQp(ConstrainedMethod):
    """mopr for unit balls with its relaxation solved as a cone programme, one rho at a time."""

    name: ClassVar[str] = "mopr_qp"
    classes: ClassVar[tuple[str, ...]] = ("linear", "rkhs", "saturated")

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
        """One Selection per rho, in the order given.

        Raises:  InputError for a class that is no unit ball, and for a rho that is no finite number of at least 0.
        """
        from mprlib.optimisers.cone import ConeProgramme
        from mprlib.optimisers.incumbent import Incumbents
        from mprlib.optimisers.solve_relaxation import ball_region, top_k_relaxation

        requests = requested(values, self.name, oracle)
        ball = ball_region(oracle, problem.k)
        if ball is None:
            raise InputError(
                "mopr_qp needs a class that is a unit ball with features (linear, saturated, rkhs): use mopr"
            )
        pool = cell_pool_of(problem, oracle.cells)
        separator = Separator(problem, oracle, pool, ball)
        top_value = measured(problem, oracle, problem.best_first[: problem.k]).value
        incumbents = Incumbents.of(separator, NODES, top_value)
        programme = ConeProgramme(ball.features, pool)
        found: dict[float, Selection] = {}
        for request in sorted(set(requests), key=lambda request: request.rho):
            watch = Stopwatch()
            is_slack = request.limit >= incumbents.top_value
            relaxation = (
                top_k_relaxation(problem, pool, request.limit) if is_slack else programme.relaxation(request.limit)
            )
            row = row_of(incumbents, request, relaxation, incumbents.best(relaxation), self.name)
            found[request.rho] = replace(row, solve_seconds=watch.seconds())
        return [replace(found[request.rho], value=value) for request, value in zip(requests, values)]
