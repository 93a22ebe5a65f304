"""mopr_integer: sets proven best, by exhaustive search where that ends, else by branch and bound with lazy cuts.

mopr's incumbent, dual bound and proof on whole counts come first, with many times its nodes. Where that does not
settle a row, the gap fixes most counts by reduced cost. The counts that stay open are enumerated; where these are
too many, an integer programme follows. Limits are numbers of partial sums, rounds and nodes, set by `nodes`; the
clock is a back-stop.

Worked example: the shares of three items of two groups are 1/6 or more away from a balanced reference. The best
set with one man meets rho = 0.2; no set meets 0.1, although fractional counts do.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(
...     scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=3 * [women] + 3 * [men], reference=[women, men], k=3,
...     attributes={"gender": [0, 1]}, label_names=["women", "men"])
>>> mprlib.select(problem, "mopr_integer", 0.2, "groups").items.tolist()
[0, 1, 3]
>>> row = mprlib.select(problem, "mopr_integer", 0.1, "groups")
>>> row.status.value, round(row.rho_min, 6)
('infeasible', 0.166667)
>>> row.message.partition(" (")[2].partition(")")[0]
'2 groups admit no whole count within 0.1, among them women: k q = 1.5'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import IntArray
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import SOLVERS, SOLVERS_IN_WORDS, SolverName, checked_solver
from mprlib.optimisers.branch_and_bound import LARGEST_ROUNDS, ROW_SECONDS, BranchAndBound, ProofState, seconds_left
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.certificate import certified, with_advice
from mprlib.optimisers.constrained import ConstrainedMethod
from mprlib.optimisers.enumeration import enumerate_counts
from mprlib.optimisers.incumbent import Incumbents
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.request import Request, distinct_limits, requested
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent
from mprlib.optimisers.solve_relaxation import solve_relaxations
from mprlib.problem import Problem
from mprlib.selection import Selection, SolveStatistics
from mprlib.settings import Choice, Whole

# Nodes of branch and bound per rho, over all rounds of lazy cuts together.
NODE_LIMIT = 2_000
# The clock stops a row long before.
MOST_NODES = 10_000_000
# Nodes of the proof on whole counts, which are thousands of times cheaper, per node of branch and bound.
NODES_OF_A_PROOF = 500
# Partial sums kept at each cell by the first enumeration and by the second, per node that a row may take: 20 ms
# and 0.2 s per rho with 28 cells.
SUMS_PER_NODE = (10, 150)
# Over cuts a candidate's value is a lower bound that the measuring code may refuse, and each partial sum has
# hundreds of gaps: one short enumeration is enough.
CUT_SUMS = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MoprInteger(ConstrainedMethod):
    """mopr continued to a proof: exhaustive search, then branch and bound with lazy cuts."""

    name: ClassVar[str] = "mopr_integer"

    nodes: Annotated[
        int, Whole(least=1, most=MOST_NODES), "limit of the search for one rho, in nodes of branch and bound"
    ] = NODE_LIMIT
    solver: Annotated[str, Choice(SOLVERS), f"solver of linear and integer programmes: {SOLVERS_IN_WORDS}"] = "auto"

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
        """One Selection per rho, in the order given.

        Raises:  InputError for a rho that is no finite number of at least 0, and for a solver that cannot run.
        """
        solver = checked_solver(self.solver)
        watch = Stopwatch()
        requests = requested(values, self.name, oracle)
        limits = distinct_limits(requests)
        pool = cell_pool_of(problem, oracle.cells)
        solved = solve_relaxations(problem, oracle, pool, limits, solver)
        separator = Separator(problem, oracle, pool, solved.region)
        search = _ProvenSearch(separator, Incumbents.of(separator, NODES_OF_A_PROOF * self.nodes), self.nodes, solver)
        shared = watch.seconds() / len(limits)
        by_limit = {relaxation.rho: relaxation for relaxation in solved.rows}
        found: dict[float, Selection] = {}
        for request in sorted(set(requests), key=lambda request: request.rho):
            watch = Stopwatch()
            row = search.row(request, by_limit[request.limit])
            found[request.rho] = replace(row, solve_seconds=shared + watch.seconds())
        return [replace(found[request.rho], value=value) for request, value in zip(requests, values)]


class _ProvenSearch:
    """Rows of one problem and class, from the smallest rho to the largest."""

    def __init__(self, separator: Separator, incumbents: Incumbents, nodes: int, solver: SolverName) -> None:
        self._separator, self._pool, self._region = separator, separator.pool, separator.region
        self._incumbents = incumbents
        self._nodes, self._solver = nodes, solver

    def row(self, request: Request, relaxation: Relaxation) -> Selection:
        """The Selection of one rho."""
        calls = self._separator.calls
        incumbent = self._incumbents.best(relaxation)
        state = self._proven(relaxation, incumbent)
        if state.is_empty and not relaxation.is_infeasible:
            self._incumbents.rule_out(relaxation.rho, incumbent.counts)
        row = certified(
            self._separator,
            request,
            relaxation,
            incumbent.counts if state.counts is None else state.counts,
            method="mopr_integer",
            bound=state.bound,
            rho_min=self._incumbents.rho_min(relaxation),
            is_stopped=state.is_out_of_time,
        )
        statistics = SolveStatistics(
            relaxation_steps=relaxation.steps,
            oracle_calls=relaxation.oracle_calls + self._separator.calls - calls,
            cuts=self._region.cut_count,
            rounds=state.rounds,
            nodes=state.nodes,
        )
        return with_advice(
            replace(row, statistics=statistics),
            relaxation,
            self._incumbents.impossible(request.rho),
            not_found=self._advice(),
            stopped=_stopped(),
        )

    def _advice(self) -> str:
        return "raise rho" if self._pool.has_many_cells else f"raise nodes (now {self._nodes}) or rho"

    def _proven(self, relaxation: Relaxation, incumbent: Incumbent) -> ProofState:
        state = ProofState(counts=incumbent.counts if incumbent.is_feasible else None, bound=incumbent.bound)
        # With an item in each cell there are too many counts to enumerate, and cuts in hundreds of dimensions leave
        # branch and bound a gap that it does not close.
        if state.is_final(self._pool) or self._pool.has_many_cells:
            return state
        watch = Stopwatch()
        for place, width in enumerate(self._widths()):
            # Without an incumbent no loss is too large, and a wider search has many times the sums.
            is_tried = place == 0 or state.counts is not None
            if is_tried and not state.is_final(self._pool):
                found = self._enumerated(relaxation, state.counts, width, watch)
                state = replace(found, bound=min(found.bound, state.bound))
        if state.is_final(self._pool):
            return state
        return BranchAndBound(self._separator, relaxation, self._nodes, self._solver).solve(state, watch)

    def _widths(self) -> list[int]:
        return [self._nodes * each for each in SUMS_PER_NODE] if self._region.is_exact else [CUT_SUMS]

    def _enumerated(self, relaxation: Relaxation, best: IntArray | None, width: int, watch: Stopwatch) -> ProofState:
        """The state after exhaustive search, which starts anew whenever a refused candidate has added a cut."""
        pool, bound = self._pool, relaxation.bound
        for _ in range(LARGEST_ROUNDS):
            if seconds_left(watch) <= 0:
                return ProofState(counts=best, bound=bound, is_out_of_time=True)
            allowance = np.inf if best is None else bound - pool.similarity(best)
            found = enumerate_counts(relaxation, pool, self._region, allowance=allowance, limit=width)
            better, is_cut_added = self._first_inside(found.candidates, best, relaxation.rho)
            if better is None and not is_cut_added:
                if best is None:
                    return ProofState(counts=None, bound=bound - found.least_loss)
                return ProofState(counts=best, bound=max(pool.similarity(best), min(bound, bound - found.least_loss)))
            best = best if better is None else better
        return ProofState(counts=best, bound=bound)

    def _first_inside(self, candidates: IntArray, best: IntArray | None, rho: float) -> tuple[IntArray | None, bool]:
        """The first candidate that is better than the incumbent and meets rho, and whether refusals added a cut."""
        is_cut_added = False
        for counts in candidates:
            if best is not None and self._pool.similarity(counts) <= self._pool.similarity(best):
                break
            separated = self._separator.separate(counts)
            if separated.value <= rho:
                return counts, is_cut_added
            is_cut_added = is_cut_added or separated.is_cut_added
        return None, is_cut_added


def _stopped() -> str:
    return f"stopped by the clock after {ROW_SECONDS:g} s, and a rerun may find another set: lower nodes or raise rho"
