"""How a data set is read: whole, or a part of it, in whatever process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .assemble import assemble
from .block import NOT_READ, Dataset
from .columns import VECTOR_SETTING, named_columns
from .hand_labels import levels_of
from .part import ATTRIBUTE, Part, Summary
from .source import Listing, Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """A data set's settings, the folder that its paths start from, and the column of given vectors if there is one.

    called_unknown: attributes of which `unknown` is a level, though perhaps not in every part. looked_up: ids of items
    whose levels the driver asks for, by attribute.
    """

    block: Dataset
    folder: Path
    embedding_column: str | None = None
    called_unknown: tuple[str, ...] = ()
    looked_up: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Columns that are read, each with the setting that names it."""
        columns = named_columns(self.block)
        if self.embedding_column is not None:
            columns.setdefault(self.embedding_column, VECTOR_SETTING)
        return columns

    def listing(self) -> Listing | None:
        """The parts that other processes read; None where the data set is small, or is read whole."""
        listing = self.block.listing(self.folder, self.columns)
        if listing is None or (len(listing.places) == 1 and listing.places[0].is_small):
            return None
        return listing

    def read(self, place: Place | None = None) -> Part:
        """The part at a place, or the whole.

        Raises:  UsageError for input that cannot be audited.
        """
        columns = self.columns
        if place is None:
            source = self.block.read(self.folder, columns)
        else:
            source = self.block.read_place(self.folder, columns, place)
        return assemble(self.block, source, self.embedding_column, self.called_unknown)

    def summary(self, part: Part) -> Summary:
        """What the driver keeps of a part that was read."""
        held = part.items.column_names
        # Of an attribute that a probe predicts there are ids alone.
        columns = {name: ATTRIBUTE + name if ATTRIBUTE + name in held else "item_id" for name in self.looked_up}
        looked_up = {name: levels_of(part.items, columns[name], ids) for name, ids in self.looked_up.items()}
        return replace(part.summary(), looked_up=looked_up) if looked_up else part.summary()

    def settings(self) -> dict[str, Any]:
        """The fields as JSON values; of the block, those that were given."""
        return {
            "block": self.block.model_dump(mode="json", exclude_unset=True, exclude=NOT_READ)
            | {"kind": self.block.kind},
            "folder": str(self.folder.absolute()),
            "embedding_column": self.embedding_column,
            "called_unknown": list(self.called_unknown),
            **({"looked_up": {name: list(ids) for name, ids in self.looked_up.items()}} if self.looked_up else {}),
        }
