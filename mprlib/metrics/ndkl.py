"""NDKL, normalised discounted Kullback-Leibler divergence: how far all prefixes are from the target.

    NDKL = sum over i = 1..k of KL(D_i | target) / log2(i + 1), divided by the sum over i of 1/log2(i + 1)

where D_i are the shares among the first i items. 0 is the best, and there is no worst; it is infinite where a level
is returned that has the target share 0.

Variant: natural logarithms in KL, no smoothing, the target is given. Programs differ: FairRankTune takes the list's
own mix as the target and adds 1e-7 to every share, so that groups which are absent count for nothing and a list of
one group scores 0.

Even the fairest list does not score 0: the first prefix has one item, and so one level.

Source: Geyik et al. 2019, "Fairness-Aware Ranking in Search & Recommendation Systems with Application to LinkedIn
Talent Search", section 3.

Worked example: woman, man against equal shares. D_1 = (1, 0) is ln 2 from the target, D_2 is the target, and the
weights are 1 and 1/log2(3) = 0.63, hence NDKL = ln 2 / 1.63.

>>> from mprlib import metrics
>>> round(metrics.ndkl(metrics.ranking(["woman", "man"], {"woman": 0.5, "man": 0.5})), 6)
0.425001
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.metrics.discount import log2_discount
from mprlib.metrics.divergence import divergence
from mprlib.metrics.ranking import Ranking


def ndkl(ranking: Ranking) -> float:
    """Weighted mean of the divergences of all prefixes, at least 0.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.ndkl(shown), 4)
    0.5438
    """
    return float(ndkl_of_rows(ranking.levels[None], ranking.target)[0])


def ndkl_of_rows(levels: IntArray, target: FloatArray) -> FloatArray:
    """NDKL (B,) of rankings by the levels (B, k) of their items, against the target (L,)."""
    k = levels.shape[1]
    is_level = levels[:, :, None] == np.arange(target.size)
    prefixes = np.cumsum(is_level, axis=1) / np.arange(1, k + 1)[:, None]
    mean: FloatArray = np.average(divergence(prefixes, target), axis=1, weights=log2_discount(k))
    return mean
