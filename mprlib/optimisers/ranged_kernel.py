"""Compiled rounds of `ranged_programme`: the simplex method over cells, with limits of groups as they are broken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.basis_kernel import Basis, Cut, Items
from mprlib.optimisers.simplex_kernel import FEASIBILITY, OPTIMAL, optimise

# The inverse of the basis is computed anew at each step: bases are small.
MOST_UPDATES = 0


class Ranges(NamedTuple):
    """Limits of the counts of groups, and which of them are cuts.

    Shapes:  codes (sets of attributes, G), each cell's groups; low, high (groups,); cut (2, groups), the cut of each
             upper and of each lower limit, -1 where it is none; number (1,), of cuts.
    """

    codes: IntArray
    low: FloatArray
    high: FloatArray
    cut: IntArray
    number: IntArray


@compiled
def add_cut(ranges: Ranges, cuts: Cut, group: int, side: int) -> None:
    """One more cut: a group's upper limit (side 0), or its lower one with the other sign."""
    cut, sign = ranges.number[0], 1.0 if side == 0 else -1.0
    cuts.rows[cut] = 0.0
    for one in range(ranges.codes.shape[0]):
        for cell in range(ranges.codes.shape[1]):
            if ranges.codes[one, cell] == group:
                cuts.rows[cut, cell] = sign
    cuts.right[cut] = ranges.high[group] if side == 0 else -ranges.low[group]
    cuts.size[cut] = 1.0
    ranges.cut[side, group] = cut
    ranges.number[0] += 1


@compiled
def add_broken(ranges: Ranges, cuts: Cut, counts: FloatArray) -> bool:
    """Make cuts of the limits that counts (G,) break; whether there were any."""
    totals = np.zeros(ranges.low.size)
    for one in range(ranges.codes.shape[0]):
        for cell in range(ranges.codes.shape[1]):
            totals[ranges.codes[one, cell]] += counts[cell]
    before = ranges.number[0]
    for group in range(totals.size):
        if totals[group] > ranges.high[group] + FEASIBILITY and ranges.cut[0, group] < 0:
            add_cut(ranges, cuts, group, 0)
        if totals[group] < ranges.low[group] - FEASIBILITY and ranges.cut[1, group] < 0:
            add_cut(ranges, cuts, group, 1)
    return bool(ranges.number[0] > before)


@compiled
def optimise_ranged(
    items: Items, ranges: Ranges, cuts: Cut, basis: Basis, most_steps: int, counts: FloatArray, ray: FloatArray
) -> int:
    """The optimum within all limits, from the last one: as `simplex_kernel.optimise`, whose return codes it has."""
    for side in range(2):
        for group in range(ranges.low.size):
            cut = ranges.cut[side, group]
            if cut >= 0:
                cuts.right[cut] = ranges.high[group] if side == 0 else -ranges.low[group]
    while True:
        found, _ = optimise(items, cuts, ranges.number[0], basis, (most_steps, MOST_UPDATES), counts, ray)
        if found != OPTIMAL or not add_broken(ranges, cuts, counts):
            return found
