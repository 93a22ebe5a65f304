"""What the job knows of a data set's items before anything is embedded."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from mprlib.level_names import UNKNOWN

from .hand_labels import HandLabels, Labelled
from .part import ATTRIBUTE, Part, Summary, embedded_column
from .reader import Reader
from .source import Place

__all__ = ["ATTRIBUTE", "Catalogue", "attribute_columns", "embedded_column", "has_images", "with_missing_called"]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownPart:
    """A part by what the driver keeps of it, and how it is read; whole: all of it, where the data set is small."""

    summary: Summary
    reader: Reader
    place: Place | None = None
    whole: Part | None = None

    def read(self) -> Part:
        """All of it, which is in memory already where the data set is small."""
        return self.whole or self.reader.read(self.place)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Items in parts, in the source's order; within a part identical pictures or texts are adjacent.

    levels holds each attribute's levels in reading order; missing is what an item without a value is called, a name
    that no value has. dropped counts items that were left out, by reason. root is the folder that `image` starts
    from: each value is a path below it, or `archive.tar::member`. remarks are sentences on files that were passed over.
    looked_up: levels, None for no value, of items that were asked for, by attribute and id; hand_labels: true levels
    of some items beside them, by attribute; hand_labels_of_probes: those of attributes whose levels a probe gives,
    until these are known.
    """

    name: str
    parts: tuple[KnownPart, ...]
    levels: Mapping[str, tuple[str, ...]]
    missing: str = UNKNOWN
    dropped: Mapping[str, int] = field(default_factory=dict)
    root: str | None = None
    remarks: tuple[str, ...] = ()
    looked_up: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    hand_labels: Mapping[str, Labelled] = field(default_factory=dict)
    hand_labels_of_probes: Mapping[str, HandLabels] = field(default_factory=dict)

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """What each part holds."""
        return tuple(part.summary for part in self.parts)

    @cached_property
    def size(self) -> int:
        """Number of items."""
        return sum(summary.rows for summary in self.summaries)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all parts."""
        return hashlib.sha256(" ".join(summary.fingerprint for summary in self.summaries).encode()).hexdigest()

    @property
    def vector_width(self) -> int | None:
        """Numbers in a vector, where items have theirs already."""
        return next(summary.width for summary in self.summaries if summary.rows)

    @property
    def has_vector_files(self) -> bool:
        """Whether the items' vectors are in files of their own."""
        return self.summaries[0].vector_files is not None

    @cached_property
    def items(self) -> pa.Table:
        """All items, which are read for it and kept: see `part.Part`; missing values have their name."""
        items = [part.read().items_with(self.missing) for part in self.parts]
        # A part without items has no vectors.
        return pa.concat_tables(items, promote_options="default")

    @property
    def skipped(self) -> pa.Table:
        """Items that the loader could not take, with reasons."""
        return pa.concat_tables([part.read().skipped for part in self.parts])

    def counts(self, attribute: str) -> Counter[str]:
        """Items by their level of an attribute."""
        found: Counter[str] = Counter()
        for summary in self.summaries:
            for level, count in summary.counts[attribute]:
                found[self.missing if level is None else level] += count
        return found

    def has_texts(self) -> bool:
        """Whether every item has a text."""
        return not any(summary.texts_missing for summary in self.summaries)

    def shards(self, shard_items: int) -> list[tuple[int, int]]:
        """Row ranges [start, stop) of about that many items; none is of two parts."""
        starts = np.cumsum([0] + [summary.rows for summary in self.summaries]).tolist()
        return [
            (start + low, start + high)
            for start, summary in zip(starts, self.summaries)
            for low, high in summary.shards(shard_items)
        ]


def has_images(catalogue: Catalogue) -> bool:
    """Whether any item has a picture."""
    return any(summary.images for summary in catalogue.summaries)


def with_missing_called(catalogue: Catalogue, name: str) -> Catalogue:
    """The catalogue with another name for missing values; none of its levels may have that name."""
    old = catalogue.missing
    if name == old:
        return catalogue
    levels = {
        attribute: tuple(name if level == old else level for level in levels)
        for attribute, levels in catalogue.levels.items()
    }
    return replace(catalogue, levels=levels, missing=name)


def attribute_columns(items: pa.Table) -> dict[str, list[str]]:
    """Level of every row, by attribute."""
    return {
        name.removeprefix(ATTRIBUTE): items[name].cast(pa.string()).to_pylist()
        for name in items.column_names
        if name.startswith(ATTRIBUTE)
    }
