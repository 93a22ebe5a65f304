"""Skew of a level: the logarithm of its share over the share that it should have.

    Skew_g@k = ln(share of g among the first k / target share of g)

MaxSkew@k is the largest over the levels, that of the level with the greatest advantage, and MinSkew@k the smallest.
Take `ranking.first(k)` for a k below the ranking's own.

Variant: natural logarithm, no smoothing. A level that nobody returned has is at minus infinity, so that MinSkew is
minus infinity as soon as one level of the target is missing; one that is returned against a target share of 0 is at
plus infinity; one with neither share has no skew and is left out. Programs put 1/k or a small constant in the place
of 0, and some start the maximum at 0.

Source: Geyik et al. 2019, section 3.

Worked example: 3 women and 1 man against equal shares have the skews ln(0.75/0.5) and ln(0.25/0.5).

>>> from mprlib import metrics
>>> shown = metrics.ranking(["woman", "woman", "man", "woman"], {"woman": 0.5, "man": 0.5})
>>> round(metrics.max_skew(shown), 6), round(metrics.min_skew(shown), 6)
(0.405465, -0.693147)
>>> metrics.min_skew(shown.first(2))
-inf
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.metrics.ranking import Ranking


def skews(ranking: Ranking) -> FloatArray:
    """Skew (L,) of each level; NaN where both shares are 0.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> metrics.skews(shown).round(4).tolist()
    [-0.4055, 0.2877]
    """
    of_levels: FloatArray = skews_of_rows(ranking.levels[None], ranking.target)[0]
    return of_levels


def skews_of_rows(levels: IntArray, target: FloatArray) -> FloatArray:
    """Skews (B, L) of rankings by the levels (B, k) of their items, against the target (L,)."""
    rows, k = levels.shape
    codes = levels + np.arange(0, target.size * rows, target.size)[:, None]
    counts = np.bincount(codes.ravel(), minlength=target.size * rows).reshape(rows, target.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms: FloatArray = np.log(counts / k / target)
    return logarithms


def max_skew(ranking: Ranking) -> float:
    """The largest skew, at least 0: some level has its share or more.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.max_skew(shown), 4)  # ln((2/3) / (1/2))
    0.2877
    """
    return float(np.nanmax(skews(ranking)))


def min_skew(ranking: Ranking) -> float:
    """The smallest skew, at most 0; minus infinity where a level of the target is not returned.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.min_skew(shown), 4)  # ln((1/3) / (1/2))
    -0.4055
    """
    return float(np.nanmin(skews(ranking)))
