"""Columns to the levels of attributes, in reading order.

A level is the text of the file, unless bins make it a number's range. A missing value is null here and gets
a name that no level has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, count, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.datasets.block import Attribute, Dataset
from jobs.datasets.columns import numbers, strings
from jobs.datasets.source import Source
from jobs.errors import UsageError

# What items without a value are called; the others where `unknown` is a value of the data.
UNKNOWN = "unknown"
OTHER_NAMES = ("missing", "missing value")
# A longer text is no name of a group: as a rule the column is another one than was meant, or the file is broken.
LONGEST_LEVEL = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """The level of every row (n,) and all levels in reading order, by attribute.

    missing is what rows without a value are called, is_kept (n,) says which rows stay.
    """

    of_rows: Mapping[str, pa.Array]
    levels: Mapping[str, tuple[str, ...]]
    missing: str
    is_kept: np.ndarray


def labels_of(block: Dataset, source: Source) -> Labels:
    """The attributes that columns hold.

    Raises:  UsageError for a column that is missing or does not fit its setting, and an attribute with one value.
    """
    found = {
        name: _levels(block, attribute, source, attribute.column or name, f"attributes.{name}")
        for name, attribute in block.attributes.items()
        if attribute.probe is None  # else known once the items are embedded
    }
    missing = missing_name(*(pc.unique(rows.drop_null()).to_pylist() for rows, _ in found.values()))
    is_kept = np.ones(source.table.num_rows, dtype=bool)
    if block.missing == "drop":
        for rows, _ in found.values():
            is_kept &= pc.is_valid(rows).to_numpy(zero_copy_only=False)
    of_rows = {name: rows.fill_null(missing) for name, (rows, _) in found.items()}
    levels = {
        name: _present(block, source, name, of_rows[name].filter(pa.array(is_kept)), (*order, missing))
        for name, (_, order) in found.items()
    }
    return Labels(of_rows=of_rows, levels=levels, missing=missing, is_kept=is_kept)


def missing_name(*levels: Iterable[str]) -> str:
    """What items without a value are called: `unknown`, or where that is a level, the first name that is none."""
    taken = set(chain.from_iterable(levels))
    numbered = (f"{OTHER_NAMES[-1]} {number}" for number in count(2))
    return next(name for name in chain((UNKNOWN, *OTHER_NAMES), numbered) if name not in taken)


def _present(block: Dataset, source: Source, name: str, rows: pa.Array, order: tuple[str, ...]) -> tuple[str, ...]:
    """The levels that the rows have, in order.

    Raises:  UsageError where there is one, or none.
    """
    present = set(pc.unique(rows).to_pylist())
    levels = tuple(level for level in dict.fromkeys(order) if level in present)
    if len(levels) < 2:
        only = f"has one value, {levels[0]!r}" if levels else "has no value"
        raise UsageError(
            f"attribute {name!r} {only}, in {block.path}: "
            f"at least two are needed to compare shares{''.join(f'; {remark}' for remark in source.remarks)}"
        )
    return levels


def _levels(
    block: Dataset, attribute: Attribute, source: Source, name: str, setting: str
) -> tuple[pa.Array, tuple[str, ...]]:
    """Each row's level, null where it has none, and levels in reading order."""
    if attribute.bins is not None:
        return _binned(attribute.bins, numbers(block, source, name, setting))
    encoded = strings(block, source.table, name, setting).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    absent = sorted(set(attribute.map) - set(texts))
    if absent:
        raise UsageError(f"{setting}.map renames {absent[0]!r}, which column {name!r} of {block.path} lacks")
    _expect_names(block, source, encoded, name, setting)
    renamed = [_renamed(attribute, text, is_level=UNKNOWN in texts) for text in texts]
    usual = source.orders.get(name, ())
    ordered = attribute.order or tuple(attribute.map.get(value, value) for value in usual)
    order = (*ordered, *sorted({level for level in renamed if level is not None}))
    return pa.array(renamed, pa.string()).take(encoded.indices), order


def _renamed(attribute: Attribute, text: str, *, is_level: bool) -> str | None:
    """The level of a text; None for an empty one, and for what the settings call `unknown` where no text is."""
    level = attribute.map.get(text, text)
    return None if level == "" or (text in attribute.map and level == UNKNOWN and not is_level) else level


def _binned(bins: tuple[float, ...], values: np.ndarray) -> tuple[pa.Array, tuple[str, ...]]:
    names = bin_names(bins)
    position = np.minimum(np.searchsorted(bins, values, side="right"), len(names) - 1)
    return pa.array(names).take(pa.array(position, mask=np.isnan(values))), tuple(names)


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


def bin_names(bins: tuple[float, ...]) -> list[str]:
    """Names of (-inf, a), [a, b), ..., [z, inf): "under 30", "30 to under 45", "45 and over"."""
    between = [f"{low:.15g} to under {high:.15g}" for low, high in pairwise(bins)]
    return [f"under {bins[0]:.15g}", *between, f"{bins[-1]:.15g} and over"]
