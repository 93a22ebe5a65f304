"""Partial sums of an exhaustive search: combinations of counts over the cells so far, extended cell by cell.

A partial sum is dropped when its loss exceeds the allowance, when no completion gives it k items, or when in some
direction no completion brings its gap within reach. Of the rest the cheapest are kept, up to a width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray

Number = TypeVar("Number", bound=np.number)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class PartialSums:
    """Combinations of counts over the cells so far.

    Shapes:  loss, count, priced (s,), each one's total loss, items, and price of those items;
             gap (s, d), in the region's directions; picks (s, cells so far), counts above the lowest.
    """

    loss: FloatArray
    count: IntArray
    priced: FloatArray
    gap: FloatArray
    picks: IntArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Completions:
    """The least and the most that the cells from each depth on can add.

    Shapes:  count_low, count_high (cells + 1,), in items; gap_low, gap_high (cells + 1, d), in each direction.
    """

    count_low: IntArray
    count_high: IntArray
    gap_low: FloatArray
    gap_high: FloatArray

    @classmethod
    def of(cls, low: IntArray, high: IntArray, directions: FloatArray) -> Completions:
        """For cells with these lowest and highest counts (cells,) and directions (cells, d)."""
        ends = low[:, None] * directions, high[:, None] * directions
        return cls(
            count_low=_suffix_sums(low),
            count_high=_suffix_sums(high),
            gap_low=_suffix_sums(np.minimum(*ends)),
            gap_high=_suffix_sums(np.maximum(*ends)),
        )


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellCounts:
    """One cell's possible counts (c,) and their losses (c,), its price and direction (d,)."""

    counts: IntArray
    losses: FloatArray
    price: float
    direction: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class SumSearch:
    """Limits of one search: k items, |gap| <= reach in every direction, a total loss of at most `allowance`.

    width: partial sums kept.
    """

    k: int
    reach: float
    allowance: float
    width: int
    completions: Completions

    def extended(self, sums: PartialSums, cell: CellCounts, depth: int) -> tuple[PartialSums, float]:
        """The sums over one more cell, and the least loss of those that were dropped."""
        least, most = self.completions.count_low[depth + 1], self.completions.count_high[depth + 1]
        loss = sums.loss[:, None] + cell.losses[None, :]
        count = sums.count[:, None] + cell.counts[None, :]
        fits = loss <= self.allowance
        fits &= (count + least <= self.k) & (count + most >= self.k)
        parent, pick = np.nonzero(fits)
        loss = loss[parent, pick]
        gaps = _Gaps(
            before=sums.gap,
            parent=parent,
            added=cell.counts[pick],
            direction=cell.direction,
            low=self.completions.gap_low[depth + 1],
            high=self.completions.gap_high[depth + 1],
            reach=self.reach,
        )
        chosen, gap, dropped = _cheapest(loss, self.width, gaps)
        parent, pick = parent[chosen], pick[chosen]
        kept = PartialSums(
            loss=loss[chosen],
            count=count[parent, pick],
            priced=sums.priced[parent] + cell.price * cell.counts[pick],
            gap=gap,
            picks=np.column_stack([sums.picks[parent], pick.astype(np.int16)]),
        )
        return kept, dropped


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Gaps:
    """Gaps after one more cell, computed only for the sums that are asked for: of millions few are.

    Shapes:  before (s, d); parent, added (new,), each new sum's parent and count in the cell; direction (d,);
             low, high (d,), what the remaining cells add at least and at most.
    """

    before: FloatArray
    parent: IntArray
    added: IntArray
    direction: FloatArray
    low: FloatArray
    high: FloatArray
    reach: float

    def reaching(self, some: IntArray) -> tuple[IntArray, FloatArray]:
        """Those of some new sums that a completion may bring within reach in every direction, and their gaps."""
        gap = self.before[self.parent[some]] + self.added[some, None] * self.direction
        can_reach = np.all(gap + self.low <= self.reach, axis=1) & np.all(gap + self.high >= -self.reach, axis=1)
        return some[can_reach], gap[can_reach]


def _cheapest(losses: FloatArray, width: int, gaps: _Gaps) -> tuple[IntArray, FloatArray, float]:
    """The `width` cheapest sums that reach, by position, their gaps, and the least loss of the others that do.

    The cheapest are examined first, and the others only while too few of those reach.
    """
    rest, count = np.arange(losses.size), 0
    found: list[IntArray] = []
    found_gaps: list[FloatArray] = []
    while not found or (rest.size and count <= width):
        block = rest
        if rest.size > 2 * width:
            parted = np.argpartition(losses[rest], 2 * width)
            block, rest = np.sort(rest[parted[: 2 * width]]), rest[parted[2 * width :]]
        else:
            rest = rest[:0]
        own, own_gaps = gaps.reaching(block)
        found.append(own)
        found_gaps.append(own_gaps)
        count += own.size
    chosen, gap = np.concatenate(found), np.concatenate(found_gaps)
    dropped = np.inf
    if count > width:
        parted = np.argpartition(losses[chosen], width)
        dropped = float(losses[chosen[parted[width:]]].min())
        chosen, gap = chosen[parted[:width]], gap[parted[:width]]
    order = np.argsort(chosen)
    return chosen[order], gap[order], dropped


def _suffix_sums(values: NDArray[Number]) -> NDArray[Number]:
    """Sums (rows + 1, ...) over the rows from each one on."""
    sums = np.zeros((values.shape[0] + 1, *values.shape[1:]), values.dtype)
    sums[:-1] = np.cumsum(values[::-1], axis=0)[::-1]
    return sums
