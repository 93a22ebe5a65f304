"""Gains of items, the form in which measures of relevance take it."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, finite
from mprlib.errors import InputError


def checked_gains(name: str, gains: ArrayLike) -> FloatArray:
    """Gains (k,) of items, 0 for what is not relevant.

    Raises:  InputError naming the argument, for gains that are empty, negative or not finite.
    """
    checked = finite(name, gains, ndim=1)
    if not checked.size:
        raise InputError(f"{name} is empty: the gain of at least one item is expected")
    if (checked < 0).any():
        raise InputError(f"{name} holds {checked.min():g}: gains of at least 0 are expected")
    return checked
