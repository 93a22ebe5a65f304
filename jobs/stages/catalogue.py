"""A data set's items, as the driver has read them: ids, texts, attributes, weights, perhaps vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from jobs.datasets.catalogue import ATTRIBUTE
from jobs.stages.unit import Unit
from jobs.store import Store

ITEMS, SKIPPED = "items", "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue(Unit):
    """The items of one data set. block: its settings, those aside that only name or place it.

    fingerprint: of its items and labels; vectors: of its columns of vectors, which the encoder's settings name;
    missing: what an item without a value of an attribute is called.
    """

    stage: ClassVar[str] = "catalogue"
    version: ClassVar[int] = 3
    seconds: ClassVar[float] = 0.1
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.datasets",)
    rows_per_group: ClassVar[int] = 65_536

    block: Mapping[str, Any]
    fingerprint: str
    columns: tuple[str, ...]
    vectors: tuple[str, ...]
    missing: str


def read_items(store: Store, key: str) -> pa.Table:
    """All items that a catalogue unit holds."""
    return store.read_table(Catalogue.file(key, ITEMS))


def read_range(store: Store, key: str, start: int, stop: int, columns: Sequence[str] | None = None) -> pa.Table:
    """Rows [start, stop) of a catalogue; only the row groups that hold them are read."""
    return store.read_rows(Catalogue.file(key, ITEMS), start, stop, None if columns is None else list(columns))


def attribute_names(store: Store, key: str) -> list[str]:
    """The columns that hold levels of attributes."""
    names = store.parquet(Catalogue.file(key, ITEMS)).schema_arrow.names
    return [name for name in names if name.startswith(ATTRIBUTE)]
