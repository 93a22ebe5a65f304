"""Precision: the share of the returned items that are relevant.

    precision = items with a gain above 0 / items

Variant: of the items that are returned. trec_eval's P_k divides by k also where fewer than k items are returned.

Source: Cleverdon 1967, "The Cranfield Tests on Index Language Devices".

>>> from mprlib import metrics
>>> metrics.precision([0, 1, 1, 0])
0.5
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mprlib.metrics.gains import checked_gains


def precision(gains: ArrayLike) -> float:
    """Share of items with a gain, from 0 to 1.

    Shapes:  gains (k,), in any order.
    Raises:  InputError for gains that are empty, negative or not finite.

    >>> from mprlib import metrics
    >>> metrics.precision([1, 0, 1, 1])
    0.75
    """
    return float(np.mean(checked_gains("gains", gains) > 0))
