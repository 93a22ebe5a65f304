"""A part of a data set: the rows of one place, checked; and what the driver keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..store.chunks import in_one
from .content import digest_of, id_hashes
from .vector_files import VectorFiles

# Raised when parts of the same files are other ones than before: neither units nor what was remembered then count.
VERSION = 6
# Prefix of the columns that hold each item's probabilities of levels, a list in the order of the configuration.
PROBABILITIES = "probabilities:"
# Prefix of the columns that hold each item's level of an attribute.
ATTRIBUTE = "attribute:"
TEXT, IMAGE, VECTOR, VECTOR_ROW = "text", "image", "vector", "vector_row"
# Columns that an encoder reads or that hold vectors; those that name something in a file.
EMBEDDED, BEHIND_FILES = (TEXT, IMAGE, VECTOR, VECTOR_ROW), (IMAGE, VECTOR_ROW)


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a part holds, as far as a plan asks for it.

    rows of items that stay, dropped of those that do not, skipped of those that the loader could not take.
    levels: of every row, by attribute; counts: items that stay by attribute and level, None for no value; texts: the
    columns' values; order: levels that come first in reading order.
    contents: a SHA-256 of ids and values by column that can be embedded; fingerprint: of all of the part; files: of
    the pictures or files of vectors. lengths: of the shortest and longest vector.
    repeats: one bit a row in hexadecimal digits, set where the row's picture or text is that of the row before; empty
    where none is.
    is_whole: whether the rows are all of the source's, in its order. lacks: columns that these rows do not have.
    looked_up: ids and levels, None for no value, of items that were asked for, by attribute.
    """

    columns: tuple[str, ...]
    rows: int
    dropped: int
    skipped: int
    texts_missing: int
    images: int
    weight: float
    levels: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, tuple[tuple[str | None, int], ...]]
    texts: Mapping[str, tuple[str, ...]]
    order: Mapping[str, tuple[str, ...]]
    contents: Mapping[str, str]
    fingerprint: str
    files: str
    memory_bytes: int
    width: int | None = None
    lengths: tuple[float, float] | None = None
    repeats: str = ""
    is_whole: bool = True
    root: str | None = None
    vector_files: Mapping[str, Any] | None = None
    lacks: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    looked_up: Mapping[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)

    def is_new(self) -> np.ndarray:
        """Whether each row's picture or text (rows,) is another one than that of the row before."""
        if not self.repeats:
            return np.ones(self.rows, dtype=bool)
        return ~np.unpackbits(np.frombuffer(bytes.fromhex(self.repeats), dtype=np.uint8), count=self.rows).astype(bool)

    def shards(self, shard_items: int) -> list[tuple[int, int]]:
        """Row ranges [start, stop) of about that many items; identical pictures or texts never part.

        So each is embedded once in a part though no shard knows of another.
        """
        if not self.rows:
            return []
        cuts, at = [0], shard_items
        starts = np.flatnonzero(self.is_new())
        while at < self.rows:
            following = np.searchsorted(starts, at)
            if following == starts.size:
                break
            cuts.append(int(starts[following]))
            at = cuts[-1] + shard_items
        return list(zip(cuts, [*cuts[1:], self.rows]))

    def vector_files_of(self, start: int, stop: int) -> VectorFiles:
        """The files that hold the vectors of rows [start, stop), as far as rows tell which."""
        files = VectorFiles(**(self.vector_files or {}))
        return files.holding(np.arange(start, stop)) if self.is_whole else files


@dataclass(frozen=True, kw_only=True)
class Part:
    """Items of a part in canonical order: identical pictures or texts adjacent, otherwise as the source has them.

    items has the columns item_id, text, image, relevance (nullable strings), weight (float64) and one column
    `attribute:NAME` an attribute, a dictionary of levels that is null where there is no value; with precomputed
    vectors, also `vector`, or `vector_row` where they are in vector_files. skipped (item_id, reason, detail) names
    items that the loader could not take. ids: also those of rows that were dropped for want of a level.
    """

    items: pa.Table
    ids: pa.Array
    skipped: pa.Table
    dropped: int
    levels: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, tuple[str, ...]]
    order: Mapping[str, tuple[str, ...]]
    files: str
    is_whole: bool
    root: str | None = None
    vector_files: VectorFiles | None = None
    lengths: tuple[float, float] | None = None
    lacks: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that columns hold."""
        return [name.removeprefix(ATTRIBUTE) for name in self.items.column_names if name.startswith(ATTRIBUTE)]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that the part holds."""
        names = self.items.column_names
        return digest_of([*self.items.columns, *self.skipped.columns], *names, self.files)

    @cached_property
    def id_hashes(self) -> np.ndarray:
        """Hashes (n,) uint64 of the ids of all rows, sorted."""
        return np.sort(id_hashes(self.ids))

    def items_with(self, missing: str) -> pa.Table:
        """The items, with a name for missing values."""
        items = self.items
        for name in self.attributes:
            place = items.column_names.index(ATTRIBUTE + name)
            items = items.set_column(place, ATTRIBUTE + name, _with_missing_level(items.column(place), missing))
        return items

    def summary(self) -> Summary:
        """What the driver keeps."""
        items, attributes = self.items, self.attributes
        files = None if self.vector_files is None else self.vector_files.to_json()
        return Summary(
            columns=tuple(items.column_names),
            rows=items.num_rows,
            dropped=self.dropped,
            skipped=self.skipped.num_rows,
            texts_missing=items[TEXT].null_count,
            images=items.num_rows - items[IMAGE].null_count,
            weight=float(pc.sum(items["weight"]).as_py() or 0.0),
            levels=self.levels,
            counts={name: _counts(items[ATTRIBUTE + name]) for name in attributes},
            texts=self.texts,
            order=self.order,
            contents={name: self._content_of(name) for name in EMBEDDED if name in items.column_names},
            fingerprint=self.fingerprint,
            files=self.files,
            memory_bytes=items.nbytes,
            width=self._width(),
            lengths=self.lengths,
            repeats=_repeats(items),
            is_whole=self.is_whole,
            root=self.root,
            vector_files=files,
            lacks=self.lacks,
            remarks=self.remarks,
        )

    def _content_of(self, column: str) -> str:
        """SHA-256 of what is embedded when that column is read: ids, the column's values, and the files behind it."""
        files = self.files if column in BEHIND_FILES else ""
        return digest_of([self.items["item_id"], self.items[column]], column, files)

    def _width(self) -> int | None:
        if self.vector_files is not None:
            return self.vector_files.width
        return self.items[VECTOR].type.list_size if VECTOR in self.items.column_names else None


def embedded_column(items: pa.Table) -> pa.ChunkedArray:
    """What an encoder reads of an item: its picture where any item has one, else its text."""
    return items[TEXT] if items[IMAGE].null_count == items.num_rows else items[IMAGE]


def _repeats(items: pa.Table) -> str:
    seen = embedded_column(items)
    if seen.null_count or not items.num_rows:
        return ""
    codes = in_one(seen).dictionary_encode().indices.to_numpy()
    is_same = codes[1:] == codes[:-1]
    return np.packbits(np.concatenate([[False], is_same])).tobytes().hex() if is_same.any() else ""


def _counts(levels: pa.ChunkedArray) -> tuple[tuple[str | None, int], ...]:
    counted = pc.value_counts(in_one(levels))
    names = counted.field("values").cast(pa.string()).to_pylist()
    return tuple(zip(names, counted.field("counts").to_pylist()))


def _with_missing_level(levels: pa.ChunkedArray, missing: str) -> pa.DictionaryArray:
    """Codes of levels in which a missing value is a level too."""
    codes = in_one(levels)
    if not codes.null_count:
        return codes
    names = pa.concat_arrays([codes.dictionary, pa.array([missing], pa.string())])
    return pa.DictionaryArray.from_arrays(codes.indices.fill_null(len(names) - 1), names)
