"""The convex relaxation of "the k most similar items with MPR <= rho", and bounds from its Lagrangian dual.

Let x (G,) be the counts of items selected from each cell, fractional here, and let a cut be a function
c of the class, centred at the reference and per item: cut_g = (c_g - sum_h q_h c_h) / k. As counts sum to
k, the gap that c sees is cut . x. For multipliers lambda_j >= 0 of cuts j,

    similarity(x) <= top-k sum of (s_i - sum_j lambda_j cut_jg) + rho * sum_j lambda_j

for every x that meets rho: weak duality. It holds for any multipliers, so that the bound does not depend
on a solver's tolerance. The price of a cell is sum_j lambda_j cut_jg. When no x meets rho, the right-hand
side is unbounded below, and without scores it bounds the attainable rho:

    rho_min >= -(top-k sum of -price_g) / sum_j lambda_j.

For a ball one multiplier vector z replaces the cuts: price_g = z . M_g, and |z| replaces their sum.

Worked example: scores (1, 0), one cell each, reference shares (1/2, 1/2), k = 1, c = (1, -1): cut = (1, -1).
At rho = 1/2 and lambda = 1/2 both reduced scores are 1/2, hence the bound is 1/2 + 1/4 = 3/4, the optimum.

>>> centred_cut(np.array([1.0, -1.0]), np.array([0.5, 0.5]), k=1).tolist()
[1.0, -1.0]
>>> top_sum(np.array([1.0, 0.0]) - 0.5 * np.array([1.0, -1.0]), k=1) + 0.5 * 0.5
0.75
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.cell_pool import CellPool

# Rounding error of a sum of k prices, as a part of the largest; a proof of infeasibility must exceed it.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Relaxation:
    """The relaxation solved for one rho.

    Shapes:  counts (G,), the optimum; of the problem of the smallest rho when infeasible.
             price (G,), the optimum's dual price of one more item of each cell, in similarity.
    bound is a dual bound on the total similarity of k items; -inf when the relaxation is infeasible.
    multiplier >= 0 is the dual multiplier of rho, in total similarity per unit of rho.
    direction (r,): of a ball, z with price = M z and |z| = multiplier; None where the method does not say it.
    rho_min is a proven lower bound on the rho that any counts attain, None where it was not computed.
    is_converged: the stopping rule was met, not a limit.
    steps: iterations of the method that solved it (breakpoints, values of t, interior-point iterations
    or linear programmes). oracle_calls: functions asked of the class.
    """

    rho: float
    counts: FloatArray
    price: FloatArray
    multiplier: float
    bound: float
    rho_min: float | None
    is_converged: bool = True
    steps: int = 0
    oracle_calls: int = 0
    direction: FloatArray | None = None

    @property
    def is_infeasible(self) -> bool:
        """Proven that no selection, fractional ones included, meets rho."""
        return self.bound == -np.inf


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class SmallestRho:
    """The relaxation that minimises rho, whatever the similarity: counts and price (G,) as in `Relaxation`."""

    counts: FloatArray
    price: FloatArray
    multiplier: float
    rho_min: float
    is_converged: bool = True

    def infeasible(self, rho: float) -> Relaxation:
        """The row of a rho below rho_min."""
        return Relaxation(
            rho=rho,
            counts=self.counts,
            price=self.price,
            multiplier=self.multiplier,
            bound=-np.inf,
            rho_min=self.rho_min,
            is_converged=self.is_converged,
        )


def centred_cut(function: FloatArray, reference_shares: FloatArray, k: int) -> FloatArray:
    """The cut of a function (G,): how much one item of each cell adds to the gap that it sees."""
    return (function - reference_shares @ function) / k


def unpriced(pool: CellPool, counts: FloatArray, rho: float, rho_min: float | None) -> Relaxation:
    """What the scores alone prove, where a solver gave no multipliers: the bound is top-k's similarity."""
    no_price = np.zeros(pool.cell_count)
    return Relaxation(
        rho=rho,
        counts=counts,
        price=no_price,
        multiplier=0.0,
        bound=similarity_bound(pool, no_price, 0.0, rho),
        rho_min=rho_min,
        is_converged=False,
    )


def similarity_bound(pool: CellPool, price: FloatArray, multiplier: float, rho: float) -> float:
    """The dual bound on the total similarity of a selection that meets rho; valid for any multipliers."""
    return top_sum(pool.scores - price[pool.cell], pool.k) + rho * multiplier


def rho_bound(pool: CellPool, price: FloatArray, multiplier: float) -> float:
    """A proven lower bound on the rho that any selection attains."""
    if multiplier <= 0:
        return 0.0
    rounding = ROUNDING * pool.k * float(np.abs(price).max(initial=0.0))
    return max(0.0, (-top_sum(-price[pool.cell], pool.k) - rounding) / multiplier)


def top_sum(values: FloatArray, k: int) -> float:
    """Sum of the k largest values."""
    if k >= values.size:
        return float(values.sum())
    return float(np.partition(values, values.size - k)[-k:].sum())
