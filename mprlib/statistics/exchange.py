"""Did a selection change by chance? Items that stayed cancel; those that left and entered are compared.

Two selections of one query are paired by their items: an item in both is the same person and says
nothing of a change. Of the items that differ, N_left left and N_entered entered. If the change has
nothing to do with groups, any N_entered of them might as well be those that entered: the **exchange
null**. A group with m members among them then has a hypergeometric number of members that entered,
which gives each group an exact two-sided p-value (Fisher's).

Many groups are tested at once, and they overlap, so a query's statistic is its smallest p-value, and
its null distribution comes from exchanging items at random, which keeps the overlaps as they are
(Westfall and Young's min-p). One exchange after another is drawn until 20 of them are as extreme as
what was seen; the share of those is an exact p-value (Besag and Clifford).

When one group's items move, others move with them: more women means fewer men and more young women.
So groups are found one at a time, and each next one is tested with the groups found before held
fixed: items are exchanged only with items that are alike in all of those. What follows from a found
group is then no finding of its own.

Sources: Fisher 1935; Westfall and Young 1993; Besag and Clifford 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.settings import PROBABILITY, SEED, Whole

Draws = Annotated[int, Whole(least=1)]
# Draws end once this many are as extreme as the observation: the p-value is then known to a fifth.
EXTREMES = 20
DRAWS = 20_000
DRAWS_PER_BLOCK = 250
# A union bound this small serves as the p-value: draws could not resolve it, and it is never too small.
SMALL_BOUND = 1e-4
# Probabilities that differ by rounding only are equal.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A group that moved: its column, members entered minus left, and the p-value of the step that found it.

    >>> import numpy as np
    >>> from mprlib.statistics import moved_groups
    >>> [found] = moved_groups(np.ones((20, 1)) == 0, np.ones((20, 1)) == 1, level=0.05)
    >>> found.column, found.change
    (0, 20)
    """

    column: int
    change: int
    p_value: float


@strict
def exchange_test(
    left: ArrayLike, entered: ArrayLike, *, draws: Draws = DRAWS, seed: Annotated[int, SEED] = 0
) -> float:
    """p-value of the exchange null: no group's members left or entered more than chance has it.

    Shapes:  left (N_left, groups) and entered (N_entered, groups), whether an item is of a group.
    Returns: a value in (0, 1]; 1 where nothing changed. Valid at every level, for any overlap of groups.
    Raises:  InputError when the two disagree on the groups, or for fewer than 1 draw.

    >>> import numpy as np
    >>> from mprlib.statistics import exchange_test
    >>> women, men = np.array([[True]] * 12), np.array([[False]] * 12)
    >>> exchange_test(left=women, entered=men) < 0.01, exchange_test(left=women, entered=women)
    (True, 1.0)
    """
    return _Exchange.of(left, entered).p_value(draws, np.random.default_rng(seed))


@strict
def moved_groups(
    left: ArrayLike,
    entered: ArrayLike,
    *,
    level: Annotated[float, PROBABILITY],
    draws: Draws = DRAWS,
    seed: Annotated[int, SEED] = 0,
) -> list[Found]:
    """Groups that moved beyond chance and beyond what groups found before them explain, strongest first.

    Among equals (a group and its mirror) the one that grew comes first, then the earlier column:
    give columns in the order in which you would rather read them. Each step errs with at most `level`.
    Where many queries are asked, ask this of those that an adjustment found, at its own level for them
    (level * found / asked, Benjamini and Bogomolov 2014).

    Shapes:  as exchange_test.
    Raises:  InputError as exchange_test does, and for a level outside (0, 1).

    >>> import numpy as np
    >>> from mprlib.statistics import moved_groups
    >>> women, men = np.array([[1, 0]] * 12, dtype=bool), np.array([[0, 1]] * 12, dtype=bool)
    >>> [(found.column, found.change) for found in moved_groups(left=women, entered=men, level=0.05)]
    [(1, 12)]
    """
    exchange, random = _Exchange.of(left, entered), np.random.default_rng(seed)
    found: list[Found] = []
    while (p_value := exchange.p_value(draws, random)) <= level:
        column = exchange.strongest()
        found.append(Found(column=column, change=exchange.change(column), p_value=p_value))
        exchange = exchange.holding(column)
    return found


def group_p_values(left: ArrayLike, entered: ArrayLike) -> FloatArray:
    """Fisher's exact two-sided p-value (groups,) of each group by itself, not adjusted for the others.

    >>> from mprlib.statistics import group_p_values
    >>> group_p_values(left=[[True]] * 3, entered=[[False]] * 3).round(4).tolist()
    [0.1]
    """
    return _Exchange.of(left, entered).observed()


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Exchange:
    """Items that differ, and the strata within which they may be exchanged.

    Shapes:  members (N, groups) 0 or 1; is_entered (N,); strata (N,) codes from 0.
    """

    members: FloatArray
    is_entered: np.ndarray
    strata: IntArray

    @classmethod
    def of(cls, left: ArrayLike, entered: ArrayLike) -> _Exchange:
        left, entered = np.asarray(left, dtype=float), np.asarray(entered, dtype=float)
        if left.ndim != 2 or entered.ndim != 2 or left.shape[1] != entered.shape[1]:
            raise InputError(
                f"left has shape {left.shape} and entered {entered.shape}: (items, groups) with the same groups "
                "is expected"
            )
        return cls(
            members=np.concatenate([left, entered]),
            is_entered=np.repeat([False, True], [len(left), len(entered)]),
            strata=np.zeros(len(left) + len(entered), dtype=np.intp),
        )

    def holding(self, column: int) -> _Exchange:
        """The same items, exchanged only with items alike in this group too."""
        pattern = self.strata * 2 + self.members[:, column].astype(np.intp)
        strata = np.unique(pattern, return_inverse=True)[1]
        return _Exchange(members=self.members, is_entered=self.is_entered, strata=strata)

    def change(self, column: int) -> int:
        """Members that entered minus members that left."""
        member = self.members[:, column] > 0
        return int(np.sum(member & self.is_entered)) - int(np.sum(member & ~self.is_entered))

    def strongest(self) -> int:
        """The column of the smallest p-value; ties as moved_groups says."""
        values = self.observed()
        tied = np.flatnonzero(values <= values.min() * (1.0 + ROUNDING))
        return int(max(tied, key=lambda column: (self.change(int(column)), -column)))

    def observed(self) -> FloatArray:
        """Exact two-sided p-value (groups,) of each group, given the strata."""
        counts = (self.members[self.is_entered]).sum(axis=0).astype(np.intp)
        tables = {}
        values = np.ones(self.members.shape[1])
        for column, (margin, count) in enumerate(zip(self._margins(self.members), counts)):
            if margin not in tables:
                tables[margin] = _two_sided(self._null(margin))
            values[column] = tables[margin][count]
        return values

    def p_value(self, draws: int, random: np.random.Generator) -> float:
        """The chance of a smallest p-value as small as the observed one."""
        members = self._distinct_columns()
        if members.shape[1] == 0:
            return 1.0
        nulls = [self._null(margin) for margin in self._margins(members)]
        tables = np.ones((members.shape[1], int(self.is_entered.sum()) + 1))
        for column, null in enumerate(nulls):
            tables[column, : null.size] = _two_sided(null)
        counts = members[self.is_entered].sum(axis=0).astype(np.intp)
        threshold = tables[np.arange(counts.size), counts].min() * (1.0 + ROUNDING)
        bound = sum(null[row[: null.size] <= threshold].sum() for null, row in zip(nulls, tables))
        if bound <= SMALL_BOUND:
            return float(bound)
        return self._drawn(members, tables, threshold, draws, random)

    def _drawn(
        self, members: FloatArray, tables: FloatArray, threshold: float, draws: int, random: np.random.Generator
    ) -> float:
        """Besag and Clifford's sequential p-value."""
        offsets = np.arange(members.shape[1]) * tables.shape[1]
        members, flat = members.astype(np.float32), tables.ravel()
        seen = 0
        for start in range(0, draws, DRAWS_PER_BLOCK):
            size = min(DRAWS_PER_BLOCK, draws - start)
            counts = np.rint(self._exchanged(size, random) @ members).astype(np.intp)
            extremes = np.flatnonzero(flat[counts + offsets].min(axis=1) <= threshold)
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

    def _margins(self, members: FloatArray) -> list[tuple[int, ...]]:
        """How many members each column has in every stratum."""
        sums = np.array([members[items].sum(axis=0) for items in self._members_of_strata()], dtype=int)
        return [tuple(column) for column in sums.T.tolist()]

    def _null(self, margin: tuple[int, ...]) -> FloatArray:
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
