"""The relaxation for any function class: cuts from its oracle, one walk down all rho.

At fixed pool, reference and k a cut does not depend on rho, so cuts stay while rho falls; a cut
that had no price for some values of rho is dropped. Two points enclose the optimum of one rho: the
linear programme's, with a bound from above, and an inner point that the oracle accepts, whose
similarity is a bound from below. A round asks the oracle about the programme's point and, where
that lies outside, about points half-way to the inner one, which give deeper cuts or a better
inner point. The walk from one rho to the next shrinks the inner point towards the reference's own
shares, where every function sees nothing: MPR is convex, so it shrinks in proportion.

It ends when the two bounds meet within ENCLOSURE, when the oracle accepts the programme's point,
or at the limit of rounds, which `is_converged` then tells; the upper bound holds in any case.

Source:  MPR paper, Algorithm 1, without its restart for each rho; Ben-Ameur and Neto 2007 for
         cuts between an inner and an outer point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mprlib.errors import SolverError
from mprlib.function_classes.base import Oracle, WorstCase
from mprlib.optimisers.backend import model_factory
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import LinearModel, LinearSolution, Window
from mprlib.optimisers.relaxation import Relaxation, rho_bound, similarity_bound
from mprlib.problem import FloatArray, IntArray

# Relative distance of the two bounds at which a rho is done: a tenth of what rounding to whole
# items loses (0.02% in the middle), at half the oracle's calls of a tenth of it.
ENCLOSURE = 2e-5
# Excess over rho at which the oracle counts as satisfied: the solver's own tolerance.
SMALLEST_EXCESS = 1e-8
LARGEST_ROUNDS = 120
# Questions between the outer and the inner point in one round.
LARGEST_HALVINGS = 3
# Rows that had no price for this many values of rho in a row are dropped.
SLACK_VALUES = 2
# Items on both sides of the margin of each cell that a programme holds open; doubled when touched.
FIRST_MARGIN = 6


class CuttingPlane:
    """Cuts found so far for one problem and class."""

    def __init__(self, oracle: Oracle, pool: CellPool, pool_size: int, top_counts: IntArray) -> None:
        self._oracle = oracle
        self._pool = pool
        self._pool_size = pool_size
        self._cuts: list[FloatArray] = []
        self._idle: list[int] = []
        self._floor: Relaxation | None = None
        self._outer = top_counts.astype(float)
        reference = pool.k * oracle.cells.reference_shares
        # Where a cell has fewer items than its share asks there is no inner point at hand.
        self._centre = reference if (reference <= pool.capacity).all() else None
        self._inner, self._inner_rho = self._centre, 0.0

    @property
    def cuts(self) -> FloatArray:
        """Cuts (J, G) that are held now."""
        return np.array(self._cuts).reshape(len(self._cuts), self._pool.cell_count)

    def walk(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling."""
        return [self.solve(rho) for rho in rhos]

    def solve(self, rho: float) -> Relaxation:
        """The relaxation for one rho, with every cut found on the way kept."""
        if self._floor is not None and rho < self._floor.rho_min:
            return self._infeasible(rho)
        self._shrink_inner(rho)
        try:
            return self._solved(rho)
        except SolverError:
            # No answer within its limit of iterations: what the scores alone say still holds.
            return self._unsolved(rho, self._outer, None)

    def _solved(self, rho: float) -> Relaxation:
        margin = FIRST_MARGIN
        window, model = self._open(margin)
        is_converged = False
        for _ in range(LARGEST_ROUNDS):
            solution = model.maximise_similarity(rho)
            if solution is None and self._is_partial(window):
                margin = self._pool.k
            elif solution is not None and self._touches_edge(window, solution.counts):
                margin *= 2
            else:
                if solution is None:
                    return self._below(rho)
                self._outer = solution.counts
                bound = self._bound(solution, rho)
                is_enclosed = bound - self._inner_similarity() <= ENCLOSURE * abs(bound)
                if is_enclosed or self._accepts(solution.counts, rho, model):
                    is_converged = True
                    break
                continue
            window, model = self._open(margin)
        else:
            solution = solution or model.maximise_similarity(rho)
        if solution is None:
            return self._below(rho)
        price = self._price(solution.prices)
        self._drop_idle(solution.prices)
        return Relaxation(
            rho=rho,
            counts=solution.counts,
            price=price,
            multiplier=float(solution.prices.sum()),
            bound=similarity_bound(self._pool, price, float(solution.prices.sum()), rho),
            rho_min=None if self._centre is None else 0.0,
            is_converged=is_converged,
        )

    def _open(self, margin: int) -> tuple[Window, LinearModel]:
        """A programme of the items around the last point's margins, holding all cuts."""
        low = np.maximum(np.floor(self._outer).astype(np.intp) - margin, 0)
        high = np.minimum(np.ceil(self._outer).astype(np.intp) + margin, self._pool.capacity)
        window = Window.of(self._pool, low, high)
        model = model_factory(window)(window)
        for cut in self._cuts:
            model.add_cut(cut)
        return window, model

    def _is_partial(self, window: Window) -> bool:
        return bool((window.low > 0).any() or (window.high < self._pool.capacity).any())

    def _touches_edge(self, window: Window, counts: FloatArray) -> bool:
        """Whether a limit of the window, not of the pool, holds a cell back."""
        is_low = (counts <= window.low + SMALLEST_EXCESS) & (window.low > 0)
        is_high = (counts >= window.high - SMALLEST_EXCESS) & (window.high < self._pool.capacity)
        return bool((is_low | is_high).any())

    def _accepts(self, outer: FloatArray, rho: float, model: LinearModel) -> bool:
        """Ask the oracle about the outer point and on the way to the inner one; keep what it finds."""
        worst = self._ask(outer)
        if worst.value <= rho + SMALLEST_EXCESS:
            return True
        is_new = self._add(worst, outer, rho, model)
        if self._inner is not None:
            for _ in range(LARGEST_HALVINGS):
                middle = 0.5 * (self._inner + outer)
                worst = self._ask(middle)
                if worst.value > rho:
                    is_new = self._add(worst, outer, rho, model) or is_new
                    break
                self._inner = middle
        # An inexact oracle may repeat itself; then there is no more to learn from it.
        return not is_new

    def _add(self, worst: WorstCase, outer: FloatArray, rho: float, model: LinearModel) -> bool:
        cut = centred(worst.function, self._oracle.cells.reference_shares, self._pool.k)
        if cut @ outer <= rho + SMALLEST_EXCESS:
            return False
        model.add_cut(cut)
        self._cuts.append(cut)
        self._idle.append(0)
        return True

    def _ask(self, counts: FloatArray) -> WorstCase:
        weights = np.clip(counts[self._pool.cell] - self._pool.rank, 0.0, 1.0)
        full = np.zeros(self._pool_size)
        full[self._pool.items] = weights
        # The oracle takes weights that sum to 1; a solver's may miss that by its tolerance.
        return self._oracle.worst_case(full / full.sum())

    def _shrink_inner(self, rho: float) -> None:
        if self._inner is not None and rho < self._inner_rho:
            self._inner = self._centre + (self._inner - self._centre) * (rho / self._inner_rho)
        self._inner_rho = rho

    def _inner_similarity(self) -> float:
        return -np.inf if self._inner is None else self._pool.fractional_similarity(self._inner)

    def _bound(self, solution: LinearSolution, rho: float) -> float:
        return similarity_bound(self._pool, self._price(solution.prices), float(solution.prices.sum()), rho)

    def _price(self, prices: FloatArray) -> FloatArray:
        # The last cuts may be younger than the prices.
        return prices @ self.cuts[: prices.size] if prices.size else np.zeros(self._pool.cell_count)

    def _drop_idle(self, prices: FloatArray) -> None:
        for row in range(prices.size):
            self._idle[row] = 0 if prices[row] > 0 else self._idle[row] + 1
        kept = [row for row, idle in enumerate(self._idle) if idle < SLACK_VALUES]
        self._cuts, self._idle = [self._cuts[row] for row in kept], [self._idle[row] for row in kept]

    def _below(self, rho: float) -> Relaxation:
        """No point meets the cuts by the solver's verdict: proven only against the floor."""
        floor = self._lowest()
        if rho < floor.rho_min:
            return self._infeasible(rho)
        # Between the proven floor and the verdict lies the solver's tolerance only.
        return self._unsolved(rho, floor.counts, floor.rho_min)

    def _unsolved(self, rho: float, counts: FloatArray, rho_min: float | None) -> Relaxation:
        no_price = np.zeros(self._pool.cell_count)
        return Relaxation(
            rho=rho,
            counts=counts,
            price=no_price,
            multiplier=0.0,
            bound=similarity_bound(self._pool, no_price, 0.0, rho),
            rho_min=rho_min,
            is_converged=False,
        )

    def _lowest(self) -> Relaxation:
        """The rho_min problem, solved once, when a rho first proves unreachable."""
        if self._floor is not None:
            return self._floor
        _, model = self._open(self._pool.k)
        proven = -1.0
        for _ in range(LARGEST_ROUNDS):
            solution = model.minimise_rho()
            price, multiplier = self._price(solution.prices), float(solution.prices.sum())
            proven = max(proven, rho_bound(self._pool, price, multiplier))
            worst = self._ask(solution.counts)
            if worst.value <= solution.rho + SMALLEST_EXCESS:
                break
            if not self._add(worst, solution.counts, solution.rho, model):
                break
        self._floor = Relaxation(
            rho=solution.rho, counts=solution.counts, price=price, multiplier=multiplier, bound=None, rho_min=proven
        )
        return self._floor

    def _infeasible(self, rho: float) -> Relaxation:
        floor = self._lowest()
        return Relaxation(
            rho=rho,
            counts=floor.counts,
            price=floor.price,
            multiplier=floor.multiplier,
            bound=None,
            rho_min=floor.rho_min,
        )


def centred(function: FloatArray, reference_shares: FloatArray, k: int) -> FloatArray:
    """The cut of a function (G,): what one item of each cell adds to the gap that it sees."""
    return (function - reference_shares @ function) / k
