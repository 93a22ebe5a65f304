"""Columns in one piece, without a copy where they are in one.

Arrow's `combine_chunks` copies a single chunk as well: of a mapped file that reads all of it into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def in_one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column as one array; a view of its only chunk where it has one."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def table_in_one(table: pa.Table) -> pa.Table:
    """The table with one chunk a column."""
    import pyarrow as pa

    return pa.Table.from_arrays([in_one(column) for column in table.columns], schema=table.schema)
