"""From the relaxation's fractional counts to k whole items.

The counts are rounded down, and the missing items are given to the cells with the largest fractions.

Worked example: counts (1.2, 2.9, 0.9) with sum 5 become (1, 3, 1).
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool

# A fraction this close to the next whole number is that number but for a solver's tolerance.
INTEGRALITY = 1e-6


def rounded(counts: FloatArray, pool: CellPool) -> IntArray:
    """Whole counts (G,) next to fractional ones, with sum k; equal fractions by the order of cells."""
    whole: IntArray = np.clip(np.floor(counts + INTEGRALITY).astype(np.intp), 0, pool.capacity)
    missing = max(pool.k - int(whole.sum()), 0)
    fraction = np.where(whole < pool.capacity, counts - whole, -np.inf)
    whole[np.argsort(-fraction, kind="stable")[:missing]] += 1
    np.minimum(whole, pool.capacity, out=whole)
    _balance(whole, pool)
    return whole


def _balance(whole: IntArray, pool: CellPool) -> None:
    """Bring the sum to k, in place: it differs only where a solver's counts do not sum to k."""
    missing = pool.k - int(whole.sum())
    if missing == 0:
        return
    for cell in np.flatnonzero(whole):
        step = min(max(-missing, 0), int(whole[cell]))
        whole[cell] -= step
        missing += step
    for cell in np.flatnonzero(whole < pool.capacity):
        step = min(missing, int(pool.capacity[cell] - whole[cell]))
        whole[cell] += step
        missing -= step
