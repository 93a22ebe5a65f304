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
    from mprlib.optimisers import rounding_kernel as kernel

    return kernel.rounded(counts, pool.capacity, pool.k, INTEGRALITY).astype(np.intp, copy=False)
