"""One part of a data set's items: ids, texts, attributes, weights, perhaps vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..datasets import reader_of
from ..datasets.part import VERSION, Part
from ..datasets.source import Place
from ..store import Store
from .unit import Cost, Tables, Unit, outside_key

ITEMS, SKIPPED = "items", "skipped"
# Copies of a part that a process holds while it reads, orders and writes it.
COPIES = 4
# Seconds of one core for a row (its id is hashed and counted), and bytes that it reads, checks and writes a second.
SECONDS_PER_ROW, BYTES_PER_SECOND = 0.7e-6, 150e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Items(Unit):
    """The items of one part. block: the data set's settings, those aside that only name or place it.

    fingerprint: of all that the part holds; missing: what an item without a value of an attribute is called.
    reader: how the part is read; pieces: its place, None for a whole data set, which the driver has read. A unit
    fails where the data are no longer those that were planned with.
    """

    stage: ClassVar[str] = "items"
    version: ClassVar[int] = VERSION
    seconds: ClassVar[float] = 0.02
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.datasets",)
    rows_per_group: ClassVar[int] = 16_384

    block: Mapping[str, Any]
    fingerprint: str
    columns: tuple[str, ...]
    missing: str
    reader: Mapping[str, Any] | None = outside_key(None)
    pieces: Sequence[Mapping[str, Any]] | None = outside_key(None)
    rows: int = outside_key(0)
    size_bytes: int = outside_key(0)

    def run(self, store: Store) -> Tables:
        part = reader_of(self.reader or {}).read(Place.from_json([dict(piece) for piece in self.pieces or ()]))
        if part.fingerprint != self.fingerprint:
            raise ValueError("the data changed after they were planned with: start the run again")
        return items_tables(part, self.missing)

    def cost(self) -> Cost:
        return Cost(
            seconds=self.rows * SECONDS_PER_ROW + self.size_bytes / BYTES_PER_SECOND,
            memory_bytes=COPIES * self.size_bytes,
            disk_bytes=self.size_bytes,
        )


def items_tables(part: Part, missing: str) -> Tables:
    """What a unit writes for its part."""
    return {ITEMS: part.items_with(missing), SKIPPED: part.skipped}
