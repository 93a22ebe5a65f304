"""Whether fractional counts attain MPR 0, by affine scaling: M' x = 0, sum x = k, 0 <= x <= capacity.

The reference's own shares, x = k q, are a solution of the equations. Where they are the only one (`saturated`), they
are within the capacities or nothing is. Else starts at them, clipped to the capacities. Each step solves least squares
for the residual in which a cell's weight is its distance from its nearer limit, and is shortened to stay inside.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.cell_pool import CellPool

# Steps, and the residual that counts as 0.
LARGEST_STEPS = 25
ZERO_RESIDUAL = 1e-11
# Part of the way to the nearest limit that a step covers: counts at a limit could not move again.
STEP_FRACTION = 0.9
# Pivots below this part of the largest are rounding error.
RANK_TOLERANCE = 1e-12


def attains_zero(features: FloatArray, pool: CellPool, reference_shares: FloatArray) -> bool:
    """Whether counts (G,) with M' x = 0 were found, for centred features M (G, r)."""
    from mprlib.optimisers import zero_gap_kernel as kernel

    counts: FloatArray = np.minimum(pool.k * reference_shares, pool.capacity)
    longest = float(np.abs(features).max(initial=0.0)) or 1.0
    system = np.empty((counts.size, features.shape[1] + 1))
    np.divide(features, pool.k * longest, out=system[:, :-1])
    system[:, -1] = 1.0 / pool.k
    if _is_only_solution(system):
        return kernel.residual_of(system, counts, np.empty(system.shape[1])) <= ZERO_RESIDUAL
    limits = kernel.Limits(LARGEST_STEPS, ZERO_RESIDUAL, STEP_FRACTION, RANK_TOLERANCE)
    return kernel.attains(system, pool.capacity.astype(np.float64), counts, limits)


def _is_only_solution(system: FloatArray) -> bool:
    """Whether counts with a residual of 0 differ nowhere: the rows (G, r + 1) of the system are independent."""
    rows, columns = system.shape
    return bool(columns >= rows and np.linalg.matrix_rank(system) == rows)
