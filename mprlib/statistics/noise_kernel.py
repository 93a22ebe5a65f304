"""Compiled loops of `noise_kinds`: v(kept - moved) for every resample, as a class sees it, of some selections.

Resamples are the innermost loop, so that several are added at once; each one's sum is in the order of its terms.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import BoolArray, FloatArray
from mprlib.compiled import compiled


@compiled
def ball_lengths(kept: FloatArray, moved: FloatArray, found: FloatArray) -> None:
    """|kept - moved| into found (S, B), of means of features: kept (S, r), moved (r, B)."""
    found[:] = 0.0
    for own in range(kept.shape[0]):
        total = found[own]
        for place in range(kept.shape[1]):
            value, change = kept[own, place], moved[place]
            for row in range(total.size):
                total[row] += (value - change[row]) * (value - change[row])
        for row in range(total.size):
            total[row] = np.sqrt(total[row])


@compiled
def saturated_drifts(
    kept: FloatArray, moved: FloatArray, inverse_masses: FloatArray, scale: float, found: FloatArray
) -> None:
    """The same less what `kept` is worth at each resample's masses N, into found (S, B); kept (S, G), 1/N and moved
    (G, B)."""
    found[:] = 0.0
    worth = np.empty(found.shape[1])
    for own in range(kept.shape[0]):
        total = found[own]
        worth[:] = 0.0
        for cell in range(kept.shape[1]):
            value, change, inverse = kept[own, cell], moved[cell], inverse_masses[cell]
            for row in range(total.size):
                total[row] += (value - change[row]) * (value - change[row]) * inverse[row]
                worth[row] += value * value * inverse[row]
        for row in range(total.size):
            total[row] = np.sqrt(scale * total[row]) - np.sqrt(scale * worth[row])


@compiled
def largest_gaps(gaps: FloatArray, moved: FloatArray, is_near: BoolArray, found: FloatArray) -> None:
    """The largest |gap - moved| of groups that are near into found (S, B): gaps and is_near (S, groups), moved
    (groups, B)."""
    found[:] = 0.0
    for own in range(gaps.shape[0]):
        most = found[own]
        for group in range(gaps.shape[1]):
            if is_near[own, group]:
                gap, change = gaps[own, group], moved[group]
                for row in range(most.size):
                    changed = abs(gap - change[row])
                    most[row] = changed if changed > most[row] else most[row]


@compiled
def largest_of_each(values: FloatArray, number: int, found: FloatArray) -> None:
    """The number-th largest (S,) of each row of values (S, B): a row's largest so far are kept in order, and most
    values are below all of them."""
    most = np.empty(number)
    for own in range(values.shape[0]):
        row = values[own]
        most[:] = -np.inf
        for place in range(row.size):
            value = row[place]
            if value > most[0]:
                slot = 0
                while slot + 1 < number and most[slot + 1] < value:
                    most[slot] = most[slot + 1]
                    slot += 1
                most[slot] = value
        found[own] = most[0]
