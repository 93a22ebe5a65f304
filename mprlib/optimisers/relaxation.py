"""The convex relaxation of "the most similar k items with MPR <= rho", and bounds from its dual.

Let x (G,) count the items taken from each cell, real numbers for now, and let a cut be a function
of the class, centred and per item: cut_g = (c_g - sum_h q_h c_h) / k. As counts sum to k, the gap
that c sees is cut . x. For prices lambda >= 0 on cuts,

    similarity(x) <= top-k sum of (s_i - sum_j lambda_j cut_jg) + rho * sum_j lambda_j

for every x that meets rho: weak duality, valid for any prices, so that a bound never rests on a
solver's tolerances. The price of a cell is sum_j lambda_j cut_jg. With prices on a set that no x
can meet the right-hand side falls without end; read without scores it bounds rho from below:

    rho_min >= -(top-k sum of -price_g) / sum_j lambda_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.problem import FloatArray

# Sums of k prices are exact to this part of the largest; a proof of infeasibility must exceed it.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Relaxation:
    """The relaxation solved for one rho.

    Shapes:  counts (G,), the optimum; of the rho_min problem when infeasible.
             price (G,), of one more item of each cell, in similarity: the optimum's multipliers.
    bound is a total over the k items; None when infeasible. multiplier >= 0 is what one unit of
    rho is worth, in total similarity. rho_min is a proven lower bound on any reachable rho, None
    where nothing was asked. is_converged: the stopping rule was met, not the limit of rounds.
    """

    rho: float
    counts: FloatArray
    price: FloatArray
    multiplier: float
    bound: float | None
    rho_min: float | None
    is_converged: bool = True

    @property
    def is_infeasible(self) -> bool:
        """Proven that no selection, fractional ones included, meets rho."""
        return self.bound is None


def similarity_bound(pool: CellPool, price: FloatArray, multiplier: float, rho: float) -> float:
    """Total similarity that no selection meeting rho exceeds; valid for any price of cuts."""
    return top_sum(pool.scores - price[pool.cell], pool.k) + rho * multiplier


def rho_bound(pool: CellPool, price: FloatArray, multiplier: float) -> float:
    """A rho that no selection goes below."""
    if multiplier <= 0:
        return 0.0
    rounding = ROUNDING * pool.k * float(np.abs(price).max(initial=0.0))
    return max(0.0, (-top_sum(-price[pool.cell], pool.k) - rounding) / multiplier)


def top_sum(values: FloatArray, k: int) -> float:
    """Sum of the k largest values."""
    if k >= values.size:
        return float(values.sum())
    return float(np.partition(values, values.size - k)[-k:].sum())
