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
# Singular values below this part of the largest are rounding error.
RANK_TOLERANCE = 1e-12


def attains_zero(features: FloatArray, pool: CellPool, reference_shares: FloatArray) -> bool:
    """Whether counts (G,) with M' x = 0 were found, for centred features M (G, r)."""
    counts: FloatArray = np.minimum(pool.k * reference_shares, pool.capacity)
    longest = float(np.abs(features).max(initial=0.0)) or 1.0
    system = np.column_stack([features / (pool.k * longest), np.ones(counts.size) / pool.k])
    target = np.append(np.zeros(features.shape[1]), 1.0)
    for step_number in range(LARGEST_STEPS):
        residual = target - counts @ system
        if np.linalg.norm(residual) <= ZERO_RESIDUAL:
            return True
        if step_number == 0 and _is_only_solution(system):
            return False
        room = np.minimum(counts, pool.capacity - counts)
        scaled = system * room[:, None]
        step = room * (scaled @ np.linalg.lstsq(scaled.T @ scaled, residual, rcond=RANK_TOLERANCE)[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(step > 0, (pool.capacity - counts) / step, np.where(step < 0, -counts / step, np.inf))
        counts = counts + step * min(1.0, STEP_FRACTION * float(np.min(limits, initial=np.inf)))
    return False


def _is_only_solution(system: FloatArray) -> bool:
    """Whether counts with a residual of 0 differ nowhere: the rows (G, r + 1) of the system are independent."""
    rows, columns = system.shape
    return bool(columns >= rows and np.linalg.matrix_rank(system) == rows)
