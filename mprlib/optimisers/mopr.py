"""mopr: the most similar k items with MPR <= rho, for many rho at once, with a certificate.

The relaxation is solved from the largest rho to the smallest. Then sets are searched from the smallest rho
to the largest, where each incumbent is one more start for the next rho. Every accepted set has MPR <= rho
by the measuring code, and every bound holds by weak duality.

Source:  MPR paper, Algorithm 1; the certificate and the sweep are this project's.

Worked example: a pool of three women, all more similar than the three men, beside a balanced reference. Top-2
are two women, a gap of 1/2 in shares; for a gap of at most 0.1 the best man replaces the second.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(
...     scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=3 * [women] + 3 * [men], reference=[women, men], k=2,
...     attributes={"gender": [0, 1]})
>>> row = mprlib.select(problem, "mopr", 0.1, "groups")
>>> row.items.tolist(), row.status.value, row.mpr
([0, 3], 'optimal', 0.0)
>>> mprlib.select(problem, "mopr", 0.5, "groups").items.tolist()
[0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from mprlib.attention import UNIFORM, AttentionName, attended
from mprlib.errors import InputError, SettingError
from mprlib.function_classes.base import FunctionClass, Oracle
from mprlib.label_error import CONFIDENCE
from mprlib.method import ORDER, Stopwatch
from mprlib.optimisers.backend import SOLVERS, SOLVERS_IN_WORDS, checked_solver
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.constrained import ConstrainedMethod
from mprlib.optimisers.request import distinct_limits, requested
from mprlib.optimisers.separation import Separator
from mprlib.problem import Problem
from mprlib.selection import Selection, SolveStatistics
from mprlib.settings import PROBABILITY, Choice, Whole

if TYPE_CHECKING:
    from mprlib.optimisers.cell_pool import CellPool
    from mprlib.optimisers.incumbent import Incumbents
    from mprlib.optimisers.relaxation import Relaxation
    from mprlib.optimisers.request import Request
    from mprlib.optimisers.set_search import Incumbent

# Nodes of one search for a proof: a few milliseconds.
NODES = 60_000
# An hour or more.
MOST_NODES = 10_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Mopr(ConstrainedMethod):
    """The most similar items with MPR at most rho, with a proven bound on what is lost."""

    name: ClassVar[str] = "mopr"
    reads_expected_labels: ClassVar[bool] = True

    solver: Annotated[
        str,
        Choice(SOLVERS),
        f"solver of linear programmes, for classes that are no unit ball: {SOLVERS_IN_WORDS}",
    ] = "auto"
    order: Annotated[
        str, ORDER, "order of the items: by score, or with every prefix of 5 or more near the reference as well"
    ] = "score"
    attention: Annotated[
        str, AttentionName(), "attention under which MPR is bounded: but for uniform, items are chosen with their order"
    ] = UNIFORM.name
    confidence: Annotated[
        float,
        PROBABILITY,
        "where errors of the labels are stated: a set meets rho if its true MPR, by draws of what is not known of the "
        "true labels, is at most rho with this probability or more",
    ] = CONFIDENCE
    nodes: Annotated[int, Whole(least=1, most=MOST_NODES), "limit of one search for a proof, in nodes"] = NODES

    def __post_init__(self) -> None:
        ConstrainedMethod.__post_init__(self)
        if self.order == "fair" and self.attention != UNIFORM.name:
            raise SettingError(
                "order is fair, and attention decides on an order by itself: one of them is expected", setting="order"
            )

    def swept(self, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[Selection]:
        """One Selection per checked value, measured under a class and the method's attention."""
        return ConstrainedMethod.swept(self, attended(problem, self.attention), function_class, values)

    def swept_values(self, problem: Problem, function_class: FunctionClass, values: Sequence[Any]) -> list[Selection]:
        """One Selection per rho; where labels may be wrong, of expected true labels."""
        if problem.label_error is None:
            return ConstrainedMethod.swept_values(self, problem, function_class, values)
        from mprlib.label_errors.weakness import too_weak
        from mprlib.optimisers.claiming import claiming_sets

        if too_weak(problem):
            return ConstrainedMethod.swept_values(self, problem, function_class, values)
        if self.order == "fair" or problem.place_weights is not None:
            raise InputError("labels may be wrong, and what is claimed then is of sets: leave order and attention out")
        # A proof would be of expected labels, and is not stated: none is searched for.
        return claiming_sets(replace(self, nodes=1), problem, function_class, values, self.confidence)

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
        """One Selection per rho, in the order given.

        Raises:  InputError for a rho that is no finite number of at least 0, and for a solver that cannot run.
        """
        # The searches take longer to load than the rest of the library: imported where something is searched.
        from mprlib.optimisers.incumbent import Incumbents
        from mprlib.optimisers.solve_relaxation import solve_relaxations

        watch = Stopwatch()
        requests = requested(values, self.name, oracle)
        pool = cell_pool_of(problem, oracle.cells)
        if problem.place_weights is not None:
            return _of_places(problem, oracle, pool, requests, watch)
        solver = checked_solver(self.solver)
        solved = solve_relaxations(problem, oracle, pool, distinct_limits(requests), solver)
        separator = Separator(problem, oracle, pool, solved.region)
        incumbents = Incumbents.of(separator, self.nodes, solved.top_value)
        found = {row.rho: (row, incumbents.best(row)) for row in reversed(solved.rows)}
        rows = [row_of(incumbents, request, *found[request.limit]) for request in requests]
        if self.order == "fair":
            from mprlib.optimisers.order_rows import in_fair_order

            rows = [in_fair_order(problem, oracle, pool, row) for row in rows]
        share = watch.seconds() / len(rows)
        return [replace(row, value=value, solve_seconds=share) for row, value in zip(rows, values)]


def _of_places(
    problem: Problem, oracle: Oracle, pool: CellPool, requests: Sequence[Request], watch: Stopwatch
) -> list[Selection]:
    """The rows of a problem whose places have weights."""
    from mprlib.optimisers.order_weights import WeightedSearch

    rows = WeightedSearch(problem, oracle, pool).rows(requests, Mopr.name)
    share = watch.seconds() / len(rows)
    return [replace(row, solve_seconds=share) for row in rows]


def row_of(
    incumbents: Incumbents, request: Request, relaxation: Relaxation, incumbent: Incumbent, method: str = "mopr"
) -> Selection:
    """The Selection of an incumbent under the bound that is proven."""
    from mprlib.optimisers.certificate import certified, with_advice

    separator = incumbents.separator
    row = certified(
        separator,
        request,
        relaxation,
        incumbent.counts,
        method=method,
        bound=incumbent.bound,
        rho_min=incumbents.rho_min(relaxation),
    )
    statistics = SolveStatistics(
        relaxation_steps=relaxation.steps,
        oracle_calls=relaxation.oracle_calls + incumbent.oracle_calls,
        cuts=separator.region.cut_count,
        nodes=incumbent.nodes,
    )
    row = replace(row, statistics=statistics)
    return with_advice(row, relaxation, incumbents.impossible, not_found=_advice(separator.pool))


def _advice(pool: CellPool) -> str:
    return "raise rho" if pool.has_many_cells else "raise rho, or use mopr_integer"
