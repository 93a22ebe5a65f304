"""Many tests at once: which of hundreds of queries are more than chance."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.errors import InputError
from mprlib.settings import refuse_text


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values: those at most alpha are discoveries with a false discovery rate of alpha.

    Shapes:  p_values (tests,) in [0, 1]; returns (tests,), in the order given.
    Raises:  InputError for values outside [0, 1].
    Source:  Benjamini and Hochberg 1995; for independent or positively dependent tests.

    >>> from mprlib.statistics import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, "bh")


def benjamini_yekutieli(p_values: ArrayLike) -> FloatArray:
    """The same for tests that depend in any way: each value is larger by 1 + 1/2 + ... + 1/tests.

    Shapes:  p_values (tests,) in [0, 1]; returns (tests,), in the order given.
    Raises:  InputError for values outside [0, 1].
    Source:  Benjamini and Yekutieli 2001.

    >>> from mprlib.statistics import benjamini_yekutieli
    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(4).tolist()
    [0.055, 0.0733, 0.0733]
    """
    return _adjusted(p_values, "by")


def _adjusted(p_values: ArrayLike, method: Literal["bh", "by"]) -> FloatArray:
    refuse_text("p_values", p_values)
    values = np.asarray(p_values, dtype=float)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError("p_values must be a list of numbers from 0 to 1")
    from scipy.stats import false_discovery_control

    adjusted: FloatArray = false_discovery_control(values, method=method)
    return adjusted
