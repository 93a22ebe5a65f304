"""How often labels are wrong: the probabilities of a predicted level given the true one.

Rows are true levels, columns predicted ones, in one order. Shares are known exactly. Counts of hand-labelled rows have
a sampling error: of n_g rows whose true level is g, the shares T_g have the covariance (diag T_g - T_g T_g') / n_g.

Worked example: of 100 women, 90 are predicted to be women.

>>> confusion = Confusion.from_table({"woman": {"woman": 90, "man": 10}, "man": {"woman": 5, "man": 45}})
>>> confusion.shares.tolist(), confusion.sizes.tolist()
([[0.9, 0.1], [0.1, 0.9]], [100.0, 50.0])
>>> round(confusion.condition, 6)
1.25
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, expect_length, finite
from mprlib.errors import InputError
from mprlib.frames.levels import level_of

# Shares are written with a few digits: thirds as 0.333.
SUM_TOLERANCE = 5e-3

# A level is taken for another one where so many times as many of its items are labelled so: not by a few hand labels
# that fell out that way, nor where labels hardly say anything.
CLEARLY = 2.0

# What the numbers of a table are: parts of 1 of each true level, or labelled items.
Amounts = Literal["share", "count"]
EXPECTED = {"share": "shares of 1, or counts,", "count": "counts, or shares of 1 in every row,"}
EXAMPLE = (
    "{true level: {predicted level: share or count}} is expected, such as "
    "{female: {female: 0.9, male: 0.1}, male: {female: 0.1, male: 0.9}}"
)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Confusion:
    """What is known of the errors of one attribute's labels, made by `of`, `from_table` or `of_counts`.

    Shapes:  shares (L, L), P(predicted level | true level), the true one by row; rows sum to 1.
             sizes (L,), hand-labelled rows of each true level behind them; infinite where shares are known exactly.
             levels (L,), their names, where known: else the order is that of the attribute's columns.

    >>> import mprlib
    >>> confusion = mprlib.Confusion.of([[0.9, 0.1], [0.2, 0.8]])
    >>> confusion.shares.tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    >>> mprlib.Confusion.from_table({"woman": {"woman": 0.9, "man": 0.1}, "man": {"woman": 0.2, "man": 0.8}}).levels
    ('woman', 'man')
    """

    shares: FloatArray
    sizes: FloatArray
    levels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, matrix: ArrayLike, levels: Sequence[str] | None = None, amounts: Amounts | None = None) -> Self:
        """Shares or counts, as amounts says. By default numbers of which none is above 1 are shares, and all others
        counts, also ones and zeros that do not sum to 1 in every row.

        Raises:  InputError for shares that do not sum to 1 in every row, and for counts of which a row is below 1 or
                 can only be shares.
        """
        table = _checked(matrix, levels)
        totals = _totals(table)
        is_one = np.abs(totals - 1.0) <= SUM_TOLERANCE
        if amounts is None:
            amounts = "count" if not is_one.all() and _may_be_counts(table) else "share"
        if amounts == "share" and is_one.all():
            sizes = np.full(len(table), np.inf)
            return cls(shares=_frozen(table / totals[:, None]), sizes=sizes, levels=_named(levels))
        is_share = (table <= 1.0).all(axis=1) & (table != np.rint(table)).any(axis=1)
        if amounts == "share" or is_share.any():
            # Among shares and counts, the row that keeps the others from being shares is named.
            place = int(np.argmin(is_one))
            raise InputError(
                f"confusion: row {_name(levels, place)} sums to {totals[place]:g}: {EXPECTED[amounts]} are expected"
            )
        return cls.of_counts(table, levels)

    @classmethod
    def from_table(cls, table: Mapping[str, Mapping[str, float]], amounts: Amounts | None = None) -> Self:
        """{true level: {predicted level: share or count}}; what is not named is 0.

        Raises:  InputError as for `of`, and for a predicted level that is no true one.
        """
        if not isinstance(table, Mapping) or not all(isinstance(row, Mapping) for row in table.values()):
            raise InputError(f"confusion is no table: {EXAMPLE}")
        if len(table) < 2:
            has = "is empty" if not table else f"has one level, {next(iter(table))!r}"
            raise InputError(f"confusion {has}, and at least two levels are needed: {EXAMPLE}")
        levels = [level_of(level) for level in table]
        rows = {level_of(true): {level_of(level): one for level, one in row.items()} for true, row in table.items()}
        for true, row in rows.items():
            for predicted in row:
                if predicted not in rows:
                    raise InputError(
                        f"confusion has the predicted level {predicted!r} in the row of {true!r}, and no row of true "
                        f"{predicted!r}: one row for each level is expected, rows are {', '.join(levels)}"
                    )
        return cls.of([[rows[true].get(predicted, 0.0) for predicted in levels] for true in levels], levels, amounts)

    @classmethod
    def of_counts(cls, counts: ArrayLike, levels: Sequence[str] | None = None, sizes: ArrayLike | None = None) -> Self:
        """Counts (L, L) of hand-labelled rows, the true level by row.

        sizes (L,): effective rows of each true level, where counts are sums of weights; by default the rows' sums.
        Raises:  InputError for a true level without a row.
        """
        table = _checked(counts, levels)
        totals = _totals(table)
        if not (totals > 0).all():
            raise InputError(
                f"confusion has no row whose true level is {_name(levels, int(np.argmin(totals)))}: label some by hand"
            )
        if sizes is None and (is_short := totals < 1.0 - SUM_TOLERANCE).any():
            place = int(np.argmax(is_short))
            raise InputError(
                f"confusion: row {_name(levels, place)} sums to {totals[place]:g}: {EXPECTED['count']} are expected"
            )
        effective = totals if sizes is None else finite("sizes", sizes, ndim=1)
        expect_length("sizes", effective, len(table), "confusion has that many levels")
        shares = _frozen(table / totals[:, None])
        return cls(shares=shares, sizes=_frozen(np.array(effective)), levels=_named(levels))

    @property
    def condition(self) -> float:
        """The largest factor by which the inverse stretches a difference of shares; infinite without an inverse."""
        values = np.linalg.svd(self.shares, compute_uv=False)
        return float("inf") if values[-1] <= len(self.shares) * np.finfo(float).eps else float(1.0 / values[-1])

    def ordered(self, levels: Sequence[str]) -> Confusion:
        """The same with its levels in another order.

        Raises:  InputError for other levels than its own.
        """
        if self.levels is None or tuple(levels) == self.levels:
            return self
        absent, unknown = (
            [one for one in a if one not in b] for a, b in ((levels, self.levels), (self.levels, levels))
        )
        if absent or unknown:
            what = f"lacks the level {absent[0]!r}" if absent else f"has the level {unknown[0]!r}"
            raise InputError(f"confusion {what}: the labels have {', '.join(levels)}")
        places = [self.levels.index(level) for level in levels]
        return Confusion(
            shares=_frozen(self.shares[np.ix_(places, places)]), sizes=self.sizes[places], levels=tuple(levels)
        )

    def exchanged(self) -> str:
        """What is said of a confusion by which levels are exchanged; empty of others.

        Most items of a level are labelled as another one then, and most of that as the first, or so on around. Who is
        shown too little by such labels is shown too much in truth, and nearly always the table is the mistake, with its
        levels or its axes in another order.
        """
        names = self.levels or tuple(str(place) for place in range(len(self.shares)))
        likeliest = self.shares.argmax(axis=1).tolist()
        is_clear = self.shares.max(axis=1) >= CLEARLY * self.shares.diagonal()
        for start in range(len(names)):
            circle = [start]
            while likeliest[circle[-1]] not in circle:
                circle.append(likeliest[circle[-1]])
            if likeliest[circle[-1]] == start and len(circle) > 1 and is_clear[circle].all():
                said = " and ".join(f"{names[one]!r} are labelled {names[likeliest[one]]!r}" for one in circle)
                return (
                    f"most items that are {said}: gaps of true labels would have the other sign; rows are true levels "
                    "and columns predicted ones"
                )
        return ""

    def with_right_levels(self, added: Sequence[str]) -> Confusion:
        """The same with more levels after its own, of which all labels are right, and no others are taken for them."""
        size = len(self.shares) + len(added)
        shares = np.eye(size)
        shares[: len(self.shares), : len(self.shares)] = self.shares
        sizes = np.concatenate([self.sizes, np.full(len(added), np.inf)])
        return Confusion(shares=_frozen(shares), sizes=sizes, levels=(*(self.levels or ()), *added))


def _checked(matrix: ArrayLike, levels: Sequence[str] | None) -> FloatArray:
    table = finite("confusion", matrix, ndim=2)
    if table.shape[0] != table.shape[1] or table.shape[0] < 2:
        raise InputError(f"confusion has shape {table.shape}: a row and a column for each of at least two levels")
    if levels is not None:
        names = np.asarray(levels, dtype=object)
        if names.ndim != 1:
            raise InputError(f"levels is a {type(levels).__name__}: a list of names, one for each row, is expected")
        expect_length("levels", names, len(table), "confusion has that many rows")
        own = list(map(level_of, names))
        if len(set(own)) < len(own):
            raise InputError(f"levels has a name twice, of {', '.join(own)}: each row needs its own")
    if (table < 0).any():
        raise InputError(f"confusion holds {table.min():g}: shares and counts cannot be negative")
    return table


def _may_be_counts(table: FloatArray) -> bool:
    """Whether a number is above 1, or all are whole."""
    return bool((table > 1.0 + SUM_TOLERANCE).any() or (table == np.rint(table)).all())


def _name(levels: Sequence[str] | None, place: int) -> str:
    return f"number {place}" if levels is None else level_of(levels[place])


def _totals(table: FloatArray) -> FloatArray:
    """Sums (L,) of the rows, rounded once: they do not depend on the order of the levels."""
    try:
        return np.array([math.fsum(row) for row in table.tolist()])
    except OverflowError:
        raise InputError(f"confusion holds {table.max():g}: counts of hand-labelled rows are expected") from None


def _named(levels: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if levels is None else tuple(map(level_of, levels))


def _frozen(array: Any) -> FloatArray:
    found: FloatArray = np.asarray(array, dtype=np.float64)
    found.flags.writeable = False
    return found
