"""Intervals for groups' shares of a population, from their shares of a sample.

Source:  Clopper and Pearson 1934.
"""

from __future__ import annotations

import numpy as np
import scipy

from mprlib.arrays import FloatArray


def share_limits(shares: FloatArray, size: float, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (groups,) for shares (groups,) of a sample of some (effective) size.

    They cover at least at their confidence for every share, near 0 and 1 too, where normal intervals fail.

    >>> low, high = share_limits(np.array([0.0, 0.5]), 10, 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    shares = np.asarray(shares, dtype=float)
    hits, misses, tail = shares * size, (1.0 - shares) * size, (1.0 - confidence) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.where(shares <= 0, 0.0, scipy.special.betaincinv(hits, misses + 1.0, tail))
        high = np.where(shares >= 1, 1.0, scipy.special.betaincinv(hits + 1.0, misses, 1.0 - tail))
    return low, high
