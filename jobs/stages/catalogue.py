"""A data set's items as other stages read them: its parts, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..datasets.part import ATTRIBUTE
from ..store import Store
from .items import ITEMS, Items
from .unit import Tables, Unit, reads

PARTS = "parts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue(Unit):
    """The parts of a data set, in order: keys of items units, and how many rows each has."""

    stage: ClassVar[str] = "catalogue"
    version: ClassVar[int] = 4
    seconds: ClassVar[float] = 0.1

    parts: tuple[str, ...] = reads()
    rows: tuple[int, ...]

    def run(self, store: Store) -> Tables:
        return {PARTS: pa.table({"part": pa.array(self.parts, pa.string()), "rows": pa.array(self.rows, pa.int64())})}


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPart:
    """Rows [start, stop) of a catalogue, by the key of the unit that holds them."""

    key: str
    start: int
    stop: int


def parts_of(store: Store, key: str) -> list[StoredPart]:
    """The parts of a catalogue, in order."""
    table = store.read_table(Catalogue.file(key, PARTS))
    stops = list(accumulate(table["rows"].to_pylist()))
    return [
        StoredPart(key=part, start=start, stop=stop)
        for part, start, stop in zip(table["part"].to_pylist(), [0, *stops], stops)
    ]


def item_columns(store: Store, key: str) -> list[str]:
    """Names of a catalogue's columns."""
    [first, *_] = parts_of(store, key)
    return list(store.parquet(Items.file(first.key, ITEMS)).schema_arrow.names)


def attribute_names(store: Store, key: str) -> list[str]:
    """The columns that hold levels of attributes, each a dictionary."""
    return [name for name in item_columns(store, key) if name.startswith(ATTRIBUTE)]


def read_parts(store: Store, key: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """These columns, or all, of one part after the other."""
    for part in parts_of(store, key):
        yield _read(store, part, columns)


def read_items(store: Store, key: str, columns: Sequence[str] | None = None) -> pa.Table:
    """These columns, or all, of all items at once."""
    return pa.concat_tables(read_parts(store, key, columns))


def read_range(store: Store, key: str, start: int, stop: int, columns: Sequence[str] | None = None) -> pa.Table:
    """Rows [start, stop) of a catalogue; only the parts, and row groups, that hold them are read."""
    asked = None if columns is None else list(columns)
    tables = [
        store.read_rows(
            Items.file(part.key, ITEMS), max(start - part.start, 0), min(stop, part.stop) - part.start, asked
        )
        for part in parts_of(store, key)
        if part.start < stop and part.stop > start
    ]
    return pa.concat_tables(tables)


def read_rows(store: Store, key: str, rows: np.ndarray, columns: Sequence[str] | None = None) -> pa.Table:
    """Some rows (n,) of a catalogue, ascending; only the parts that hold them are read."""
    tables: list[pa.Table] = []
    for part in parts_of(store, key):
        low, high = np.searchsorted(rows, [part.start, part.stop])
        if high > low or not tables:
            tables.append(_read(store, part, columns).take(pa.array(rows[low:high] - part.start)))
    return pa.concat_tables(tables)


def _read(store: Store, part: StoredPart, columns: Sequence[str] | None) -> pa.Table:
    """Columns of a part; the bytes of others, of vectors above all, are not read."""
    with store.parquet(Items.file(part.key, ITEMS)) as file:
        return file.read(columns=None if columns is None else list(columns))
