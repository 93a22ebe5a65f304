"""Columns to the levels of attributes, in reading order.

A level is the text of the file, unless bins make it a number's range. A missing value is null here and gets
a name that no level has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.level_names import UNKNOWN, bin_names

from ..errors import UsageError
from .block import Attribute, Dataset
from .columns import numbers, strings
from .source import Source

# A longer text is no name of a group: as a rule the column is another one than was meant, or the file is broken.
LONGEST_LEVEL = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Levels:
    """The levels that an attribute has in some rows: the level of every row (n,), a dictionary of them, null where
    there is none, and the levels that come first in reading order.

    texts are the values of the column that the levels are of, where it is not binned.
    """

    of_rows: pa.DictionaryArray
    order: tuple[str, ...]
    texts: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All levels."""
        return list(self.of_rows.dictionary.to_pylist())


def levels_of(block: Dataset, source: Source, called_unknown: Collection[str] = ()) -> dict[str, Levels]:
    """The attributes that columns hold.

    called_unknown: attributes of which `unknown` is a level, though perhaps not in these rows.
    Raises:  UsageError for a column that is missing or does not fit its setting.
    """
    return {
        name: _levels(block, name, source, is_level=name in called_unknown)
        for name, attribute in block.attributes.items()
        if attribute.probe is None  # else known once the items are embedded
    }


def in_reading_order(present: Collection[str], order: Iterable[str], missing: str) -> tuple[str, ...]:
    """Levels that rows have: those of `order` first, others by name, the missing value last."""
    others = sorted(level for level in present if level != missing)
    return tuple(level for level in dict.fromkeys((*order, *others, missing)) if level in present)


def expect_two(block: Dataset, name: str, levels: Sequence[str], remarks: Sequence[str]) -> None:
    """An attribute has something to compare.

    Raises:  UsageError where there is one level, or none.
    """
    if len(levels) < 2:
        only = f"has one value, {levels[0]!r}" if levels else "has no value"
        raise UsageError(
            f"attribute {name!r} {only}, in {block.path}: "
            f"at least two are needed to compare shares{''.join(f'; {remark}' for remark in remarks)}"
        )


def expect_renamed(block: Dataset, name: str, texts: Collection[str]) -> None:
    """What `map` renames is there.

    Raises:  UsageError naming a value that the column lacks.
    """
    attribute = block.attributes[name]
    absent = sorted(set(attribute.map) - set(texts))
    if absent:
        raise UsageError(
            f"attributes.{name}.map renames {absent[0]!r}, which column {attribute.column or name!r} of "
            f"{block.path} lacks"
        )


def may_mean_missing(attribute: Attribute) -> bool:
    """Whether `unknown` in the settings is a missing value, or a level where the data have one of that name."""
    return UNKNOWN in attribute.map.values()


def _levels(block: Dataset, attribute_name: str, source: Source, *, is_level: bool) -> Levels:
    attribute, setting = block.attributes[attribute_name], f"attributes.{attribute_name}"
    name = attribute.column or attribute_name
    if attribute.bins is not None:
        return _binned(attribute.bins, numbers(block, source, name, setting))
    encoded = strings(block, source.table, name, setting).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    _expect_names(block, source, encoded, name, setting)
    renamed = [_level_of_text(attribute, text, is_level=is_level or UNKNOWN in texts) for text in texts]
    usual = source.orders.get(name, ())
    order = attribute.order or tuple(attribute.map.get(value, value) for value in usual)
    return Levels(of_rows=_level_codes(encoded.indices, renamed), order=tuple(order), texts=tuple(texts))


def _level_codes(indices: pa.Array, levels: Sequence[str | None]) -> pa.DictionaryArray:
    """Codes of texts to codes of the levels that they stand for."""
    names = list(dict.fromkeys(level for level in levels if level is not None))
    code = {level: position for position, level in enumerate(names)}
    codes = pa.array([None if level is None else code[level] for level in levels], pa.int32())
    return pa.DictionaryArray.from_arrays(codes.take(indices), pa.array(names, pa.string()))


def _level_of_text(attribute: Attribute, text: str, *, is_level: bool) -> str | None:
    """The level of a text; None for an empty one, and for what the settings call `unknown` where no text is."""
    level = attribute.map.get(text, text)
    return None if level == "" or (text in attribute.map and level == UNKNOWN and not is_level) else level


def _binned(bins: tuple[float, ...], values: np.ndarray) -> Levels:
    names = bin_names(bins)
    position = np.minimum(np.searchsorted(bins, values, side="right"), len(names) - 1)
    codes = pa.array(position.astype(np.int32), mask=np.isnan(values))
    present = [names[code] for code in sorted(pc.unique(codes.drop_null()).to_pylist())]
    place = pa.array([present.index(name) if name in present else None for name in names], pa.int32())
    of_rows = pa.DictionaryArray.from_arrays(place.take(codes), pa.array(present, pa.string()))
    return Levels(of_rows=of_rows, order=tuple(names))


def _expect_names(block: Dataset, source: Source, encoded: pa.DictionaryArray, name: str, setting: str) -> None:
    """Levels are names that a person reads.

    Raises:  UsageError for one that is too long, or holds a NUL character.
    """
    for place, text in enumerate(encoded.dictionary.to_pylist()):
        if len(text) <= LONGEST_LEVEL and "\0" not in text:
            continue
        row = pc.index(encoded.indices, place).as_py()
        what = "a NUL character" if "\0" in text else f"{len(text):,} characters, more than {LONGEST_LEVEL:,}"
        raise UsageError(
            f"{setting} needs names of levels, but column {name!r} holds {what} in "
            f"{source.place_of(row, block.path)}: {text[:40]!r}"
        )
