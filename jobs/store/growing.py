"""Tables that are written in parts, so that they need not fit into memory."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .files import Store
from .receipts import FileReceipt
from .tables import schema_digest

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


class GrowingTable:
    """Parquet files FOLDER/part-NNNNN.parquet of about that many rows each; what is added is a row group.

    files: what each finished file holds, by its name below the root. A file is in place once it is full, or at the end.
    """

    def __init__(self, store: Store, folder: str, schema: pa.Schema, rows_per_file: int) -> None:
        self._store, self._folder, self._schema, self._most = store, folder, schema, rows_per_file
        self._open: ExitStack | None = None
        self._rows = 0
        self.files: dict[str, FileReceipt] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            # While its file is still open: a writer that is left alone writes its end later.
            self._writer.close()
            self._open.__exit__(kind, error, trace)

    def add(self, rows: pa.Table) -> None:
        """Append a row group; a table without rows is nothing."""
        if not rows.num_rows:
            return
        if self._open is None:
            self._begin_file()
        self._writer.write_table(rows.cast(self._schema), row_group_size=rows.num_rows)
        self._rows += rows.num_rows
        if self._rows >= self._most:
            self.finish()

    def finish(self) -> None:
        """Put the open file in place; a table without rows is one file without rows."""
        if self._open is None and not self.files:
            self._begin_file()
        if self._open is not None:
            self._writer.close()
            stack, self._open = self._open, None
            stack.close()
            # As a reader will see it: Parquet names the elements of lists in its own way.
            schema = self._store.parquet(self._name).schema_arrow
            self.files[self._name] = FileReceipt(
                rows=self._rows,
                bytes=self._stream.bytes,
                sha256=self._stream.sha256,
                schema_sha256=schema_digest(schema),
            )

    def _begin_file(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._name = f"{self._folder}/part-{len(self.files):05d}.parquet"
        self._rows = 0
        with ExitStack() as stack:
            self._stream = stack.enter_context(self._store.writing(self._name))
            self._writer: pq.ParquetWriter = pq.ParquetWriter(
                pa.PythonFile(self._stream, mode="w"), self._schema, compression="zstd", write_page_checksum=True
            )
            self._open = stack.pop_all()
