"""Tables of a store: Parquet files, and Arrow files that are mapped instead of decoded.

pyarrow is imported by the methods that need it: reading receipts and plans does not need it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .chunks import table_in_one
from .places import MAPPED_SUFFIX
from .receipts import FileReceipt

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


# Up to so many rows a dictionary of a column's values takes more than it spares.
FEW_ROWS = 20


class Tables(ABC):
    """Reads and writes tables through the bytes of files below one root."""

    is_local: bool

    @abstractmethod
    def path(self, name: str) -> str:
        """Full path of a name below the root."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """All bytes of a file."""

    @abstractmethod
    def write(self, name: str, data: bytes | memoryview) -> str | None:
        """Put a whole file in place, or leave what was there. Returns its stamp."""

    @abstractmethod
    def node_copy(self, name: str) -> Path | None:
        """This machine's copy of an object store's file; None where there is no room for one."""

    @abstractmethod
    def opened(self, name: str) -> Any:
        """A file, open for reading bytes."""

    def read_table(
        self, name: str, columns: list[str] | None = None, dictionaries: Sequence[str] | None = None
    ) -> pa.Table:
        """A Parquet file. dictionaries: columns of text to have as dictionaries, where few values repeat."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        # `pq.read_table` goes through a data set of one file, which takes as long as the file again.
        source = pa.BufferReader(self.read(name))
        file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=dictionaries)
        # Whoever reads has one core.
        return file.read(columns=columns, use_threads=False)

    def read_rows(self, name: str, start: int, stop: int, columns: list[str] | None = None) -> pa.Table:
        """Rows [start, stop) of a Parquet file; only the row groups that hold them are read."""
        file = self.parquet(name)
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        ends = list(accumulate(sizes))
        groups = [group for group, end in enumerate(ends) if end > start and end - sizes[group] < stop]
        if not groups:
            return file.schema_arrow.empty_table().select(columns or file.schema_arrow.names)
        first = ends[groups[0]] - sizes[groups[0]]
        return file.read_row_groups(groups, columns=columns).slice(start - first, stop - start)

    def map_table(self, name: str) -> pa.Table:
        """A mapped stage's table: it costs no memory but the pages that are read.

        An object store's file is fetched once per machine, or read where that has no room for a copy.
        """
        import pyarrow as pa
        import pyarrow.ipc

        path = self.path(name) if self.is_local else self.node_copy(name)
        source = pa.BufferReader(self.read(name)) if path is None else pa.memory_map(str(path))
        return pyarrow.ipc.open_file(source).read_all()

    def parquet(self, name: str) -> pq.ParquetFile:
        """A Parquet file to read in parts; local files are mapped, not loaded."""
        import pyarrow.parquet as pq

        if self.is_local:
            return pq.ParquetFile(self.path(name), memory_map=True, page_checksum_verification=True)
        return pq.ParquetFile(self.opened(name), page_checksum_verification=True)

    def write_table(
        self, name: str, table: pa.Table, rows_per_group: int | None = None, encodings: Mapping[str, str] | None = None
    ) -> FileReceipt:
        """A Parquet file (Arrow where its name says so), and the facts for its receipt.

        encodings: Parquet's encodings by column's path, of those columns that the table has.
        """
        data, schema = (
            arrow_file(table) if name.endswith(MAPPED_SUFFIX) else _parquet_file(table, rows_per_group, encodings or {})
        )
        stamp = self.write(name, data)
        return FileReceipt(
            rows=table.num_rows,
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            schema_sha256=schema_digest(schema),
            stamp=stamp,
        )


def _paths(schema: pa.Schema) -> list[str]:
    """Parquet's names of a table's columns, those within lists and structs too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), buffer)
    columns = pq.ParquetFile(pa.BufferReader(buffer.getvalue())).schema
    return [columns.column(place).path for place in range(len(columns.names))]


@lru_cache(maxsize=64)
def _as_read(serialized: bytes) -> tuple[pa.Schema, bool]:
    """What a reader sees of a schema, and whether Parquet's own types say all of that: Arrow's, beside them, would be a
    third of a small file.

    Names of lists' elements are Parquet's own in either case. serialized: schemas are equal whatever their metadata.
    """
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    schema = pa.ipc.read_schema(pa.py_buffer(serialized))

    def read_back(*, store_schema: bool) -> pa.Schema:
        buffer = pa.BufferOutputStream()
        pq.write_table(schema.empty_table(), buffer, store_schema=store_schema)
        return pq.read_schema(pa.BufferReader(buffer.getvalue()))

    seen = read_back(store_schema=True)
    return seen, bool(read_back(store_schema=False).equals(seen, check_metadata=True))


def schema_digest(schema: pa.Schema) -> str:
    """SHA-256 of a table's columns and their types."""
    return hashlib.sha256(schema.serialize().to_pybytes()).hexdigest()


def arrow_file(table: pa.Table) -> tuple[memoryview, pa.Schema]:
    """The bytes of a table's file of one record batch, and its schema."""
    import pyarrow as pa
    import pyarrow.ipc

    buffer = pa.BufferOutputStream()
    with pyarrow.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table_in_one(table))
    return memoryview(buffer.getvalue()), table.schema


def _parquet_file(
    table: pa.Table, rows_per_group: int | None, encodings: Mapping[str, str]
) -> tuple[memoryview, pa.Schema]:
    """The bytes of a table's file, and its schema as a reader will see it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # What columns say of themselves is for who reads a run's collected tables; a unit's would be mostly that.
    plain = pa.schema([one.remove_metadata() for one in table.schema], table.schema.metadata)
    table = pa.Table.from_arrays(table.columns, schema=plain)
    seen, is_said_by_parquet = _as_read(plain.serialize().to_pybytes())
    buffer = pa.BufferOutputStream()
    # A flipped bit is then an error where the page is read, not a wrong number.
    pq.write_table(
        table,
        buffer,
        compression="zstd",
        row_group_size=rows_per_group,
        write_page_checksum=True,
        # Nobody looks for rows by value.
        write_statistics=False,
        store_schema=not is_said_by_parquet,
        # A column has either a dictionary or another encoding.
        use_dictionary=[path for path in _paths(table.schema) if path not in encodings]
        if encodings
        else table.num_rows > FEW_ROWS,
        column_encoding=dict(encodings) or None,
    )
    return memoryview(buffer.getvalue()), seen
