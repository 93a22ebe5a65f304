"""Branch and bound with lazy cuts, over the items that the gap leaves open.

An item whose reduced cost at the relaxation's prices exceeds the gap between dual bound and incumbent is in
every better set or in none (reduced-cost fixing). An integer programme over the others holds the class as
cuts; when the measuring code refuses its optimum, the function named becomes a cut and the programme is
solved again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import SolverName, integer_model
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.certificate import OPTIMALITY
from mprlib.optimisers.linear_model import IntegerSolution, Window
from mprlib.optimisers.near_counts import margin_of, near_counts
from mprlib.optimisers.relaxation import Relaxation, centred_cut
from mprlib.optimisers.separation import Separator

# Rounds of lazy cuts per rho, and of refused candidates in enumeration.
LARGEST_ROUNDS = 40
# Back-stop for one rho, enumeration included; a row that meets it has the status time_limit.
ROW_SECONDS = 60.0
# A cut that the solver's optimum violates by less is satisfied within the solver's tolerance.
CUT_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ProofState:
    """The incumbent counts (G,), a dual bound on every set that meets rho, and how far the search got.

    A bound of -inf: no set meets rho. rounds, nodes: integer programmes solved, and their nodes.
    """

    counts: IntArray | None
    bound: float
    is_out_of_time: bool = False
    rounds: int = 0
    nodes: int = 0

    @property
    def is_empty(self) -> bool:
        """Proven that no set meets rho."""
        return self.bound == -np.inf

    def is_optimal(self, pool: CellPool) -> bool:
        """Whether the incumbent attains the bound."""
        return self.counts is not None and pool.similarity(self.counts) >= self.bound - OPTIMALITY * pool.k

    def is_final(self, pool: CellPool) -> bool:
        """Whether nothing is left to search, or no time."""
        return self.is_empty or self.is_out_of_time or self.is_optimal(pool)


def seconds_left(watch: Stopwatch) -> float:
    """Seconds until the back-stop of a row that began with the stopwatch."""
    return ROW_SECONDS - watch.seconds()


class BranchAndBound:
    """The integer programmes of one rho."""

    def __init__(self, separator: Separator, relaxation: Relaxation, nodes: int, solver: SolverName) -> None:
        self._separator, self._pool = separator, separator.pool
        self._relaxation = relaxation
        self._nodes, self._solver = nodes, solver

    def solve(self, state: ProofState, watch: Stopwatch) -> ProofState:
        """The state after branch and bound, from the state before."""
        window = self._window(state)
        cuts = list(self._separator.region.first_cuts(self._relaxation.counts))
        shares, rho = self._separator.oracle.cells.reference_shares, self._relaxation.rho
        for _ in range(LARGEST_ROUNDS):
            seconds = seconds_left(watch)
            if seconds <= 0:
                return replace(state, is_out_of_time=True)
            answer = self._solved(window, cuts, state.counts, self._nodes - state.nodes, seconds)
            state = self._after(state, window, answer)
            if answer.counts is None or state.is_final(self._pool):
                return state
            worst = self._separator.worst_case(answer.counts)
            if worst.value <= rho:
                return self._with_incumbent(state, answer.counts)
            cut = centred_cut(worst.function, shares, self._pool.k)
            is_satisfied = cut @ answer.counts <= rho + CUT_TOLERANCE
            if is_satisfied or not answer.is_complete or state.nodes >= self._nodes:
                return state
            cuts.append(cut)
        return state

    def _after(self, state: ProofState, window: Window, answer: IntegerSolution) -> ProofState:
        """The state with the bound that a programme has proven."""
        similarity = self._pool.similarity
        incumbent = -np.inf if state.counts is None else similarity(state.counts)
        # The window contains every set that is better than the incumbent: infeasible, it proves that there is none.
        bound = -np.inf if answer.is_infeasible else min(state.bound, similarity(window.low) + answer.bound)
        return replace(
            state,
            bound=max(bound, incumbent),
            is_out_of_time=answer.is_out_of_time,
            rounds=state.rounds + 1,
            nodes=state.nodes + answer.nodes,
        )

    def _with_incumbent(self, state: ProofState, counts: IntArray) -> ProofState:
        """The state with the better of the incumbent and counts that meet rho."""
        similarity, best = self._pool.similarity, state.counts
        if best is None or similarity(counts) > similarity(best):
            best = counts
        return replace(state, counts=best, bound=max(state.bound, similarity(best)))

    def _solved(
        self, window: Window, cuts: list[FloatArray], best: IntArray | None, nodes: int, seconds: float
    ) -> IntegerSolution:
        # A new model per round: HiGHS keeps no search tree, and the incumbent helps more than a basis.
        model = integer_model(window, self._solver)
        for cut in cuts:
            model.add_cut(cut)
        return model.maximise_whole(self._relaxation.rho, start=best, node_limit=nodes, time_limit_seconds=seconds)

    def _window(self, state: ProofState) -> Window:
        """The counts that a better set may have, and the incumbent's own."""
        pool = self._pool
        if state.counts is None:
            return Window.of(pool, np.zeros_like(pool.capacity), pool.capacity)
        allowance = self._relaxation.bound - pool.similarity(state.counts)
        low, losses = near_counts(self._relaxation, pool, margin_of(self._relaxation, pool), allowance)
        high = low + np.array([len(loss) - 1 for loss in losses])
        return Window.of(pool, np.minimum(low, state.counts), np.maximum(high, state.counts))
