"""Parquet: columns keep their types; `values` says what text or number each value is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..words import numbered
from .table_fault import TableFault, expect_columns

# What Arrow raises for damaged files: its own errors, those of Python for the same, and too large numbers.
FAULTS = (pa.ArrowException, ValueError, OverflowError, MemoryError, KeyError, TypeError)


# Rows that are decoded together where not all of a row group are wanted.
BATCH_ROWS = 65_536


def names(path: Path) -> list[str]:
    """Names of the columns.

    Raises:  OSError, TableFault.
    """
    try:
        return list(pq.read_schema(path).names)
    except FAULTS as error:
        raise TableFault(error) from None


def group_sizes(path: Path, columns: Collection[str]) -> list[tuple[int, float]]:
    """Rows of each row group, and bytes that these columns have there when they are not compressed.

    Raises:  OSError, TableFault.
    """
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            # A list's numbers are a column below it.
            places = [place for place in range(file.metadata.num_columns) if _top_level_column(file, place) in columns]
            groups = (file.metadata.row_group(group) for group in range(file.num_row_groups))
            return [
                (group.num_rows, float(sum(group.column(place).total_uncompressed_size for place in places)))
                for group in groups
            ]
    except FAULTS as error:
        raise TableFault(error) from None


def _top_level_column(file: pq.ParquetFile, place: int) -> str:
    """The column of the table that a column of the file belongs to; its name may have points of its own."""
    path: str = file.metadata.schema.column(place).path
    names = file.schema_arrow.names
    return next((name for name in names if path == name or path.startswith(f"{name}.")), path)


def read(path: Path, columns: Sequence[str], start: int = 0, stop: int | None = None) -> pa.Table:
    """These columns, whole and valid; of rows [start, stop) alone where stop is given.

    Raises:  OSError, TableFault.
    """
    try:
        with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
            expect_columns(columns, file.schema_arrow.names)
            found = file.read(columns=list(columns)) if stop is None else _rows(file, columns, start, stop)
            # Of a column "person.name" Arrow also gives the field `name` of a column `person`.
            table = found.select(list(columns))
        for column in table.columns:
            # Arrow does not look at what a file calls UTF-8.
            column.validate(full=True)
    except FAULTS as error:
        raise TableFault(error) from None
    return table


def _rows(file: pq.ParquetFile, columns: Sequence[str], start: int, stop: int) -> pa.Table:
    """Rows [start, stop); of row groups that hold others too, a batch is in memory at a time."""
    edges = [0, *accumulate(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))]
    groups = [group for group, (low, high) in enumerate(pairwise(edges)) if high > start and low < stop]
    at, kept = edges[groups[0]] if groups else 0, []
    for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=list(columns)):
        if at >= stop:
            break
        low, high = max(start - at, 0), min(stop - at, batch.num_rows)
        if low < high:
            kept.append(batch.slice(low, high - low))
        at += batch.num_rows
    if sum(batch.num_rows for batch in kept) != stop - start:
        raise TableFault(
            f"it has {numbered(edges[-1], 'row')}, and row {stop:,} is expected: it changed while it was read"
        )
    return pa.Table.from_batches(kept) if kept else file.schema_arrow.empty_table()
