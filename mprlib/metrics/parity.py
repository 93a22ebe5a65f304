"""Demographic parity of shares: how far the shares of levels are from the target, whatever the order.

    difference = largest over levels of |share - target|
    ratio      = smallest over levels of share/target, divided by the largest

A difference of 0 and a ratio of 1 are the best. A level with the target share 0 that is returned makes the ratio 0;
one with neither share is left out.

Variant: against a stated target. With the shares of the candidates for a target, share/target is proportional to
the rate at which a level's candidates are selected, and the ratio is the demographic parity ratio of such rates
(Fairlearn's, for one); the demographic parity difference of rates shrinks with k over the number of candidates, and
is not this one. The difference is MPR under named groups of one attribute.

Source: Dwork et al. 2012, "Fairness Through Awareness", section 3 (statistical parity), for two groups; the largest
over several as in the "four fifths" rule of the Uniform Guidelines on Employee Selection Procedures, 1978.

Worked example: 3 women and 1 man against equal shares: differences of a quarter, ratios 1.5 and 0.5.

>>> from mprlib import metrics
>>> shown = metrics.ranking(["woman", "woman", "man", "woman"], {"woman": 0.5, "man": 0.5})
>>> metrics.parity_difference(shown), round(metrics.parity_ratio(shown), 6)
(0.25, 0.333333)
"""

from __future__ import annotations

import numpy as np

from mprlib.metrics.ranking import Ranking


def parity_difference(ranking: Ranking) -> float:
    """Largest difference of a level's share from its target, from 0 to 1.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.parity_difference(shown), 4)
    0.1667
    """
    return float(np.abs(ranking.shares - ranking.target).max())


def parity_ratio(ranking: Ranking) -> float:
    """Smallest share over target, as a part of the largest, from 0 to 1.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> round(metrics.parity_ratio(shown), 4)
    0.5
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = ranking.shares / ranking.target
    return float(np.nanmin(ratios) / np.nanmax(ratios))
