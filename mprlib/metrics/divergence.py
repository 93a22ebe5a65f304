"""The Kullback-Leibler divergence of shares, KL(p | q) = sum_g p_g ln(p_g / q_g).

A group with p_g = 0 adds nothing, also where q_g = 0; one with p_g > 0 and q_g = 0 makes it infinite. No shares are
smoothed.

>>> import numpy as np
>>> divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])).round(6).item()  # ln 2
0.693147
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray


def divergence(shares: FloatArray, target: FloatArray) -> FloatArray:
    """KL of each row of shares (..., L) from target (L,), in nats and at least 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, shares * np.log(shares / target), 0.0)
    # Of shares that are equal but for rounding the sum may be below zero.
    at_least_zero: FloatArray = np.maximum(terms.sum(axis=-1), 0.0)
    return at_least_zero
