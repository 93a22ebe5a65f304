"""Compiled loop of `cut_region`: what the cuts see of many moves."""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled


@compiled
def largest(left: FloatArray, right: FloatArray, found: FloatArray) -> None:
    """max over cuts of |right_b - left_a|, left (J, a) and right (J, b), into found (a, b), which holds zeros."""
    for cut in range(left.shape[0]):
        for row in range(left.shape[1]):
            own = left[cut, row]
            for column in range(right.shape[1]):
                change = abs(right[cut, column] - own)
                if change > found[row, column]:
                    found[row, column] = change
