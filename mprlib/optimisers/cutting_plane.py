"""The relaxation for any function class: cutting planes from its oracle, for rho after rho downwards.

At fixed pool, reference and k a cut does not depend on rho, so cuts are kept while rho falls; a cut whose
dual price was zero for some values of rho is dropped. Two points bracket the optimum of a rho: the linear
programme's, with a dual bound, and an inner point that the oracle accepts, whose similarity is a lower
bound. In a round the oracle is asked about the programme's point (a tree's names several functions) and,
where that violates rho, about points half-way to the inner one, which give deeper cuts or a better inner
point. From one rho to the next the inner point shrinks towards the reference's own shares, where every
function sees a gap of zero: MPR is convex, so it shrinks at least in proportion.

A rho is solved when the two bounds meet within DUALITY_GAP or the oracle accepts the programme's point. At
the limit of rounds `is_converged` is false; the dual bound is valid in any case.

Source:  MPR paper, Algorithm 1, without its restart for each rho; Ben-Ameur and Neto 2007 for
         separation between an inner and an outer point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import SolverError
from mprlib.function_classes.base import Oracle, WorstCase
from mprlib.optimisers.backend import SolverName
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import LinearModel, LinearSolution
from mprlib.optimisers.programmes import Programme, over_all_items, programme_of
from mprlib.optimisers.relaxation import (
    Relaxation,
    SmallestRho,
    centred_cut,
    rho_bound,
    similarity_bound,
    unpriced,
)

# Relative distance of the two bounds at which a rho is solved: a tenth of the median loss by rounding to whole
# items (0.02%); a tenth of this would double the calls of the oracle.
DUALITY_GAP = 2e-5
# Excess over rho at which the oracle accepts a point: the solver's own tolerance.
SMALLEST_EXCESS = 1e-8
# Linear programmes per rho.
LARGEST_ROUNDS = 120
# Points between the outer and the inner one about which the oracle is asked in one round.
LARGEST_HALVINGS = 3
# Functions that the oracle names for an outer point, where it has several: half as many programmes as with one.
MOST_FUNCTIONS = 4
# A cut is dropped when its price was zero at this many consecutive values of rho.
IDLE_VALUES = 2


class CuttingPlane:
    """Cuts found so far for one problem and class."""

    def __init__(
        self, oracle: Oracle, pool: CellPool, pool_size: int, top_counts: IntArray, solver: SolverName = "auto"
    ) -> None:
        self._oracle = oracle
        self._pool = pool
        self._pool_size = pool_size
        self._solver: SolverName = solver
        self._programme: Programme = programme_of(pool, solver, top_counts)
        self._idle: list[int] = []
        self._smallest: SmallestRho | None = None
        self._outer: FloatArray = top_counts.astype(float)
        reference = pool.k * oracle.cells.reference_shares
        # The reference's own shares are an inner point unless some cell has too few items for its share.
        self._centre = reference if (reference <= pool.capacity).all() else None
        self._inner, self._inner_rho = self._centre, 0.0
        self._oracle_calls = self._of_smallest = 0

    @property
    def cuts(self) -> FloatArray:
        """The cuts (J, G) that are held now."""
        return self._programme.cuts

    def solve(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling; every cut found on the way is kept."""
        rows = []
        for rho in rhos:
            programmes, calls = self._solved_programmes, self._oracle_calls
            row = self._solve(rho)
            steps, own_calls = self._solved_programmes - programmes, self._oracle_calls - calls
            rows.append(replace(row, steps=steps, oracle_calls=own_calls))
        return rows

    @property
    def _solved_programmes(self) -> int:
        return self._programme.solved + self._of_smallest

    def _solve(self, rho: float) -> Relaxation:
        if self._smallest is not None and rho < self._smallest.rho_min:
            return self._smallest.infeasible(rho)
        self._shrink_inner(rho)
        try:
            return self._solved(rho)
        except SolverError:
            # The solver met its limit of iterations.
            return unpriced(self._pool, self._outer, rho, None)

    def _solved(self, rho: float) -> Relaxation:
        for _ in range(LARGEST_ROUNDS):
            solution = self._programme.maximised(rho)
            if solution is None:
                return self._below(rho)
            self._outer = solution.counts
            bound = self._bound(solution, rho)
            is_closed = bound - self._inner_similarity() <= DUALITY_GAP * abs(bound)
            if is_closed or self._accepts(solution.counts, rho):
                return self._row(solution, rho, bound, is_converged=True)
        assert solution is not None
        return self._row(solution, rho, bound, is_converged=False)

    def _row(self, solution: LinearSolution, rho: float, bound: float, *, is_converged: bool) -> Relaxation:
        """The relaxation that ends at this optimum; cuts without a price are dropped after it."""
        price, multiplier = self._price(solution.prices), float(solution.prices.sum())
        self._drop_idle(solution.prices)
        return Relaxation(
            rho=rho,
            counts=solution.counts,
            price=price,
            multiplier=multiplier,
            bound=bound,
            rho_min=None if self._centre is None else 0.0,
            is_converged=is_converged,
        )

    def _accepts(self, outer: FloatArray, rho: float) -> bool:
        """Ask the oracle about the outer point and on the way to the inner one; whether there is no new cut."""
        seen = self._ask(outer, MOST_FUNCTIONS)
        if seen[0].value <= rho + SMALLEST_EXCESS:
            return True
        added = [self._add(one, outer, rho) for one in seen]
        if self._inner is not None:
            for _ in range(LARGEST_HALVINGS):
                middle = 0.5 * (self._inner + outer)
                [worst] = self._ask(middle, 1)
                if worst.value > rho:
                    added.append(self._add(worst, outer, rho))
                    break
                self._inner = middle
        # An inexact oracle may name a function that is a cut already; another round would change nothing.
        return not any(added)

    def _add(self, worst: WorstCase, outer: FloatArray, rho: float) -> bool:
        cut = centred_cut(worst.function, self._oracle.cells.reference_shares, self._pool.k)
        if cut @ outer <= rho + SMALLEST_EXCESS:
            return False
        self._programme.add_cut(cut)
        self._idle.append(0)
        return True

    def _ask(self, counts: FloatArray, most: int) -> list[WorstCase]:
        self._oracle_calls += 1
        weights = np.clip(counts[self._pool.cell] - self._pool.rank, 0.0, 1.0)
        full = np.zeros(self._pool_size)
        full[self._pool.items] = weights
        # The oracle expects weights that sum to 1; a solver's miss that by its tolerance.
        return self._oracle.worst_cases(full / full.sum(), most)

    def _shrink_inner(self, rho: float) -> None:
        if self._inner is not None and self._centre is not None and rho < self._inner_rho:
            self._inner = self._centre + (self._inner - self._centre) * (rho / self._inner_rho)
        self._inner_rho = rho

    def _inner_similarity(self) -> float:
        return -np.inf if self._inner is None else self._pool.fractional_similarity(self._inner)

    def _bound(self, solution: LinearSolution, rho: float) -> float:
        if solution.bound is not None:
            return solution.bound
        return similarity_bound(self._pool, self._price(solution.prices), float(solution.prices.sum()), rho)

    def _price(self, prices: FloatArray) -> FloatArray:
        # Cuts found since the programme was solved have no price yet.
        return prices @ self.cuts[: prices.size] if prices.size else np.zeros(self._pool.cell_count)

    def _drop_idle(self, prices: FloatArray) -> None:
        for row in range(prices.size):
            self._idle[row] = 0 if prices[row] > 0 else self._idle[row] + 1
        is_needed = self._programme.is_needed()
        kept = [row for row, idle in enumerate(self._idle) if idle < IDLE_VALUES or is_needed[row]]
        if len(kept) < len(self._idle):
            self._programme.keep(kept)
            self._idle = [self._idle[row] for row in kept]

    def _below(self, rho: float) -> Relaxation:
        """The solver found no point that meets the cuts; proven only below the smallest rho."""
        smallest = self._smallest_rho()
        if rho < smallest.rho_min:
            return smallest.infeasible(rho)
        # Above it by less than the solver's tolerance.
        return unpriced(self._pool, smallest.counts, rho, smallest.rho_min)

    def _smallest_rho(self) -> SmallestRho:
        """The smallest rho, solved once, when a rho first proves infeasible."""
        if self._smallest is not None:
            return self._smallest
        model: LinearModel = over_all_items(self._pool, self._solver, self.cuts)
        proven = -1.0
        for _ in range(LARGEST_ROUNDS):
            self._of_smallest += 1
            solution = model.minimise_rho()
            price, multiplier = self._price(solution.prices), float(solution.prices.sum())
            proven = max(proven, rho_bound(self._pool, price, multiplier))
            [worst] = self._ask(solution.counts, 1)
            if worst.value <= solution.rho + SMALLEST_EXCESS:
                break
            if not self._add(worst, solution.counts, solution.rho):
                break
            model.add_cut(self.cuts[-1])
        self._smallest = SmallestRho(counts=solution.counts, price=price, multiplier=multiplier, rho_min=proven)
        return self._smallest
