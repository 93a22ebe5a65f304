"""Compiled steps on rows of matrices.

Functions of their own, as the compiler then sees that two rows differ, and takes several numbers at once.
"""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.compiled import uncounted


@uncounted
def subtract(values: FloatArray, factor: float, others: FloatArray) -> None:
    """Take a multiple of other values (n,) from some (n,)."""
    for place in range(values.size):
        values[place] -= factor * others[place]


@uncounted
def add(values: FloatArray, factor: float, others: FloatArray) -> None:
    """Add a multiple of other values (n,) to some (n,)."""
    for place in range(values.size):
        values[place] += factor * others[place]
