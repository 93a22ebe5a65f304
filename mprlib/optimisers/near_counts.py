"""Counts that lose little at a relaxation's prices: reduced-cost fixing, cell by cell."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation

# Rounding error of sums of scaled scores.
ROUNDING = 1e-12


def margin_of(relaxation: Relaxation, pool: CellPool) -> float:
    """The k-th largest score net of prices, at which an item just enters the optimum."""
    from mprlib.optimisers.near_kernel import margin

    return margin(pool.scores, pool.first, pool.capacity, relaxation.price, pool.k)


def near_counts(
    relaxation: Relaxation, pool: CellPool, margin: float, allowance: float
) -> tuple[IntArray, list[FloatArray]]:
    """The lowest count (G,) of each cell whose loss is at most the allowance, and the losses from there up."""
    reduced = pool.scores - relaxation.price[pool.cell] - margin
    low = np.zeros(pool.cell_count, dtype=np.intp)
    losses = []
    for cell in range(pool.cell_count):
        own = reduced[pool.first[cell] : pool.first[cell] + pool.capacity[cell]]
        sums = np.concatenate([[0.0], np.cumsum(own)])
        loss = sums.max() - sums
        near = np.flatnonzero(loss <= allowance + ROUNDING)
        low[cell] = near[0]
        losses.append(loss[near[0] : near[-1] + 1])
    return low, losses
