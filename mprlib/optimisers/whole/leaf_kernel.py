"""Compiled loops of `leaf_counts` and `leaf_programme`: counts of sets, secants, and limits that are broken."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def combined(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """The sum (G,) of rows (J, G) times their weights (J,), most of which are 0."""
    found = np.zeros(rows.shape[1])
    for row in range(weights.size):
        weight = weights[row]
        if weight != 0.0:
            for place in range(found.size):
                found[place] += weight * rows[row, place]
    return found


@compiled
def secant_worths(
    held: FloatArray, target: FloatArray, weight: FloatArray, is_signed: bool, whole: float, found: FloatArray
) -> None:
    """Into found (4, U): the whole number below each count, which is whole within a distance, what a leaf is worth
    there, the slope to the next one, and the secant's height at the count."""
    for place in range(held.size):
        below = np.floor(held[place] + whole)
        before, after = abs(below - target[place]), abs(below + 1.0 - target[place])
        if not is_signed:
            before, after = before * before, after * after
        worth = weight[place] * before
        slope = weight[place] * after - worth
        found[0, place], found[1, place], found[2, place] = below, worth, slope
        found[3, place] = max(worth + slope * (held[place] - below), 0.0)


@compiled
def write_secant(secants: FloatArray, place: IntArray, row: FloatArray) -> tuple[float, float, float]:
    """The secant of a tree, whose leaves are the places (G,) of its cells, into row (G,), of size 1 at most.

    Returns: its size before, its offset, and the sizes of the offset's terms.
    """
    seen, number, offset, terms, size = np.empty(place.size, np.int64), 0, 0.0, 0.0, 0.0
    for cell in range(place.size):
        leaf = place[cell]
        row[cell] = secants[2, leaf]
        size = max(size, abs(row[cell]))
        is_new = True
        for other in range(number):
            is_new = is_new and seen[other] != leaf
        if is_new:
            seen[number] = leaf
            number += 1
            at_none = secants[2, leaf] * secants[0, leaf]
            offset += at_none - secants[1, leaf]
            terms += abs(at_none) + secants[1, leaf]
    size = size if size > 0.0 else 1.0
    for cell in range(place.size):
        row[cell] /= size
    return size, offset, terms


@compiled
def right_sides(limits: FloatArray, limit: IntArray, terms: FloatArray, allowed: float) -> FloatArray:
    """The right side (J,) of each row: its limit (J,), or where that is -1 its terms (2, J)."""
    found = np.empty(limit.size)
    for row in range(limit.size):
        own = limit[row]
        found[row] = limits[own] if own >= 0 else terms[0, row] * allowed + terms[1, row]
    return found


@compiled
def broken_limits(
    limits: FloatArray, held: FloatArray, counts: FloatArray, limit: IntArray, least: float, most: int
) -> IntArray:
    """The limits (2U + 2G,) that counts exceed most, by more than `least`, and that are no row's (J,)."""
    sets, cells, number = held.size, counts.size, 0
    found, excess = np.empty(most + 1, np.int64), np.empty(most + 1)
    for one in range(limits.size):
        if one < 2 * sets:
            own = held[one] - limits[one] if one < sets else -held[one - sets] - limits[one]
        else:
            place = one - 2 * sets
            own = counts[place] - limits[one] if place < cells else -counts[place - cells] - limits[one]
        if own <= least or (number == most and own <= excess[most - 1]) or np.any(limit == one):
            continue
        at = number
        while at > 0 and excess[at - 1] < own:
            found[at], excess[at] = found[at - 1], excess[at - 1]
            at -= 1
        found[at], excess[at] = one, own
        number = min(number + 1, most)
    return found[:number]
