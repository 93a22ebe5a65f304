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
([0, 3], 'feasible', 0.0)
>>> mprlib.select(problem, "mopr", 0.5, "groups").items.tolist()
[0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from mprlib.cells import selection_weights
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import SOLVERS, checked_solver
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.certificate import certified, with_advice
from mprlib.optimisers.incumbent import Incumbents
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.request import Request, distinct_limits, requested
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent
from mprlib.optimisers.solve_relaxation import solve_relaxations
from mprlib.problem import Problem
from mprlib.selection import Selection, SolveStatistics
from mprlib.settings import Choice

# The paper's smallest rho, for classes scaled as C' and for shares alike (half a percentage point).
SMALLEST_RHO = 0.005
# Where top-k's MPR is below it, the grid starts at this part of top-k's MPR instead.
SMALLEST_FRACTION = 0.02


def grid(problem: Problem, oracle: Oracle, points: int) -> list[float]:
    """Evenly spaced rho from the paper's 0.005 to top-k's MPR, in the class's own units.

    Where top-k's MPR is below 0.005 the paper's grid would fall; ours starts at a fiftieth of top-k's MPR.
    """
    highest = oracle.worst_case(selection_weights(problem, problem.best_first[: problem.k])).value
    lowest = SMALLEST_RHO if highest > SMALLEST_RHO else SMALLEST_FRACTION * highest
    return [float(rho) for rho in np.linspace(lowest, highest, points)]


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[float],
    solver: Annotated[str, Choice(SOLVERS)] = "auto",
) -> list[Selection]:
    """One Selection per rho, in the order given.

    solver: of the linear programmes, for classes that are no unit ball: "auto" (HiGHS), "highs" or "gurobi".
    Raises:  InputError for a rho that is no finite number of at least 0, and for a solver that cannot run.
    """
    watch = Stopwatch()
    requests = requested(values, "mopr", oracle)
    pool = cell_pool_of(problem, oracle.cells)
    solved = solve_relaxations(problem, oracle, pool, distinct_limits(requests), checked_solver(solver))
    separator = Separator(problem, oracle, pool, solved.region)
    incumbents = Incumbents.of(separator)
    found = {row.rho: (row, incumbents.best(row)) for row in reversed(solved.rows)}
    rows = [row_of(separator, request, *found[request.limit]) for request in requests]
    share = watch.seconds() / len(rows)
    return [replace(row, value=value, solve_seconds=share) for row, value in zip(rows, values)]


def row_of(
    separator: Separator, request: Request, relaxation: Relaxation, incumbent: Incumbent, method: str = "mopr"
) -> Selection:
    """The Selection of an incumbent under the relaxation's bound."""
    row = certified(separator, request, relaxation, incumbent.counts, method=method, bound=relaxation.bound)
    statistics = SolveStatistics(
        relaxation_steps=relaxation.steps,
        oracle_calls=relaxation.oracle_calls + incumbent.oracle_calls,
        cuts=separator.region.cut_count,
    )
    row = replace(row, statistics=statistics)
    return with_advice(row, relaxation, not_found=_advice(separator.pool, method))


def _advice(pool: CellPool, method: str) -> str:
    return "raise rho" if pool.has_many_cells else "raise rho, or use mopr_integer"
