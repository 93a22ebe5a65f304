"""AWRF, attention-weighted rank fairness: how alike the attention to groups and their target shares are.

With the weight a_i of place i and the level g(i) of the item there, a level's attention is

    e_g = sum of a_i over the places with g(i) = g, divided by the sum of all a_i

and AWRF = 1 - JSD(e, target), where JSD(e, q) = KL(e | (e+q)/2) / 2 + KL(q | (e+q)/2) / 2 in nats. The worst value
is therefore 1 - ln 2 = 0.307, where no attention goes to any level of the target, and 1 is the best.

Variant: that of TREC's track on fair ranking in 2021 and 2022, one of several that the idea allows: natural
logarithms, and the weights 1/log2(max(i, 2)). Two programs differ: FairRankTune has geometric weights, divides by
each group's size and returns the spread between groups, without a target; and TREC left out items of unknown level.

Source: Sapiezynski et al. 2019, "Quantifying the Impact of User Attention on Fair Group Representation in Ranked
Lists"; Ekstrand et al. 2021, "Overview of the TREC 2021 Fair Ranking Track".

Worked example: two items, one of each level, get the same attention, so against equal shares nothing is amiss. With
a third item, of the first level, that level has 1.63 of 2.63, or 62% of the attention.

>>> from mprlib import metrics
>>> equal = {"woman": 0.5, "man": 0.5}
>>> metrics.awrf(metrics.ranking(["woman", "man"], equal))
1.0
>>> round(metrics.awrf(metrics.ranking(["woman", "man", "woman"], equal)), 6)
0.992687
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by_row
from mprlib.metrics.discount import log2_discount_from_second
from mprlib.metrics.divergence import divergence
from mprlib.metrics.ranking import Ranking


def awrf(ranking: Ranking) -> float:
    """1 minus the Jensen-Shannon divergence of attention and target, from 1 - ln 2 to 1.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.awrf(shown), 4)
    0.9631
    """
    return float(awrf_of_rows(ranking.levels[None], ranking.target)[0])


def awrf_of_rows(levels: IntArray, target: FloatArray) -> FloatArray:
    """AWRF (B,) of rankings by the levels (B, k) of their items, against the target (L,)."""
    weights = log2_discount_from_second(levels.shape[1])
    attention = sums_by_row(levels, weights / weights.sum(), target.size)
    middle = 0.5 * (attention + target)
    return 1.0 - 0.5 * (divergence(attention, middle) + divergence(np.broadcast_to(target, middle.shape), middle))
