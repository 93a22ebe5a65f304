"""Parquet: columns keep their types; `values` says what text or number each value is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.datasets.table_fault import TableFault, expect_columns

# What Arrow raises for damaged files: its own errors, those of Python for the same, and too large numbers.
FAULTS = (pa.ArrowException, ValueError, OverflowError, MemoryError, KeyError, TypeError)


def names(path: Path) -> list[str]:
    """Names of the columns.

    Raises:  OSError, TableFault.
    """
    try:
        return list(pq.read_schema(path).names)
    except FAULTS as error:
        raise TableFault(error) from None


def read(path: Path, columns: Sequence[str]) -> pa.Table:
    """These columns, whole and valid.

    Raises:  OSError, TableFault.
    """
    try:
        with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
            expect_columns(columns, file.schema_arrow.names)
            # Of a column "person.name" Arrow also gives the field `name` of a column `person`.
            table = file.read(columns=list(columns)).select(list(columns))
        for column in table.columns:
            # Arrow does not look at what a file calls UTF-8.
            column.validate(full=True)
    except FAULTS as error:
        raise TableFault(error) from None
    return table
