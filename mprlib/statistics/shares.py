"""Intervals for one group's share of a population, from its share of a sample."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from mprlib.declarations import strict
from mprlib.intervals import share_limits
from mprlib.settings import PROBABILITY, SIZE, Number


@strict
def share_interval(
    share: Annotated[float, Number(least=0, most=1)],
    size: Annotated[float, SIZE],
    confidence: Annotated[float, PROBABILITY] = 0.95,
) -> tuple[float, float]:
    """Clopper-Pearson interval for a population share, given a sample's share and (effective) size.

    It covers at least at its confidence for every share, near 0 and 1 too, where normal intervals
    fail. A selection's own shares need no interval: the selection is known whole.

    Raises:  InputError for a share outside [0, 1], a size that is not positive, a confidence
             outside (0, 1).
    Source:  Clopper and Pearson 1934.

    >>> from mprlib.statistics import share_interval
    >>> low, high = share_interval(0.1, 50)
    >>> round(low, 3), round(high, 3)
    (0.033, 0.218)
    """
    low, high = share_limits(np.array([share]), size, confidence)
    return float(low[0]), float(high[0])
