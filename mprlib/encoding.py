"""Named levels of attributes as one-hot label columns, the same ones for pool and reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import InputError
from mprlib.frames.columns import columns_of
from mprlib.frames.levels import Coded, coded, coded_as, level_of, stated_levels
from mprlib.level_names import UNKNOWN, bin_names, level_name, missing_name

# Joint codes are made small again beyond this, so that one attribute more fits 63 bits.
LARGEST_JOINT_CODE = 2**40
# Numbers of a table of label rows, four gigabytes.
LARGEST_TABLE = 500_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoding:
    """Which levels each attribute has, in the order of their columns.

    bins: the cuts of attributes that are ranges of numbers. missing: the level of people without a value.

    Worked example: levels {"sex": ("female", "male"), "age": ("<50", "50+")} gives the columns
    sex=female, sex=male, age=<50, age=50+, and the row (female, 50+) is (1, 0, 0, 1).
    """

    levels: Mapping[str, tuple[str, ...]]
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    missing: str = UNKNOWN

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("levels is empty: at least one attribute is needed")
        text = {
            str(attribute): tuple(level_of(level, self.missing) for level in levels)
            for attribute, levels in self.levels.items()
        }
        if len(text) < len(self.levels):
            raise InputError(f"levels has two attributes of one name: {', '.join(map(repr, self.levels))}")
        object.__setattr__(self, "levels", text)
        for attribute, levels in text.items():
            if len(levels) < 2:
                found = f"one value ({levels[0]!r})" if levels else "no values"
                raise InputError(f"attribute {attribute!r} has {found}: at least two are needed to compare shares")
            if len(set(levels)) != len(levels):
                raise InputError(f"attribute {attribute!r} repeats a level")

    @classmethod
    def of(cls, *sides: Mapping[str, Sequence[str]]) -> Encoding:
        """The union of the levels seen on all sides, each attribute's sorted by name.

        Shapes:  each side maps an attribute to one level per row.
        Raises:  InputError for an attribute with one value or a missing one, or one that a side lacks.
        """
        attributes = list(sides[0])
        for side in sides[1:]:
            if set(side) != set(attributes):
                raise InputError(f"attributes differ: {sorted(attributes)} on one side, {sorted(side)} on the other")
        return cls(
            levels={
                attribute: tuple(sorted(set().union(*(np.unique(_text(attribute, side)).tolist() for side in sides))))
                for attribute in attributes
            }
        )

    @classmethod
    def of_sides(
        cls,
        *sides: Side,
        known: Encoding | None = None,
        is_stated: bool = False,
        bins: Mapping[str, tuple[float, ...]] | None = None,
    ) -> Encoding:
        """The union of the levels of all sides, in reading order: ranges by their numbers, others by name, the missing
        value last.

        known: an encoding whose levels come first, in their order; where there are no others, it is the result.
        is_stated: its levels are names that somebody wrote, one of which may mean those without a value.
        Raises:  InputError for an attribute of one level.
        """
        seen = {name: set().union(*(side.levels(name) for side in sides)) for name in sides[0].columns}
        cuts = {**(bins or {}), **({} if known is None else known.bins)}
        if known is not None:
            known = known.with_missing(known._missing_beside(seen, sides, is_stated))
        missing = known.missing if known is not None else missing_name(*seen.values())
        for name in seen:
            seen[name] |= {missing} if any(side.has_missing(name) for side in sides) else set()
        if known is not None and all(own <= set(known.levels[name]) for name, own in seen.items()):
            return known
        levels = {}
        for name, own in seen.items():
            first = known.levels[name] if known is not None else bin_names(cuts[name]) if name in cuts else ()
            others = sorted(own - set(first) - {missing})
            order = dict.fromkeys([*(level for level in first if level != missing), *others, missing])
            kept = own if known is None else own | set(first)
            levels[name] = tuple(level for level in order if level in kept)
        return cls(levels=levels, bins=cuts, missing=missing)

    def with_missing(self, name: str) -> Encoding:
        """The same levels, where people without a value are called so."""
        if name == self.missing:
            return self
        renamed = {
            attribute: tuple(name if level == self.missing else level for level in levels)
            for attribute, levels in self.levels.items()
        }
        return replace(self, levels=renamed, missing=name)

    def _missing_beside(self, seen: Mapping[str, set[str]], sides: Sequence[Side], is_stated: bool) -> str:
        """What people without a value are called where others have these levels: as before, unless one is called so."""
        is_named = any(self.missing in levels for levels in self.levels.values())
        is_in_doubt = any(
            self.missing in own and (self.missing in self.levels[name] or any(side.has_missing(name) for side in sides))
            for name, own in seen.items()
        )
        if not is_in_doubt or (is_stated and is_named):
            return self.missing
        return missing_name(*seen.values(), *self.levels.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Column names (l,), distinct, "attribute=level"."""
        return tuple(level_name(attribute, level) for attribute, levels in self.levels.items() for level in levels)

    @property
    def attributes(self) -> dict[str, tuple[int, ...]]:
        """The columns of each attribute."""
        columns: dict[str, tuple[int, ...]] = {}
        start = 0
        for attribute, levels in self.levels.items():
            columns[attribute] = tuple(range(start, start + len(levels)))
            start += len(levels)
        return columns

    def encode(self, rows: Mapping[str, Sequence[str]]) -> FloatArray:
        """One-hot rows (n, l) of a side that maps each attribute to one level per row.

        Raises:  InputError for a missing attribute or a level that the encoding does not know.
        """
        return self.one_hot(self.codes(rows))

    def codes(self, rows: Mapping[str, Sequence[str]]) -> list[IntArray]:
        """For each attribute the positions (n,) of the rows' levels; of rows as `encode` takes them."""
        return [self._codes_of(attribute, rows) for attribute in self.levels]

    def codes_of(self, side: Side) -> list[IntArray]:
        """For each attribute the positions (n,) of the levels of a side whose levels are all known."""
        found = []
        for name, levels in self.levels.items():
            own = side.columns[name]
            if side.encoding is self and own.levels == levels:
                found.append(own.codes)
                continue
            place = {level: code for code, level in enumerate(levels)}
            places = [place[level] for level in own.levels] + [place.get(self.missing, -1)]
            found.append(np.array(places, dtype=np.intp)[own.codes])
        return found

    def one_hot(self, codes: Sequence[IntArray]) -> FloatArray:
        """Rows (n, l) given by the positions (n,) of their levels, an array for each attribute.

        Raises:  InputError for names of people, of which no table can be held.
        """
        sizes, rows = [len(levels) for levels in self.levels.values()], len(codes[0])
        if rows * sum(sizes) > LARGEST_TABLE:
            raise InputError(
                f"attributes have {sum(sizes):,} levels, of which {rows:,} combinations occur: groups need levels that "
                "rows share, as in a column of a few names"
            )
        blocks = [np.eye(size)[of_rows] for size, of_rows in zip(sizes, codes)]
        return np.concatenate(blocks, axis=1)

    def groups(self, codes: Sequence[IntArray]) -> tuple[FloatArray, IntArray]:
        """One-hot rows (groups, l) that occur among rows given by their codes, and the group (n,) of each row."""
        first, groups = joint_groups(codes, [len(levels) for levels in self.levels.values()])
        return self.one_hot([of_rows[first] for of_rows in codes]), groups

    def _codes_of(self, attribute: str, rows: Mapping[str, Sequence[str]]) -> IntArray:
        if attribute not in rows:
            raise InputError(f"attribute {attribute!r} is missing: rows have {', '.join(map(str, rows))}")
        levels = self.levels[attribute]
        position = {level: column for column, level in enumerate(levels)}
        distinct, inverse = np.unique(_text(attribute, rows), return_inverse=True)
        for level in distinct.tolist():
            if level not in position:
                raise InputError(
                    f"attribute {attribute!r} has the value {level!r}, unknown here: known are {', '.join(levels)}"
                )
        return np.array([position[level] for level in distinct.tolist()], dtype=np.intp)[inverse]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Side:
    """The attributes of some people as columns of levels.

    encoding: one whose levels all of them have, so that nobody is without one; None where that was not looked at.
    """

    columns: Mapping[str, Coded]
    encoding: Encoding | None = None

    @classmethod
    def known_by(cls, encoding: Encoding, argument: str, frame: Any) -> Side:
        """The columns of an encoding's attributes, which hold its levels as a rule.

        Raises:  InputError as `of`.
        """
        columns = columns_of(argument, frame, list(encoding.levels))
        found: dict[str, Coded] = {}
        is_known = True
        for name, levels in encoding.levels.items():
            bins = encoding.bins.get(name)
            # A text that is called as missing values are is none of them.
            texts = levels
            if encoding.missing in levels:
                texts = tuple(level for level in levels if level != encoding.missing)
            own = coded_as(columns[name], texts) if bins is None else None
            is_known = is_known and own is not None
            found[name] = coded(argument, name, columns[name], bins) if own is None else own
        return cls(columns=found, encoding=encoding if is_known else None)

    @classmethod
    def of(cls, argument: str, frame: Any, attributes: Sequence[str], bins: Mapping[str, tuple[float, ...]]) -> Side:
        """Columns of a frame, or of a mapping of names to arrays.

        Raises:  InputError naming the argument and the column.
        """
        columns = columns_of(argument, frame, attributes)
        return cls(columns={name: coded(argument, name, one, bins.get(name)) for name, one in columns.items()})

    @property
    def rows(self) -> int:
        """Number of people."""
        return next(iter(self.columns.values())).codes.size

    def levels(self, attribute: str) -> set[str]:
        """Levels that somebody may have."""
        return set(self.columns[attribute].levels)

    def has_missing(self, attribute: str) -> bool:
        """Whether somebody has none."""
        return bool((self.columns[attribute].codes < 0).any())


def joint_groups(codes: Sequence[IntArray], sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Rows that have all codes in common: the first row (groups,) of each group, and the group (n,) of each row.

    Shapes:  codes, an array (n,) for each attribute, from 0 to below its size.
    """
    joint = np.zeros(codes[0].size, dtype=np.int64)
    for size, of_rows in zip(sizes, codes):
        joint = joint * size + of_rows
        if joint.max(initial=0) > LARGEST_JOINT_CODE:
            joint = np.unique(joint, return_inverse=True)[1]
    _, first, groups = np.unique(joint, return_index=True, return_inverse=True)
    return first, groups


def _text(attribute: str, rows: Mapping[str, Sequence[str]]) -> np.ndarray:
    return stated_levels(f"attribute {attribute!r}", rows[attribute])
