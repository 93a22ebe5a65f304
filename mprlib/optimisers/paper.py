"""MOPR as printed: Algorithm 1 of the paper, kept for comparing its sets and running times.

For one rho at a time and from nothing: solve the linear programme, ask the oracle for the worst
function, add it, T times at most; then take the k largest entries. The faults are the algorithm's
own and are reproduced: the function found last never binds the point returned, running out of rounds
goes unnoticed, and the k largest entries of a fractional point may break rho.

The printed programme has all n items and is solved anew in every round, which takes a hundred times
as long as all else here. Its optimum is that of the k best items of each cell, where the next round
starts from the last one's basis; `programme="printed"` solves it as it stands, for running times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from scipy.optimize import linprog

from mprlib.errors import SolverError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.optimisers.backend import model_factory
from mprlib.optimisers.cell_pool import CellPool, ScoreScale, cell_pool_of
from mprlib.optimisers.certified import checked_rhos
from mprlib.optimisers.cutting_plane import centred
from mprlib.optimisers.linear_model import Window
from mprlib.problem import FloatArray, Problem
from mprlib.selection import Selection
from mprlib.settings import Choice, Whole

# Entries (n,) that maximise similarity under the functions found so far; None where there are none.
Solve = Callable[[list[FloatArray]], FloatArray | None]
PROGRAMMES = ("reduced", "printed")
# Simplex iterations of one printed programme, and the outcomes of scipy's that say something of it.
LARGEST_ITERATIONS = 1_000_000
OPTIMAL, INFEASIBLE = 0, 2
# Each round is a linear programme with one more row; the paper runs 50.
MOST_ROUNDS = 1_000


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[float],
    rounds: Annotated[int, Whole(least=1, most=MOST_ROUNDS)] = 50,
    programme: Annotated[str, Choice(PROGRAMMES)] = "reduced",
) -> list[Selection]:
    """One Selection a rho, in the order given; rounds is the paper's T (10 or 50).

    programme: "reduced" to the k best items of each cell, or "printed" with all items; both have the
    same optima, but for ties between items of equal score.
    The status is feasible where the measured value happens to meet rho, else not_found.
    Raises:  InputError for a bad rho.
    Source:  MPR paper, Algorithm 1.
    """
    pool = cell_pool_of(problem, oracle.cells)
    programmes: dict[str, Callable[[float], Solve]] = {
        "reduced": lambda rho: _Reduced(problem, oracle, pool, rho),
        "printed": lambda rho: _Printed(problem, oracle, rho),
    }
    rows = zip(checked_rhos(values, "mopr_paper"), values)
    return [_row(problem, oracle, programmes[programme], rho, value, rounds) for rho, value in rows]


def _row(
    problem: Problem, oracle: Oracle, programme: Callable[[float], Solve], rho: float, value: float, rounds: int
) -> Selection:
    watch = Stopwatch()
    entries, message = _relaxed(problem, oracle, programme(rho), rho, rounds)
    # Ties by the pool's order: numpy's sort is stable.
    largest = problem.best_first[np.argsort(-entries[problem.best_first], kind="stable")[: problem.k]]
    row = selected(problem, oracle, largest, method="mopr_paper", value=value, rho=rho, message=message)
    return replace(row, solve_seconds=watch.seconds())


def _relaxed(problem: Problem, oracle: Oracle, solve: Solve, rho: float, rounds: int) -> tuple[FloatArray, str]:
    """The last point (n,) of the loop, and how it ended."""
    functions: list[FloatArray] = []
    entries = np.zeros(problem.n)
    for _ in range(rounds):
        try:
            solution = solve(functions)
        except SolverError as error:
            return entries, f"{error}; the point before it is returned"
        if solution is None:
            return entries, "the linear programme became infeasible; the point before it is returned"
        entries = np.clip(solution, 0.0, 1.0)
        worst = oracle.worst_case(entries / entries.sum())
        if worst.value <= rho:
            return entries, ""
        functions.append(worst.function)
    return entries, f"stopped after {rounds} rounds with MPR {worst.value:.4g} of the fractional point"


class _Reduced:
    """The programme over the k best items of each cell, from the basis of the round before."""

    def __init__(self, problem: Problem, oracle: Oracle, pool: CellPool, rho: float) -> None:
        self._problem, self._oracle, self._pool, self._rho = problem, oracle, pool, rho
        window = Window.of(pool, np.zeros_like(pool.capacity), pool.capacity)
        self._model = model_factory(window)(window)
        self._held = 0

    def __call__(self, functions: list[FloatArray]) -> FloatArray | None:
        for function in functions[self._held :]:
            cut = centred(function, self._oracle.cells.reference_shares, self._pool.k)
            self._model.add_cut(cut)
            self._model.add_cut(-cut)
        self._held = len(functions)
        entries = np.zeros(self._problem.n)
        if not functions:
            # Nothing binds yet: top-k, ties by item id.
            entries[self._problem.best_first[: self._pool.k]] = 1.0
            return entries
        solution = self._model.maximise_similarity(self._rho)
        if solution is None:
            return None
        # An optimum takes each cell's best items first, and a part of one at most.
        entries[self._pool.items] = np.clip(solution.counts[self._pool.cell] - self._pool.rank, 0.0, 1.0)
        return entries


class _Printed:
    """The programme over all items, from nothing each time."""

    def __init__(self, problem: Problem, oracle: Oracle, rho: float) -> None:
        self._problem, self._oracle, self._rho = problem, oracle, rho

    def __call__(self, functions: list[FloatArray]) -> FloatArray | None:
        problem, cells = self._problem, self._oracle.cells
        cuts: list[FloatArray] = []
        limits: list[float] = []
        for function in functions:
            cut = function[cells.pool_cell] / problem.k
            mean = float(cells.reference_shares @ function)
            cuts += [cut, -cut]
            limits += [self._rho + mean, self._rho - mean]
        answer = linprog(
            -ScoreScale.of(problem.scores).scaled(problem.scores),
            A_ub=np.array(cuts) if cuts else None,
            b_ub=np.array(limits) if limits else None,
            A_eq=np.ones((1, problem.n)),
            b_eq=[problem.k],
            bounds=(0, 1),
            method="highs",
            options={"maxiter": LARGEST_ITERATIONS},
        )
        if answer.status not in (OPTIMAL, INFEASIBLE):
            raise SolverError(f"the linear programme was not solved: {answer.message}")
        return answer.x
