"""Named levels of attributes as one-hot label columns, the same ones for pool and reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mprlib.errors import InputError
from mprlib.naming import level_name
from mprlib.problem import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoding:
    """Which levels each attribute has, in the order of their columns.

    Worked example: levels {"sex": ("female", "male"), "age": ("<50", "50+")} gives the columns
    sex=female, sex=male, age=<50, age=50+, and the row (female, 50+) is (1, 0, 0, 1).
    """

    levels: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("levels is empty: at least one attribute is needed")
        for attribute, levels in self.levels.items():
            if len(levels) < 2:
                found = f"one value ({levels[0]!r})" if levels else "no values"
                raise InputError(f"attribute {attribute!r} has {found}: at least two are needed to compare shares")
            if len(set(levels)) != len(levels):
                raise InputError(f"attribute {attribute!r} repeats a level")

    @classmethod
    def of(cls, *sides: Mapping[str, Sequence[str]]) -> Encoding:
        """The union of the levels seen on all sides, each attribute's sorted by name.

        Shapes:  each side maps an attribute to one level a row.
        Raises:  InputError for an attribute with one value, or one that a side lacks.
        """
        attributes = list(sides[0])
        for side in sides[1:]:
            if set(side) != set(attributes):
                raise InputError(f"attributes differ: {sorted(attributes)} on one side, {sorted(side)} on the other")
        return cls(
            levels={
                attribute: tuple(sorted(set().union(*(np.unique(side[attribute]).tolist() for side in sides))))
                for attribute in attributes
            }
        )

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
        """One-hot rows (n, l) of a side that maps each attribute to one level a row.

        Raises:  InputError for a missing attribute or a level that the encoding does not know.
        """
        blocks = []
        for attribute, levels in self.levels.items():
            if attribute not in rows:
                raise InputError(f"attribute {attribute!r} is missing: rows have {', '.join(rows)}")
            position = {level: column for column, level in enumerate(levels)}
            distinct, inverse = np.unique(np.asarray(rows[attribute], dtype=str), return_inverse=True)
            for level in distinct.tolist():
                if level not in position:
                    raise InputError(
                        f"attribute {attribute!r} has the value {level!r}, unknown here: known are {', '.join(levels)}"
                    )
            hot = np.array([position[level] for level in distinct.tolist()], dtype=np.intp)[inverse]
            blocks.append(np.eye(len(levels))[hot])
        return np.concatenate(blocks, axis=1)
