"""The relaxation for any function class: cuts from its oracle, one walk down all rho.

At fixed pool, reference and k a cut does not depend on rho, so cuts and basis stay while rho
falls. A round solves the linear programme, asks the oracle about the optimum and adds the function
found as a row. It ends when the oracle finds nothing above rho by more than VIOLATION, when it
finds no function that the rows do not hold already (an inexact oracle may repeat itself), or at
the limit of rounds, which `is_converged` then tells.

Source:  MPR paper, Algorithm 1, without its restart for each rho.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mprlib.function_classes.base import Oracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import LinearModel
from mprlib.optimisers.relaxation import Relaxation, rho_bound, similarity_bound
from mprlib.problem import FloatArray

# Relative excess over rho at which the oracle counts as satisfied. The bound needs no more: at a
# multiplier of ten top-k similarities a unit of rho it moves the similarity by 1e-6.
VIOLATION = 1e-7
# A row that reads below this excess is held already, up to the solver's own tolerance.
SMALLEST_EXCESS = 1e-8
LARGEST_ROUNDS = 200
# Rows that had no price for this many values of rho in a row are dropped.
SLACK_VALUES = 3


class CuttingPlane:
    """Rows found so far for one problem and class, and the model that holds them."""

    def __init__(self, oracle: Oracle, pool: CellPool, pool_size: int, model: LinearModel) -> None:
        self._oracle = oracle
        self._pool = pool
        self._pool_size = pool_size
        self._model = model
        self._cuts: list[FloatArray] = []
        self._idle: list[int] = []
        self._floor: Relaxation | None = None

    @property
    def cuts(self) -> FloatArray:
        """Cuts (J, G) that the rows hold now."""
        return np.array(self._cuts).reshape(len(self._cuts), self._pool.cell_count)

    def add(self, function: FloatArray) -> None:
        """A function (G,) of the class as one more row."""
        cut = centred(function, self._oracle.cells.reference_shares, self._pool.k)
        self._model.add_cut(cut)
        self._cuts.append(cut)
        self._idle.append(0)

    def walk(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho; falling rho keep the basis warm."""
        return [self.solve(rho) for rho in rhos]

    def solve(self, rho: float) -> Relaxation:
        """The relaxation for one rho, with every cut found on the way kept."""
        if self._floor is not None and rho < self._floor.rho_min:
            return self._infeasible(rho)
        is_converged = False
        for _ in range(LARGEST_ROUNDS):
            solution = self._model.maximise_similarity(rho)
            if solution is None:
                floor = self._lowest()
                # Between the proven floor and the solver's verdict lies its tolerance only: one
                # hair above the floor, where the optimum is the floor's own point.
                return self._infeasible(rho) if rho < floor.rho_min else self._at_floor(rho)
            if self._is_held(solution.weights, rho):
                is_converged = True
                break
        price = self._price(solution.prices)
        multiplier = float(solution.prices.sum())
        self._drop_idle(solution.prices)
        return Relaxation(
            rho=rho,
            counts=self._pool.counts_of(solution.weights),
            price=price,
            multiplier=multiplier,
            bound=similarity_bound(self._pool, price, multiplier, rho),
            rho_min=None,
            is_converged=is_converged,
        )

    def _lowest(self) -> Relaxation:
        """The rho_min problem, solved once, when a rho first proves unreachable."""
        if self._floor is not None:
            return self._floor
        proven = 0.0
        for _ in range(LARGEST_ROUNDS):
            solution = self._model.minimise_rho()
            price = self._price(solution.prices)
            proven = max(proven, rho_bound(self._pool, price, float(solution.prices.sum())))
            if self._is_held(solution.weights, solution.rho):
                break
        self._floor = Relaxation(
            rho=solution.rho,
            counts=self._pool.counts_of(solution.weights),
            price=price,
            multiplier=float(solution.prices.sum()),
            bound=None,
            rho_min=proven,
        )
        return self._floor

    def _infeasible(self, rho: float) -> Relaxation:
        floor = self._lowest()
        return Relaxation(
            rho=rho, counts=floor.counts, price=floor.price, multiplier=floor.multiplier, bound=None, rho_min=floor.rho_min
        )

    def _at_floor(self, rho: float) -> Relaxation:
        floor = self._lowest()
        no_price = np.zeros(self._pool.cell_count)
        return Relaxation(
            rho=rho,
            counts=floor.counts,
            price=no_price,
            multiplier=0.0,
            bound=similarity_bound(self._pool, no_price, 0.0, rho),
            rho_min=floor.rho_min,
            is_converged=False,
        )

    def _is_held(self, weights: FloatArray, rho: float) -> bool:
        """Ask the oracle; add what it found unless the rows say it already."""
        full = np.zeros(self._pool_size)
        full[self._pool.items] = weights / self._pool.k
        # The oracle takes weights that sum to 1; a solver's may miss that by its tolerance.
        worst = self._oracle.worst_case(full / full.sum())
        if worst.value <= rho * (1.0 + VIOLATION) + SMALLEST_EXCESS:
            return True
        self.add(worst.function)
        return float(self._cuts[-1] @ self._pool.counts_of(weights)) <= rho + SMALLEST_EXCESS

    def _price(self, prices: FloatArray) -> FloatArray:
        # The last cut may be younger than the prices.
        return prices @ self.cuts[: prices.size] if prices.size else np.zeros(self._pool.cell_count)

    def _drop_idle(self, prices: FloatArray) -> None:
        for row in range(prices.size):
            self._idle[row] = 0 if prices[row] > 0 else self._idle[row] + 1
        gone = [row for row, idle in enumerate(self._idle) if idle >= SLACK_VALUES]
        self._model.drop_cuts(gone)
        for row in reversed(gone):
            del self._cuts[row], self._idle[row]


def centred(function: FloatArray, reference_shares: FloatArray, k: int) -> FloatArray:
    """The cut of a function (G,): what one item of each cell adds to the gap that it sees."""
    return (function - reference_shares @ function) / k
