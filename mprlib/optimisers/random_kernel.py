"""Random numbers of compiled searches: the same on every machine and in every thread.

A state of 64 bits is advanced by xorshift (Marsaglia 2003); parts of 20 bits of it are drawn as whole numbers below a
limit, without a division.
"""

from __future__ import annotations

import numpy as np

from mprlib.compiled import compiled

PART_BITS = 20


@compiled
def next_state(state: np.uint64) -> np.uint64:
    """The state after this one, which is not 0."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@compiled
def part(state: np.uint64, place: int) -> np.int64:
    """The first, second or third part (place 0, 1, 2) of a state, a whole number below 2^20."""
    return np.int64((state >> np.uint64(place * PART_BITS)) & np.uint64((1 << PART_BITS) - 1))


@compiled
def below(number: np.int64, limit: int) -> int:
    """The place of a part among 0 to limit - 1; limit is at most 2^20."""
    return int((number * limit) >> PART_BITS)
