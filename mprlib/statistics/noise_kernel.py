"""Compiled loops of `class_noise`: v(kept - moved) - v(kept) for every resample, as a class sees it."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def ball_lengths(kept: FloatArray, moved: FloatArray, found: FloatArray) -> None:
    """|kept - moved| into found (B,), of means of features: kept (r,), moved (B, r)."""
    for row in range(moved.shape[0]):
        square = 0.0
        for place in range(kept.size):
            change = kept[place] - moved[row, place]
            square += change * change
        found[row] = np.sqrt(square)


@compiled
def saturated_drifts(
    kept: FloatArray, moved: FloatArray, inverse_masses: FloatArray, scale: float, found: FloatArray
) -> None:
    """The same less what `kept` is worth at each resample's masses N, into found (B,); kept (G,), 1/N and moved
    (B, G)."""
    for row in range(moved.shape[0]):
        square, own = 0.0, 0.0
        for cell in range(kept.size):
            change = kept[cell] - moved[row, cell]
            square += change * change * inverse_masses[row, cell]
            own += kept[cell] * kept[cell] * inverse_masses[row, cell]
        found[row] = np.sqrt(scale * square) - np.sqrt(scale * own)


@compiled
def largest_gaps(gaps: FloatArray, moved: FloatArray, near: IntArray, found: FloatArray) -> None:
    """The largest |gap - moved| of the groups `near` into found (B,): gaps (groups,), moved (groups, B)."""
    found[:] = 0.0
    for group in near:
        gap, own = gaps[group], moved[group]
        for row in range(found.size):
            changed = abs(gap - own[row])
            found[row] = changed if changed > found[row] else found[row]
