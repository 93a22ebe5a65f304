"""Sums of doubles without rounding, so that a sum does not depend on the order or the grouping of its terms.

A double is a whole number times a power of two. A sum is kept as a whole number in digits of 32 bits, and adding is
exact: parts of a table can be summed anywhere and merged in any order. What is divided is rounded once, at the end.

>>> sums = ExactSums.of(np.array([0, 0, 0]), np.array([1e300, 1.0, 1.0]), count=1)
>>> sums.integers()[0] << sums.exponent == int(1e300) + 2
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by

DIGIT_BITS = 32
DIGIT = (1 << DIGIT_BITS) - 1
MANTISSA_BITS = 53
# Terms whose digits, below 2^32 each, numpy adds at once as doubles without rounding.
EXACT_TERMS = 1 << (MANTISSA_BITS - DIGIT_BITS - 1)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ExactSums:
    """One sum of non-negative numbers for each of some groups.

    Shapes:  digits (groups, d) int64 from 0 to 2^32 - 1; a sum is digits @ 2^(32 (start + 0, 1, ..., d - 1)).
    Equal sums have equal digits: none is zero in all groups at either end.
    """

    digits: IntArray
    start: int

    @classmethod
    def of(cls, groups: IntArray, values: FloatArray, *, count: int, power: int = 1) -> Self:
        """Sums of values (n,), or of a power of each rounded once, over the groups (n,) from 0 to count - 1."""
        fractions, exponents = np.frexp(values)
        if power > 1:
            # Of fractions from 1/2 to 1, so that no power is too large or too small.
            fractions, more = np.frexp(fractions**power)
            exponents = exponents.astype(np.int64) * power + more
        places = exponents.astype(np.int64) - MANTISSA_BITS
        first, shifts = places // DIGIT_BITS, places % DIGIT_BITS
        start = int(first.min(initial=0)) if values.size else 0
        width = int(first.max(initial=start)) - start + 4
        digits = np.zeros((count, width), dtype=np.int64)
        whole = np.ldexp(fractions, MANTISSA_BITS).astype(np.int64)
        low, high = (whole & DIGIT) << shifts, (whole >> DIGIT_BITS) << shifts
        for offset, part in enumerate([low & DIGIT, (low >> DIGIT_BITS) + (high & DIGIT), high >> DIGIT_BITS]):
            _add(digits, groups, first - start + offset, part)
        return cls._normal(digits, start)

    @classmethod
    def of_counts(cls, counts: IntArray) -> Self:
        """The counts themselves, as sums of so many ones."""
        digits = np.zeros((counts.size, 3), dtype=np.int64)
        digits[:, 0] = counts
        return cls._normal(digits, 0)

    @classmethod
    def merged(cls, parts: Sequence[tuple[ExactSums, IntArray]], *, count: int) -> Self:
        """Sums over all parts; each comes with the group, from 0 to count - 1, of every sum that it has."""
        start = min((sums.start for sums, _ in parts), default=0)
        stop = max((sums.start + sums.digits.shape[1] for sums, _ in parts), default=0)
        digits = np.zeros((count, stop - start + 2), dtype=np.int64)
        for sums, groups in parts:
            at = sums.start - start
            np.add.at(digits[:, at : at + sums.digits.shape[1]], groups, sums.digits)
        return cls._normal(digits, start)

    @classmethod
    def _normal(cls, digits: IntArray, start: int) -> Self:
        for place in range(digits.shape[1] - 1):
            digits[:, place + 1] += digits[:, place] >> DIGIT_BITS
            digits[:, place] &= DIGIT
        used = np.flatnonzero(digits.any(axis=0))
        first, stop = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
        kept = digits[:, first:stop].copy()
        kept.flags.writeable = False
        return cls(digits=kept, start=start + first if used.size else 0)

    @property
    def exponent(self) -> int:
        """`integers` are in units of 2 to this power."""
        return DIGIT_BITS * self.start

    def integers(self) -> list[int]:
        """Each sum, in units of 2^exponent."""
        sums = [0] * len(self.digits)
        for place in range(self.digits.shape[1] - 1, -1, -1):
            sums = [(one << DIGIT_BITS) | digit for one, digit in zip(sums, self.digits[:, place].tolist())]
        return sums


def _add(digits: IntArray, groups: IntArray, places: IntArray, values: IntArray) -> None:
    """Add values, below 2^33 each, to the digits at some places of some groups."""
    count, width = digits.shape
    for at in range(0, values.size, EXACT_TERMS):
        rows = slice(at, at + EXACT_TERMS)
        sums = sums_by(groups[rows] * width + places[rows], values[rows].astype(np.float64), count * width)
        digits += sums.astype(np.int64).reshape(count, width)
