"""The run's folder: files appear whole or not at all, and a receipt says which unit wrote them.

Commit protocol: each file is written under a temporary name, flushed to disk and renamed (on an
object store: one PUT); the unit's receipt, with rows, bytes and SHA-256 of its files, comes last.
A unit without a valid receipt was never done. Paths are relative to the root, with "/" between.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from jobs.errors import UsageError

# Stages whose tables are mapped, not decoded: uncompressed Arrow files, one record batch each.
MAPPED_STAGES = {"embed"}
MAPPED_SUFFIX = ".arrow"
# Marks files that were being written when their process died.
TEMPORARY = ".tmp-"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReceipt:
    """What one committed file holds."""

    rows: int
    bytes: int
    sha256: str
    schema_sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A finished unit. `seconds` is its computing time."""

    stage: str
    key: str
    title: str
    files: Mapping[str, FileReceipt]
    seconds: float

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt of a line that `to_json` wrote."""
        raw = json.loads(text)
        raw["files"] = {name: FileReceipt(**file) for name, file in raw["files"].items()}
        return cls(**raw)


class Store:
    """Files under one root, a local path or an fsspec URL.

    Raises:  UsageError when the root cannot be reached.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._is_local = "://" not in root or root.startswith("file://")
        try:
            if self._is_local:
                self.root = str(Path(root.removeprefix("file://")).absolute())
                self._files, self._base = fsspec.filesystem("file"), self.root
            else:
                self._files, self._base = fsspec.core.url_to_fs(root)
        except (ImportError, ValueError) as error:
            raise UsageError(f"output {root}: {error}") from None

    def prepare(self) -> None:
        """Make sure that files can be written.

        Raises:  UsageError naming the root for one that is a file, or cannot be written.
        """
        probe = f"probe{TEMPORARY}{uuid.uuid4().hex}"
        try:
            self.write(probe, b"")
            self.delete(probe)
        except OSError as error:
            raise UsageError(f"output {self.root} cannot be written: {error.strerror or error}") from None

    def path(self, name: str) -> str:
        """Full path of a name below the root."""
        return f"{self._base}/{name}"

    def exists(self, name: str) -> bool:
        """Whether the file is there."""
        return self._files.exists(self.path(name))

    def size(self, name: str) -> int:
        """Bytes of a file."""
        return self._files.size(self.path(name))

    def holds(self, name: str, size: int, sha256: str) -> bool:
        """Whether the file has that size and content; False where it cannot be read."""
        try:
            if self.size(name) != size:
                return False
            with self._files.open(self.path(name), "rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
        except OSError:
            return False

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        return self._files.cat_file(self.path(name))

    def read_json(self, name: str) -> Any:
        """A JSON file's content; None when there is no such file, or one that was cut."""
        try:
            return json.loads(self.read(name)) if self.exists(name) else None
        except ValueError:
            return None

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Put a whole file in place, or leave what was there."""
        path = self.path(name)
        if not self._is_local:
            self._files.pipe_file(path, bytes(data))
            return
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}{TEMPORARY}{uuid.uuid4().hex}")
        try:
            with temporary.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def write_json(self, name: str, value: Any) -> None:
        """A JSON file, sorted keys, readable."""
        self.write(name, (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())

    def list(self, folder: str) -> list[str]:
        """Names below the root of the files in a folder, sorted; none where there is no folder."""
        if not self._files.exists(self.path(folder)):
            return []
        names = self._files.find(self.path(folder), detail=False)
        # A filesystem names files with or without its protocol and leading slash; the folder stands in all.
        prefix = names[0].index(self._base.strip("/")) + len(self._base.strip("/")) + 1 if names else 0
        return sorted(name[prefix:] for name in names if TEMPORARY not in name)

    def delete(self, name: str) -> None:
        """Remove a file if it is there."""
        if self.exists(name):
            self._files.rm_file(self.path(name))

    def read_table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """A Parquet file."""
        return pq.read_table(io.BytesIO(self.read(name)), columns=columns)

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
        """A mapped stage's table: a local file costs no memory but the pages that are looked at."""
        source = pa.memory_map(self.path(name)) if self._is_local else pa.BufferReader(self.read(name))
        return pa.ipc.open_file(source).read_all()

    def parquet(self, name: str) -> pq.ParquetFile:
        """A Parquet file to read in parts; local files are mapped, not loaded."""
        if self._is_local:
            return pq.ParquetFile(self.path(name), memory_map=True)
        return pq.ParquetFile(self._files.open(self.path(name), "rb"))

    def write_table(self, name: str, table: pa.Table, rows_per_group: int | None = None) -> FileReceipt:
        """A Parquet file (Arrow where its name says so), and what its receipt says."""
        buffer = pa.BufferOutputStream()
        if name.endswith(MAPPED_SUFFIX):
            with pa.ipc.new_file(buffer, table.schema) as writer:
                writer.write_table(table.combine_chunks())
        else:
            pq.write_table(table, buffer, compression="zstd", row_group_size=rows_per_group)
        data = memoryview(buffer.getvalue())
        self.write(name, data)
        return FileReceipt(
            rows=table.num_rows,
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            schema_sha256=hashlib.sha256(table.schema.serialize().to_pybytes()).hexdigest(),
        )


def unit_file(stage: str, key: str, name: str) -> str:
    """Where a unit's table lies."""
    return f"units/{stage}/{key}/{name}{MAPPED_SUFFIX if stage in MAPPED_STAGES else '.parquet'}"


def receipt_file(stage: str, key: str) -> str:
    """Where a unit's receipt lies."""
    return f"receipts/{stage}/{key}.json"


def failure_file(stage: str, key: str) -> str:
    """Where the last failure of a unit is kept until the unit succeeds."""
    return f"failures/{stage}/{key}.json"


def valid_receipt(store: Store, stage: str, key: str) -> Receipt | None:
    """The unit's receipt if it can be read and its files hold the bytes that it states."""
    try:
        receipt = Receipt.from_json(store.read(receipt_file(stage, key)).decode())
        for name, file in receipt.files.items():
            if not store.holds(unit_file(stage, key, name), file.bytes, file.sha256):
                return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return receipt
