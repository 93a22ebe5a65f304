"""MOPR with a certificate: the most similar k items with MPR <= rho, for many rho at once.

The walk goes from the largest rho to the smallest and solves the relaxation for each; then back
up, rounding and repairing, where the set of a smaller rho is one more start for the next larger.
Every accepted set has MPR <= rho by the measuring code, every bound stands on weak duality.

Source:  MPR paper, Algorithm 1; the certificate and the path are this project's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mprlib.cells import selection_weights
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.certified import Certifier, asked_for, distinct_limits
from mprlib.optimisers.relaxing import relaxed
from mprlib.problem import Problem
from mprlib.selection import Selection

# The paper's smallest rho, for classes scaled as C' and for shares alike (half a percentage point).
SMALLEST_RHO = 0.005
# Where top-k's MPR lies below it the grid would run backwards; it then starts at this part of it.
SMALLEST_FRACTION = 0.02


def grid(problem: Problem, oracle: Oracle, points: int) -> list[float]:
    """Evenly spaced rho from the paper's 0.005 to top-k's MPR, in the class's own units.

    Where top-k's MPR is below 0.005 the paper's grid inverts; ours starts at a fiftieth of top-k's
    MPR instead.
    """
    highest = oracle.worst_case(selection_weights(problem, problem.best_first[: problem.k])).value
    lowest = SMALLEST_RHO if highest > SMALLEST_RHO else SMALLEST_FRACTION * highest
    return [float(rho) for rho in np.linspace(lowest, highest, points)]


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
    """One Selection a rho, in the order given.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    watch = Stopwatch()
    asked = asked_for(values, "mopr", oracle)
    limits = distinct_limits(asked)
    pool = cell_pool_of(problem, oracle.cells)
    answer = relaxed(problem, oracle, pool, limits)
    certifier = Certifier(problem, oracle, pool, answer.region, "mopr")
    found = {
        relaxation.rho: (relaxation, certifier.best_counts(relaxation)[0]) for relaxation in reversed(answer.rows)
    }
    rows = []
    for one, value in zip(asked, values):
        relaxation, counts = found[one.limit]
        rows.append(replace(certifier.row(one, relaxation, counts, relaxation.bound), value=value))
    share = watch.seconds() / len(rows)
    return [replace(row, solve_seconds=share) for row in rows]
