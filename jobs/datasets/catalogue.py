"""What the job knows of a data set's items before anything is embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.datasets.labels import UNKNOWN
from jobs.datasets.vector_files import VectorFiles
from jobs.store.schema import SKIPPED_ITEMS

# Prefix of the columns that hold each item's level of an attribute.
ATTRIBUTE = "attribute:"
# Columns that name something in a file.
BEHIND_FILES = ("image", "vector_row")


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Items in canonical order: identical pictures or texts adjacent, otherwise as the source has them.

    items has the columns item_id, text, image, relevance (nullable strings), weight (float64) and one
    string column `attribute:NAME` an attribute; with precomputed vectors, also `vector`, or `vector_row` where they
    are in vector_files.
    levels holds each attribute's levels in reading order; missing is what an item without a value is called, a name
    that no value has. fingerprint is a SHA-256 of all of the source, files one
    of the pictures (or files of vectors) alone.
    dropped counts items that were left out, by reason. skipped (item_id, reason, detail) names those that
    the loader could not take. root is the folder that `image` starts from: each value is a path below it, or
    `archive.tar::member`. remarks are sentences on files that were passed over.
    """

    name: str
    items: pa.Table
    levels: Mapping[str, tuple[str, ...]]
    missing: str = UNKNOWN
    fingerprint: str
    files: str
    dropped: Mapping[str, int]
    root: str | None = None
    vector_files: VectorFiles | None = None
    skipped: pa.Table = field(default_factory=SKIPPED_ITEMS.empty_table)
    remarks: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of items."""
        return int(self.items.num_rows)

    @property
    def vector_width(self) -> int | None:
        """Numbers in a vector, where items have theirs already."""
        if self.vector_files is not None:
            return self.vector_files.width
        return self.items["vector"].type.list_size if "vector" in self.items.column_names else None

    def content_of(self, column: str) -> str:
        """SHA-256 of what is embedded when that column is read: ids, the column's values, and the files behind it."""
        digest = hashlib.sha256(self.files.encode() if column in BEHIND_FILES else b"")
        for name in ("item_id", column):
            _add(digest, self.items[name])
        return digest.hexdigest()

    def vector_files_of(self, start: int, stop: int) -> VectorFiles:
        """The files that hold the vectors of rows [start, stop)."""
        if self.vector_files is None:
            raise ValueError(f"data set {self.name} has no files of vectors")
        return self.vector_files.holding(self.items["vector_row"].slice(start, stop - start).to_numpy())

    def shards(self, shard_items: int) -> list[tuple[int, int]]:
        """Row ranges [start, stop) of about that many items; identical pictures or texts never part.

        So each is embedded once though no shard knows of another.
        """
        seen = embedded_column(self.items)
        is_new = np.ones(self.size, dtype=bool)
        if seen.null_count == 0:
            codes = seen.combine_chunks().dictionary_encode().indices.to_numpy()
            is_new[1:] = codes[1:] != codes[:-1]
        cuts, at = [0], shard_items
        starts = np.flatnonzero(is_new)
        while at < self.size:
            following = np.searchsorted(starts, at)
            if following == starts.size:
                break
            cuts.append(int(starts[following]))
            at = cuts[-1] + shard_items
        return list(zip(cuts, [*cuts[1:], self.size]))


def has_images(catalogue: Catalogue) -> bool:
    """Whether any item has a picture."""
    return bool(catalogue.items["image"].null_count < catalogue.size)


def _add(digest: Any, column: pa.ChunkedArray) -> None:
    """A column's values, whatever its chunks and what is under its nulls."""
    values = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_string(values.type):
        texts = values.to_pylist()
        digest.update(np.array([-1 if text is None else len(text) for text in texts], dtype=np.int64).tobytes())
        digest.update("".join(text or "" for text in texts).encode())
    else:
        flat = values.flatten() if pa.types.is_fixed_size_list(values.type) else values
        digest.update(np.ascontiguousarray(flat.to_numpy(zero_copy_only=False)).tobytes())


def with_missing_called(catalogue: Catalogue, name: str) -> Catalogue:
    """The catalogue with another name for missing values; none of its levels may have that name."""
    old = catalogue.missing
    if name == old:
        return catalogue
    items = catalogue.items
    for place, column in enumerate(items.column_names):
        if column.startswith(ATTRIBUTE):
            renamed = pc.if_else(pc.equal(items[column], old), name, items[column])
            items = items.set_column(place, column, renamed)
    levels = {
        attribute: tuple(name if level == old else level for level in levels)
        for attribute, levels in catalogue.levels.items()
    }
    return replace(catalogue, items=items, levels=levels, missing=name)


def embedded_column(items: pa.Table) -> pa.ChunkedArray:
    """What an encoder reads of an item: its picture where any item has one, else its text."""
    return items["text"] if items["image"].null_count == items.num_rows else items["image"]


def attribute_columns(items: pa.Table) -> dict[str, list[str]]:
    """Level of every row, by attribute."""
    return {
        name.removeprefix(ATTRIBUTE): items[name].to_pylist()
        for name in items.column_names
        if name.startswith(ATTRIBUTE)
    }
