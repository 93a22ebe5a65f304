"""mopr_integer's rows: mopr's proof on whole counts, then exhaustive search, then branch and bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mprlib.arrays import IntArray
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import SolverName
from mprlib.optimisers.branch_and_bound import LARGEST_ROUNDS, ROW_SECONDS, BranchAndBound, ProofState, seconds_left
from mprlib.optimisers.certificate import certified, with_advice
from mprlib.optimisers.enumeration import enumerate_counts
from mprlib.optimisers.incumbent import Incumbents
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.request import Request
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent
from mprlib.selection import Selection, SolveStatistics

# Partial sums kept at each cell by the first enumeration and by the second, per node that a row may take: 20 ms
# and 0.2 s per rho with 28 cells.
SUMS_PER_NODE = (10, 150)
# Over cuts a candidate's value is a lower bound that the measuring code may refuse, and each partial sum has
# hundreds of gaps: one short enumeration is enough.
CUT_SUMS = 2_000


class ProvenSearch:
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
            self._incumbents.impossible,
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
