"""Compiled parts of the decoders: one coordinate of a lattice after another, from the last to the first.

With v = outside + Q (offset + R c) and an upper triangular R, the coordinates decided so far determine the last
components of v. Values of a coordinate are tried by distance from the one that leads to the best point of the ball,
so that each side ends at its first failure.

Source:  Schnorr and Euchner 1994, on this order of enumeration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted

# Error of sums of k scaled scores and prices.
ROUNDING = 1e-11


class Basis(NamedTuple):
    """A lattice and prices z in its coordinates.

    Shapes:  triangle (d, d) = R; offset, along (d,), of the constant part of v and of Q'z;
             reach (d + 1,): length of the first coordinates of `along`.
    outside: square of the part of v outside the span. constant: z times that part.
    """

    triangle: FloatArray
    offset: FloatArray
    along: FloatArray
    reach: FloatArray
    outside: float
    constant: float


class Walk(NamedTuple):
    """The state of a decoder.  Shapes: (d,), or (d + 1,) for sums from a coordinate on."""

    value: IntArray
    up: IntArray
    down: IntArray
    is_up_open: IntArray
    is_down_open: IntArray
    centre: FloatArray
    line: FloatArray
    square: FloatArray
    priced: FloatArray
    is_taken: IntArray


@compiled
def new_walk(size: int) -> Walk:
    """A decoder that has decided nothing."""
    return Walk(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size + 1),
        np.zeros(size + 1),
        np.zeros(size, np.int64),
    )


@uncounted
def open_level(basis: Basis, walk: Walk, level: int, limit: float, capacity: int) -> None:
    """Start a coordinate: its values are tried by distance from the best point of the ball."""
    line = basis.offset[level]
    for later in range(level + 1, basis.offset.size):
        line += basis.triangle[level, later] * walk.value[later]
    walk.line[level] = line
    best = 0.0
    if basis.reach[level + 1] > 0.0:
        room = max(limit - walk.square[level + 1], 0.0)
        best = basis.along[level] / basis.reach[level + 1] * np.sqrt(room)
    centre = (best - line) / basis.triangle[level, level]
    # Far outside the counts' range every value would be tried in turn.
    centre = min(max(centre, -0.5), capacity + 0.5)
    walk.centre[level] = centre
    walk.down[level] = int(np.floor(centre))
    walk.up[level] = walk.down[level] + 1
    walk.is_up_open[level] = 1
    walk.is_down_open[level] = 1


@uncounted
def next_value(walk: Walk, level: int) -> tuple[int, bool]:
    """The untried value nearest to the best one, and whether it lies above it."""
    is_up = walk.is_up_open[level] == 1
    if is_up and walk.is_down_open[level] == 1:
        is_up = walk.up[level] - walk.centre[level] <= walk.centre[level] - walk.down[level]
    if is_up:
        walk.up[level] += 1
        return walk.up[level] - 1, True
    walk.down[level] -= 1
    return walk.down[level] + 1, False


@uncounted
def close(walk: Walk, level: int, is_up: bool) -> None:
    """No further value on this side."""
    if is_up:
        walk.is_up_open[level] = 0
    else:
        walk.is_down_open[level] = 0
