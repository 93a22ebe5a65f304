"""How much attention a place of a ranking gets, by two curves that are easily taken for each other.

    log2           1/log2(i + 1): 1, 0.63, 0.5, 0.43, ...   DCG, NDKL, exposure
    log2 from 2    1/log2(max(i, 2)): 1, 1, 0.63, 0.5, ...  AWRF of TREC

Source: Jarvelin and Kekalainen 2002, "Cumulated Gain-based Evaluation of IR Techniques", who discount from the
second place on; the first form is what most programs now compute.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.attention import log2_discount

__all__ = ["log2_discount", "log2_discount_from_second"]


def log2_discount_from_second(k: int) -> FloatArray:
    """1/log2(max(i, 2)) of the places i = 1, ..., k: the first two count alike."""
    discount: FloatArray = 1.0 / np.log2(np.maximum(np.arange(1, k + 1), 2))
    return discount
