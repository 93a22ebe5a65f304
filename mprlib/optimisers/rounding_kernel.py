"""Compiled loops of `rounding`."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def rounded(counts: FloatArray, capacity: IntArray, k: int, integrality: float) -> IntArray:
    """Whole counts (G,) next to fractional ones, with sum k; equal fractions by the order of cells."""
    size = counts.size
    whole, fraction = np.empty(size, np.int64), np.empty(size)
    total = 0
    for cell in range(size):
        whole[cell] = min(max(int(np.floor(counts[cell] + integrality)), 0), capacity[cell])
        fraction[cell] = counts[cell] - whole[cell] if whole[cell] < capacity[cell] else -np.inf
        total += whole[cell]
    for _ in range(min(max(k - total, 0), size)):
        best = int(np.argmax(fraction))
        if fraction[best] == -np.inf:
            break
        whole[best] += 1
        total += 1
        fraction[best] = -np.inf
    # The sum differs only where a solver's counts do not sum to k.
    for cell in range(size):
        step = min(max(total - k, 0), whole[cell])
        whole[cell] -= step
        total -= step
    for cell in range(size):
        step = min(max(k - total, 0), capacity[cell] - whole[cell])
        whole[cell] += step
        total += step
    return whole
