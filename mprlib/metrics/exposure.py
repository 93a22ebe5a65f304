"""Exposure of a level: the mean attention that one of its candidates gets, and how unequal levels are in it.

    exposure_g = sum of 1/log2(i + 1) over the places i of the level's items / number of its candidates
    ratio      = smallest exposure of a level / largest
    difference = largest exposure of a level - smallest

A ratio of 1 and a difference of 0 are the best. Candidates that are not returned get no attention; a level without
candidates has no exposure and is left out.

Variant: Singh and Joachims's exposure with DCG's curve, divided by the candidates of a level, all of whom they rank.
FairRankTune's EXP divides by the members in its dictionary of items, which are the candidates if it holds them all;
its MinMaxRatio and MaxMinDiff are then these two. No relevance enters: exposure in proportion to merit is another
measure (their disparate treatment), which is undefined where a level has none.

Source: Singh and Joachims 2018, "Fairness of Exposure in Rankings", section 4.1 (demographic parity).

Worked example: woman, man, with one more man who is not returned: 1 and (1/log2 3)/2 = 0.315.

>>> from mprlib import metrics
>>> equal = {"woman": 0.5, "man": 0.5}
>>> shown = metrics.ranking(["woman", "man"], equal, candidates={"woman": 1, "man": 2})
>>> round(metrics.exposure_ratio(shown), 6), round(metrics.exposure_difference(shown), 6)
(0.315465, 0.684535)
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, sums_by
from mprlib.metrics.discount import log2_discount
from mprlib.metrics.ranking import Ranking


def exposures(ranking: Ranking) -> FloatArray:
    """Mean attention (L,) of a candidate of each level; NaN for a level without candidates.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> metrics.exposures(shown).round(4).tolist()
    [0.125, 0.4077]
    """
    attention = sums_by(ranking.levels, log2_discount(ranking.k), len(ranking.names))
    return np.where(ranking.candidates > 0, attention / np.maximum(ranking.candidates, 1), np.nan)


def exposure_ratio(ranking: Ranking) -> float:
    """Smallest exposure over the largest, from 0 to 1.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.exposure_ratio(shown), 4)
    0.3066
    """
    found = exposures(ranking)
    return float(np.nanmin(found) / np.nanmax(found))


def exposure_difference(ranking: Ranking) -> float:
    """Largest exposure less the smallest, from 0 to 1.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.exposure_difference(shown), 4)
    0.2827
    """
    found = exposures(ranking)
    return float(np.nanmax(found) - np.nanmin(found))
