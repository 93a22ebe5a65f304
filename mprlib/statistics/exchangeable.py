"""Items that differ between two selections, exchanged at random within strata: deviations and their distribution.

`mprlib.statistics.exchange` says what is tested, and why deviations are studentised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import InputError

# Draws end once this many are as extreme as the observation: the p-value is then known to a fifth.
EXTREMES = 20
DRAWS_PER_BLOCK = 250
# A union bound this small serves as the p-value: draws could not resolve it, and it is never too small.
SMALL_BOUND = 1e-4
# Probabilities that differ by rounding only are equal.
ROUNDING = 1e-9
# Items are near the last place and not at it: (f - a)^2 is understated. By simulation; see `exchange`.
UNDERSTATED = 1.5


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Exchange:
    """Items that differ, and the strata within which they may be exchanged.

    Shapes:  members (N, groups) 0 or 1; is_entered (N,); strata (N,) codes from 0. near (B, groups) and its strata
             (B,), -1 for those that no item that differs is of.
    """

    members: FloatArray
    is_entered: np.ndarray
    strata: IntArray
    near: FloatArray
    near_strata: IntArray

    @classmethod
    def of(cls, left: ArrayLike, entered: ArrayLike, near: ArrayLike | None = None) -> Exchange:
        left, entered = np.asarray(left, dtype=float), np.asarray(entered, dtype=float)
        close = np.zeros((0, *left.shape[1:])) if near is None else np.asarray(near, dtype=float)
        if not left.ndim == entered.ndim == close.ndim == 2 or not left.shape[1] == entered.shape[1] == close.shape[1]:
            raise InputError(
                f"left has shape {left.shape}, entered {entered.shape} and near {close.shape}: (items, groups) with "
                "the same groups is expected"
            )
        return cls(
            members=np.concatenate([left, entered]),
            is_entered=np.repeat([False, True], [len(left), len(entered)]),
            strata=np.zeros(len(left) + len(entered), dtype=np.intp),
            near=close,
            near_strata=np.zeros(len(close), dtype=np.intp),
        )

    def holding(self, column: int) -> Exchange:
        """The same items, exchanged only with items alike in this group too."""
        pattern = self.strata * 2 + self.members[:, column].astype(np.intp)
        near = self.near_strata * 2 + self.near[:, column].astype(np.intp)
        known, strata = np.unique(pattern, return_inverse=True)
        place = np.searchsorted(known, near).clip(max=max(known.size - 1, 0))
        return replace(self, strata=strata, near_strata=np.where(known[place] == near, place, -1))

    def change(self, column: int) -> int:
        """Members that entered minus members that left."""
        member = self.members[:, column] > 0
        return int(np.sum(member & self.is_entered)) - int(np.sum(member & ~self.is_entered))

    def strongest(self) -> int:
        """The column of the largest studentised deviation; ties as moved_groups says."""
        values = self._studentised()
        tied = np.flatnonzero(values >= values.max() * (1.0 - ROUNDING))
        return int(max(tied, key=lambda column: (self.change(int(column)), -column)))

    def _studentised(self) -> FloatArray:
        """Each group's deviation (groups,) from its mean under exchange, over its standard deviation with the factor
        for noise that is not equal."""
        means, variances = self._moments(self.members)
        wider = (variances * self._factors()).sum(axis=0)
        deviations = np.abs(self.members[self.is_entered].sum(axis=0) - means)
        found: FloatArray = np.divide(deviations, np.sqrt(wider), out=np.zeros_like(wider), where=wider > 0)
        return found

    def _factors(self) -> FloatArray:
        """1 + 1.5 (f - a)^2 / (a (1 - a)) (strata, groups); 1 where nobody of a stratum is near the last place."""
        factors = []
        for code, items in enumerate(self._members_of_strata()):
            share = self.members[items].mean(axis=0)
            spread, close = share * (1.0 - share), self.near[self.near_strata == code]
            excess = np.zeros_like(share) if not len(close) else UNDERSTATED * (close.mean(axis=0) - share) ** 2
            factors.append(1.0 + np.divide(excess, spread, out=np.zeros_like(spread), where=spread > 0))
        return np.array(factors)

    def _moments(self, members: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means (groups,) of the members that enter, and variances (strata, groups): hypergeometric ones."""
        means, variances = np.zeros(members.shape[1]), []
        for items in self._members_of_strata():
            size, entering, own = items.size, int(self.is_entered[items].sum()), members[items].sum(axis=0)
            means += entering * own / size
            variances.append(entering * (size - entering) * own * (size - own) / (size**2 * max(size - 1, 1)))
        return means, np.array(variances)

    def observed(self) -> FloatArray:
        """Exact two-sided p-value (groups,) of each group, given the strata."""
        counts = (self.members[self.is_entered]).sum(axis=0).astype(np.intp)
        tables = {}
        values = np.ones(self.members.shape[1])
        for column, (margin, count) in enumerate(zip(self._member_counts(self.members), counts)):
            if margin not in tables:
                tables[margin] = _two_sided(self._null_distribution(margin))
            values[column] = tables[margin][count]
        return values

    def p_value(self, draws: int, random: np.random.Generator) -> float:
        """The chance of a largest deviation as large as the observed one."""
        members = self._distinct_columns()
        if members.shape[1] == 0:
            return 1.0
        means, variances = self._moments(members)
        limits = self._studentised().max() * (1.0 - ROUNDING) * np.sqrt(variances.sum(axis=0))
        nulls = [self._null_distribution(margin) for margin in self._member_counts(members)]
        far = [np.abs(np.arange(null.size) - mean) >= limit for null, mean, limit in zip(nulls, means, limits)]
        bound = sum(null[is_far].sum() for null, is_far in zip(nulls, far))
        if bound <= SMALL_BOUND:
            return float(bound)
        return self._sequential_p_value(members, means, limits, draws, random)

    def _sequential_p_value(
        self, members: FloatArray, means: FloatArray, limits: FloatArray, draws: int, random: np.random.Generator
    ) -> float:
        """Besag and Clifford's sequential p-value."""
        seen = 0
        for start in range(0, draws, DRAWS_PER_BLOCK):
            size = min(DRAWS_PER_BLOCK, draws - start)
            counts = np.rint(self._exchanged(size, random) @ members.astype(np.float32))
            extremes = np.flatnonzero((np.abs(counts - means) >= limits).any(axis=1))
            if seen + extremes.size >= EXTREMES:
                return EXTREMES / (start + int(extremes[EXTREMES - seen - 1]) + 1)
            seen += extremes.size
        return (seen + 1) / (draws + 1)

    def _exchanged(self, size: int, random: np.random.Generator) -> np.ndarray:
        """Who enters (size, N), as 0 and 1: in each stratum as many as did, drawn anew."""
        entering = np.zeros((size, self.strata.size), dtype=np.float32)
        for items in self._members_of_strata():
            count = int(self.is_entered[items].sum())
            drawn = np.argsort(random.random((size, items.size)), axis=1)[:, :count]
            np.put_along_axis(entering, items[drawn], 1.0, axis=1)
        return entering

    def _members_of_strata(self) -> list[IntArray]:
        return [np.flatnonzero(self.strata == code) for code in range(int(self.strata.max(initial=-1)) + 1)]

    def _member_counts(self, members: FloatArray) -> list[tuple[int, ...]]:
        """How many members each column has in every stratum."""
        sums = np.array([members[items].sum(axis=0) for items in self._members_of_strata()], dtype=int)
        return [tuple(column) for column in sums.T.tolist()]

    def _null_distribution(self, margin: tuple[int, ...]) -> FloatArray:
        """Probabilities of 0, 1, ... members that enter, for a group with these numbers of members per stratum."""
        from scipy.stats import hypergeom

        total = np.ones(1)
        for items, count in zip(self._members_of_strata(), margin):
            entering = int(self.is_entered[items].sum())
            outcomes = np.arange(min(count, entering) + 1)
            total = np.convolve(total, hypergeom.pmf(outcomes, items.size, count, entering))
        return total

    def _distinct_columns(self) -> FloatArray:
        """Columns that an exchange can change, each once; a column and its mirror have one p-value."""
        varies = np.zeros(self.members.shape, dtype=bool)
        for items in self._members_of_strata():
            own = self.members[items]
            varies[items] = own.min(axis=0) < own.max(axis=0)
        columns = np.flatnonzero(varies.any(axis=0))
        if columns.size == 0:
            return np.empty((self.strata.size, 0))
        varies, members = varies[:, columns], self.members[:, columns] * varies[:, columns]
        # Written so that the first item that may change is no member.
        is_mirrored = members[varies.argmax(axis=0), np.arange(columns.size)] > 0
        members[:, is_mirrored] = varies[:, is_mirrored] - members[:, is_mirrored]
        return np.unique(members, axis=1)


def _two_sided(null: FloatArray) -> FloatArray:
    """For each outcome, the probability of all that are no more likely."""
    order = np.argsort(null, kind="stable")
    ordered = null[order]
    totals = np.cumsum(ordered)
    values = np.empty(null.size)
    values[order] = totals[np.searchsorted(ordered, ordered * (1.0 + ROUNDING), side="right") - 1]
    return np.minimum(values, 1.0)
