"""MOPR as printed: Algorithm 1 of the paper, kept for comparing running times and broken rho.

For one rho at a time and from nothing: solve the linear programme over all n items, ask the oracle
for the worst function, add it, T times at most; then take the k largest entries. The faults are the
algorithm's own and are reproduced: the function found last never binds the point returned, running
out of rounds goes unnoticed, and the k largest entries of a fractional point may break rho.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.optimisers.certified import checked_rhos
from mprlib.problem import FloatArray, Problem
from mprlib.selection import Selection, Status


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float], rounds: int = 50) -> list[Selection]:
    """One Selection a rho, in the order given; rounds is the paper's T (10 or 50).

    The status is feasible where the measured value happens to meet rho, else not_found.
    Raises:  InputError for a bad rho, or rounds below 1.
    Source:  MPR paper, Algorithm 1.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise InputError(f"rounds is {rounds!r}: a whole number of at least 1 is expected")
    return [_row(problem, oracle, rho, value, rounds) for rho, value in zip(checked_rhos(values, "mopr_paper"), values)]


def _row(problem: Problem, oracle: Oracle, rho: float, value: float, rounds: int) -> Selection:
    watch = Stopwatch()
    entries, message = _relaxed(problem, oracle, rho, rounds)
    # Ties by the pool's order: numpy's sort is stable.
    largest = problem.best_first[np.argsort(-entries[problem.best_first], kind="stable")[: problem.k]]
    row = selected(problem, oracle, largest, method="mopr_paper", value=value, rho=rho, message=message)
    row = replace(row, solve_seconds=watch.seconds())
    status = Status.FEASIBLE if row.mpr <= rho else Status.NOT_FOUND
    return replace(row, status=status)


def _relaxed(problem: Problem, oracle: Oracle, rho: float, rounds: int) -> tuple[FloatArray, str]:
    """The last point (n,) of the loop, and how it ended."""
    cells = oracle.cells
    cuts: list[FloatArray] = []
    limits: list[float] = []
    entries = np.zeros(problem.n)
    for _ in range(rounds):
        solution = linprog(
            -problem.scores,
            A_ub=np.array(cuts) if cuts else None,
            b_ub=np.array(limits) if limits else None,
            A_eq=np.ones((1, problem.n)),
            b_eq=[problem.k],
            bounds=(0, 1),
            method="highs",
        )
        if solution.x is None:
            return entries, "the linear programme became infeasible; the point before it is returned"
        entries = np.clip(solution.x, 0.0, 1.0)
        worst = oracle.worst_case(entries / entries.sum())
        if worst.value <= rho:
            return entries, ""
        cut = worst.function[cells.pool_cell] / problem.k
        mean = float(cells.reference_shares @ worst.function)
        cuts += [cut, -cut]
        limits += [rho + mean, rho - mean]
    return entries, f"stopped after {rounds} rounds with MPR {worst.value:.4g} of the fractional point"
