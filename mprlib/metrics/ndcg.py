"""nDCG: discounted gains of the returned items, as a part of the most that the candidates allow.

    DCG = sum over i = 1..k of gain_i / log2(i + 1)
    nDCG = DCG / DCG of the k largest gains of the candidates

Variant: gains as they are, and not 2^gain - 1, which is the same for gains of 0 and 1; the discount 1/log2(i + 1) from
the first place on. These are trec_eval's and scikit-learn's. The order is the one given: trec_eval sorts again by
score, and equal scores by document name, backwards, so that ties there have another order. Where no candidate has a
gain no order is better than another, and there is no value; trec_eval and scikit-learn print 0 then.

Source: Jarvelin and Kekalainen 2002; Burges et al. 2005 for the discount of the second place.

Worked example: of two relevant candidates one is returned, second of two: (1/log2 3) / (1 + 1/log2 3).

>>> from mprlib import metrics
>>> round(metrics.ndcg([0, 1], candidates=[0, 1, 0, 1]), 6)
0.386853
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mprlib.errors import InputError
from mprlib.metrics.discount import log2_discount
from mprlib.metrics.gains import checked_gains


def ndcg(gains: ArrayLike, candidates: ArrayLike) -> float | None:
    """nDCG of items with these gains, in this order; None where no candidate has a gain.

    Shapes:  gains (k,), of the returned items, best first; candidates (n,), of all that could be returned, those
             among them, in any order.
    Raises:  InputError for gains that are empty, negative or not finite, and for fewer candidates than gains.

    >>> from mprlib import metrics
    >>> metrics.ndcg([1, 0], [1, 0, 0]), round(metrics.ndcg([0, 1], [1, 0, 0]), 4)
    (1.0, 0.6309)
    """
    shown, known = checked_gains("gains", gains), checked_gains("candidates", candidates)
    if known.size < shown.size:
        raise InputError(f"candidates has {known.size} gains, {shown.size} or more expected: one for each item")
    discount = log2_discount(shown.size)
    best = float(np.sort(known)[::-1][: shown.size] @ discount)
    return float(shown @ discount) / best if best > 0 else None
