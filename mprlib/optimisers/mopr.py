"""MOPR with a certificate: the most similar k items with MPR <= rho, for many rho at once.

The walk goes from the largest rho to the smallest and solves the relaxation for each; then back
up, rounding and repairing, where the set of a smaller rho is one more start for the next larger.
Every accepted set has MPR <= rho by the measuring code, every bound stands on weak duality.

Source:  MPR paper, Algorithm 1; the certificate and the path are this project's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mprlib.cells import selection_weights
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.cutting_plane import centred
from mprlib.optimisers.region import CutRegion, Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.relaxing import relaxed
from mprlib.optimisers.rounding import Climb, rounded
from mprlib.problem import IntArray, Problem
from mprlib.selection import Selection, Status

# The paper's smallest rho, for classes scaled as C' and for shares alike (half a percentage point).
SMALLEST_RHO = 0.005
# How often the measuring code may name a missing function before a repair gives up.
LARGEST_CORRECTIONS = 24
# A similarity within this of the bound is the best: below it is the rounding of sums of k scores.
OPTIMALITY = 1e-10


def grid(problem: Problem, oracle: Oracle, points: int) -> list[float]:
    """Evenly spaced rho from the paper's 0.005 to top-k's MPR, in the class's own units.

    Where top-k's MPR is below 0.005 the paper's grid runs backwards; ours then ends at top-k's
    MPR and starts at a fiftieth of it.
    """
    highest = top_k_value(problem, oracle)
    lowest = min(SMALLEST_RHO, highest / 50)
    return [float(rho) for rho in np.linspace(lowest if highest < SMALLEST_RHO else SMALLEST_RHO, highest, points)]


def top_k_value(problem: Problem, oracle: Oracle) -> float:
    """Measured MPR of the k most similar items."""
    return oracle.worst_case(selection_weights(problem, problem.best_first[: problem.k])).value


def checked_rhos(values: Sequence[Any], method: str) -> list[float]:
    """The values as numbers.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    rhos = []
    for value in values:
        try:
            rho = float(value)
        except (TypeError, ValueError):
            rho = float("nan")
        if not (np.isfinite(rho) and rho >= 0):
            raise InputError(f"{method}'s rho is {value!r}: a finite number of at least 0 is expected")
        rhos.append(rho)
    return rhos


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
    """One Selection a rho, in the order given.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    watch = Stopwatch()
    rhos = checked_rhos(values, "mopr")
    distinct = sorted(set(rhos), reverse=True)
    pool = cell_pool_of(problem, oracle.cells)
    answer = relaxed(problem, oracle, pool, distinct)
    found: dict[float, Selection] = {}
    start: IntArray | None = None
    for relaxation in reversed(answer.rows):
        selection, start = _row(problem, oracle, pool, answer.region, relaxation, start)
        found[relaxation.rho] = selection
    share = watch.seconds() / len(distinct)
    return [replace(found[rho], value=value, solve_seconds=share) for rho, value in zip(rhos, values)]


def _row(
    problem: Problem, oracle: Oracle, pool: CellPool, region: Region, relaxation: Relaxation, start: IntArray | None
) -> tuple[Selection, IntArray | None]:
    """The row of one rho, and counts that meet it, if any do, for the next larger rho."""
    rho = relaxation.rho
    starts = [rounded(relaxation.counts, pool)]
    if start is not None:
        starts.append(start)
    best: IntArray | None = None
    closest, closest_value = starts[0], np.inf
    for counts in starts:
        counts, value = _repaired(problem, oracle, pool, region, counts, relaxation)
        if value <= rho and (best is None or pool.similarity(counts) > pool.similarity(best)):
            best = counts
        if value < closest_value:
            closest, closest_value = counts, value
    chosen = closest if best is None else best
    bound = relaxation.bound
    mean_bound = None if bound is None else bound / problem.k
    similarity = pool.similarity(chosen)
    if best is None:
        status = Status.INFEASIBLE if relaxation.is_infeasible else Status.NOT_FOUND
    elif bound is not None and similarity >= bound - OPTIMALITY * max(1.0, abs(bound)):
        status = Status.OPTIMAL
    else:
        status = Status.FEASIBLE
    row = selected(
        problem,
        oracle,
        pool.chosen(chosen),
        method="mopr",
        value=rho,
        status=status,
        rho=rho,
        rho_min=relaxation.rho_min,
        relaxation_bound=mean_bound,
        similarity_bound=mean_bound,
        message=_message(relaxation, status),
    )
    if mean_bound is not None and best is not None and row.similarity > mean_bound:
        # Both are the same sum, rounded in another order.
        row = replace(row, similarity_bound=row.similarity)
    return row, best


def _repaired(
    problem: Problem, oracle: Oracle, pool: CellPool, region: Region, counts: IntArray, relaxation: Relaxation
) -> tuple[IntArray, float]:
    """Counts after repair, and their measured value; each refusal teaches the region a function."""
    best, best_value = counts, np.inf
    landscape = Climb.of(relaxation, pool, region)
    for _ in range(LARGEST_CORRECTIONS):
        counts = landscape.top(counts)
        worst = oracle.worst_case(selection_weights(problem, pool.chosen(counts)))
        if worst.value < best_value:
            best, best_value = counts, worst.value
        if worst.value <= relaxation.rho or relaxation.is_infeasible:
            break
        seen = region.value(counts)
        if worst.value <= seen * (1.0 + 1e-9) + 1e-12:
            break
        if not isinstance(region, CutRegion):
            break
        region.add(centred(worst.function, oracle.cells.reference_shares, pool.k))
    return best, best_value


def _message(relaxation: Relaxation, status: Status) -> str:
    parts = []
    if not relaxation.is_converged:
        parts.append("the cutting plane stopped at its limit of rounds; its bound holds but is not the relaxation's")
    if status == Status.INFEASIBLE:
        parts.append(f"no selection has MPR <= {relaxation.rho:g}: at least {relaxation.rho_min:g} is needed")
    if status == Status.NOT_FOUND:
        parts.append("no set within rho was found, and none was ruled out")
    return "; ".join(parts)
