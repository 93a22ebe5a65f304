"""MOPR as printed: Algorithm 1 of the paper, kept for comparing its sets and running times.

For one rho at a time, without a warm start: solve the linear programme, ask the oracle for the worst function,
add its cut, up to T times; then select the k largest entries. The algorithm's own faults are reproduced: the last
cut does not bind the point that is returned, the limit of rounds is not reported as a failure, and the k largest
entries of a fractional point may violate rho.

The printed programme has all n items and is solved without a basis in every round, which takes a hundred times
as long as everything else here. It has the same optimum over the k best items of each cell, where each round
starts from the last basis; `programme="printed"` solves it as printed, for running times.

>>> import mprlib
>>> problem = mprlib.Problem(
...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2)
>>> mprlib.select(problem, "mopr_paper", 0.0, rounds=10).items.tolist()
[0, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.errors import SolverError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.optimisers.backend import SOLVERS, SOLVERS_IN_WORDS, SolverName, checked_solver
from mprlib.optimisers.cell_pool import CellPool, ScoreScale, cell_pool_of
from mprlib.optimisers.constrained import ConstrainedMethod
from mprlib.optimisers.relaxation import centred_cut
from mprlib.optimisers.request import checked_rhos
from mprlib.problem import Problem
from mprlib.selection import Selection, SolveStatistics, Status
from mprlib.settings import Choice, Whole

# A linear programme as a function: the entries (n,) that maximise similarity under the functions found so far, None
# when it is infeasible.
Solve = Callable[[list[FloatArray]], FloatArray | None]
PROGRAMMES = ("reduced", "printed")
# Simplex iterations of one printed programme, and scipy's codes of its conclusive outcomes.
LARGEST_ITERATIONS = 1_000_000
OPTIMAL, INFEASIBLE = 0, 2
# Each round is a linear programme with one more row; the paper runs 50.
MOST_ROUNDS = 1_000
ADVICE = "its k largest entries violate rho: raise rounds, or use mopr, which rounds to sets that meet rho"


@dataclass(frozen=True, kw_only=True, slots=True)
class MoprPaper(ConstrainedMethod):
    """The paper's Algorithm 1 as printed, for comparison; its sets may break rho."""

    name: ClassVar[str] = "mopr_paper"

    rounds: Annotated[int, Whole(least=1, most=MOST_ROUNDS), "rounds of cutting planes: the paper's T, 10 or 50"] = 50
    programme: Annotated[
        str, Choice(PROGRAMMES), "`reduced` to the k best items of each cell, or `printed` with all, for running times"
    ] = "reduced"
    solver: Annotated[str, Choice(SOLVERS), f"solver of the reduced programme: {SOLVERS_IN_WORDS}"] = "auto"

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
        """One Selection per rho, in the order given.

        Both programmes have the same optima, but for ties between items of equal score. The status is feasible
        where the measured value happens to meet rho, else not_found.
        Raises:  InputError for a bad rho, or a solver that cannot run.
        Source:  MPR paper, Algorithm 1.
        """
        solver = checked_solver(self.solver)
        pool = cell_pool_of(problem, oracle.cells)
        programmes: dict[str, Callable[[float], Solve]] = {
            "reduced": lambda rho: _Reduced(problem, oracle, pool, rho, solver),
            "printed": lambda rho: _Printed(problem, oracle, rho),
        }
        rows = zip(checked_rhos(values, self.name), values)
        return [_row(problem, oracle, programmes[self.programme], rho, value, self.rounds) for rho, value in rows]


def _row(
    problem: Problem, oracle: Oracle, programme: Callable[[float], Solve], rho: float, value: float, rounds: int
) -> Selection:
    watch = Stopwatch()
    end = _cut_off(problem, oracle, programme(rho), rho, rounds)
    # Ties by the pool's order: numpy's sort is stable.
    largest = problem.best_first[np.argsort(-end.entries[problem.best_first], kind="stable")[: problem.k]]
    row = selected(problem, oracle, largest, method="mopr_paper", value=value, rho=rho)
    message = "; ".join(part for part in (end.message, ADVICE if row.status == Status.NOT_FOUND else "") if part)
    return replace(row, solve_seconds=watch.seconds(), message=message, statistics=end.statistics)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _End:
    """How the loop ended: its last point (n,), a message where that is unusual, and counts of the work."""

    entries: FloatArray
    message: str
    statistics: SolveStatistics


def _cut_off(problem: Problem, oracle: Oracle, solve: Solve, rho: float, rounds: int) -> _End:
    """The loop of cutting planes."""
    functions: list[FloatArray] = []
    entries: FloatArray = np.zeros(problem.n)

    def ended(message: str, programmes: int, calls: int) -> _End:
        statistics = SolveStatistics(relaxation_steps=programmes, oracle_calls=calls, cuts=len(functions))
        return _End(entries=entries, message=message, statistics=statistics)

    for number in range(rounds):
        try:
            solution = solve(functions)
        except SolverError as error:
            return ended(f"{error}; the point before it is returned", number + 1, number)
        if solution is None:
            message = "the linear programme became infeasible; the point before it is returned"
            return ended(message, number + 1, number)
        entries = np.clip(solution, 0.0, 1.0)
        worst = oracle.worst_case(entries / entries.sum())
        if worst.value <= rho:
            return ended("", number + 1, number + 1)
        functions.append(worst.function)
    message = f"stopped after {rounds} rounds with MPR {worst.value:.4g} of the fractional point"
    return ended(message, rounds, rounds)


class _Reduced:
    """The programme over the k best items of each cell, from the last round's basis."""

    def __init__(self, problem: Problem, oracle: Oracle, pool: CellPool, rho: float, solver: SolverName) -> None:
        self._problem, self._oracle, self._pool, self._rho = problem, oracle, pool, rho
        from mprlib.optimisers.programmes import programme_of

        self._programme = programme_of(pool, solver, pool.top_counts(problem))
        self._held = 0

    def __call__(self, functions: list[FloatArray]) -> FloatArray | None:
        for function in functions[self._held :]:
            cut = centred_cut(function, self._oracle.cells.reference_shares, self._pool.k)
            self._programme.add_cut(cut)
            self._programme.add_cut(-cut)
        self._held = len(functions)
        entries = np.zeros(self._problem.n)
        if not functions:
            # Without cuts the optimum is top-k, ties by item id.
            entries[self._problem.best_first[: self._pool.k]] = 1.0
            return entries
        solution = self._programme.maximised(self._rho)
        if solution is None:
            return None
        # An optimum selects each cell's best items first, with one fractional item at most.
        entries[self._pool.items] = np.clip(solution.counts[self._pool.cell] - self._pool.rank, 0.0, 1.0)
        return entries


class _Printed:
    """The programme over all items, without a warm start."""

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
        from scipy.optimize import linprog

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
        entries: FloatArray | None = answer.x
        return entries
