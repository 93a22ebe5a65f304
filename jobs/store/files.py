"""Files under one root: a local folder (NFS too) or an object store by its fsspec URL."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fsspec

from ..errors import UsageError
from . import disk, node_copies, remote
from .disk import TEMPORARY, Entry
from .hashed_stream import HashedStream
from .tables import Tables

# A small file of a finished run: reading it shows whether the root can be read.
SMALL = "_SUCCESS"


class Store(Tables):
    """Files under one root, a local path or an fsspec URL.

    is_durable: a local file is flushed to disk, with its folder, before anything refers to it.
    options: of the file system, over those of fsspec's own configuration. A pickled store,
    as workers get it, has its address and options, but no keys and tokens. named: what messages call it.
    Raises:  UsageError when the root cannot be reached.
    """

    def __init__(
        self, root: str, *, is_durable: bool = True, options: Mapping[str, Any] | None = None, named: str = "output"
    ) -> None:
        self.root = root
        self._named = named
        self.is_durable = is_durable
        self.is_local = "://" not in root or root.startswith("file://")
        self._options = dict(options) if options is not None else remote.configured_options(root)
        try:
            if self.is_local:
                self.root = str(Path(root.removeprefix("file://")).absolute())
                self._files, self._base = fsspec.filesystem("file"), self.root
            else:
                # A cached listing does not show what another process has written since.
                self._files, self._base = fsspec.core.url_to_fs(root, use_listings_cache=False, **self._options)
                self._base = self._base.rstrip("/")
                self.root = root.rstrip("/")
                if not self._base:
                    raise ValueError("a bucket or a folder is expected after ://")
        except (ImportError, ValueError) as error:
            raise UsageError(f"{named} {root}: {error}") from None

    @property
    def options(self) -> dict[str, Any]:
        """Of the file system, as another process needs them; none for a local one."""
        return {} if self.is_local else dict(self._options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.root, self.is_durable, self.options)

    def prepare(self) -> None:
        """Make sure that files can be written.

        Raises:  UsageError naming the root for one that is a file, or cannot be written.
        """
        test_file = f"test{TEMPORARY}{uuid.uuid4().hex}"
        try:
            self.write(test_file, b"")
            self.delete(test_file)
        except Exception as error:  # noqa: BLE001 - every driver has kinds of its own
            raise UsageError(f"{self._named} {self.root} cannot be written: {_reason(error)}") from None

    def readable(self) -> Store:
        """This store, after a check that it can be read; it may still be empty.

        Raises:  UsageError naming the root for one that cannot.
        """
        try:
            if self.is_local:
                os.scandir(self.root).close()
            else:
                self._files.cat_file(self.path(SMALL))
        except FileNotFoundError:
            pass
        except Exception as error:  # noqa: BLE001 - every driver has kinds of its own
            raise UsageError(f"{self.root} cannot be read: {_reason(error)}") from None
        return self

    def path(self, name: str) -> str:
        """Full path of a name below the root, for opening it."""
        return f"{self._base}/{name}"

    def address(self, name: str) -> str:
        """The same for people: with the protocol of an object store."""
        return f"{self.root}/{name}"

    def exists(self, name: str) -> bool:
        """Whether the file is there."""
        return bool(self._files.exists(self.path(name)))

    def size(self, name: str) -> int:
        """Bytes of a file."""
        return int(self._files.size(self.path(name)))

    def entry(self, name: str) -> Entry | None:
        """Size and stamp of a file; None where there is none."""
        if not self.is_local:
            return remote.entry(self._files, self.path(name))
        try:
            return disk.entry_of(os.stat(self.path(name)))
        except OSError:
            return None

    def entries(self, folder: str) -> dict[str, Entry]:
        """Every file below a folder by its name below the root, temporary ones included, in one listing."""
        if self.is_local:
            return dict(disk.walk(self.path(folder), folder))
        return remote.entries(self._files, self._base, self.path(folder))

    def list(self, folder: str) -> list[str]:
        """Names below the root of the files in a folder, sorted; none where there is no folder."""
        return sorted(name for name in self.entries(folder) if TEMPORARY not in name)

    def digest(self, name: str) -> str:
        """SHA-256 of a file."""
        with self.opened(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def holds(self, name: str, size: int, sha256: str) -> bool:
        """Whether the file has that size and content; False where it cannot be read."""
        try:
            return self.size(name) == size and self.digest(name) == sha256
        except OSError:
            return False

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        if self.is_local:
            with open(self.path(name), "rb") as stream:
                return stream.read()
        return bytes(self._files.cat_file(self.path(name)))

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Bytes [start, stop) of a file, for each range; fewer where the file ends before."""
        if not self.is_local:
            path = self.path(name)
            starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
            found = self._files.cat_ranges([path] * len(ranges), starts, stops, on_error="raise")
            return [bytes(one) for one in found]
        with open(self.path(name), "rb") as stream:
            return [os.pread(stream.fileno(), stop - start, start) for start, stop in ranges]

    def opened(self, name: str) -> Any:
        """A file, open for reading bytes."""
        return self._files.open(self.path(name), "rb")

    def node_copy(self, name: str) -> Path | None:
        """This machine's copy of an object store's file; None where there is no room for one."""
        return node_copies.node_copy(self.root, name, self.entry, self.opened)

    def remove_node_copies(self) -> None:
        """Remove this machine's copies."""
        if not self.is_local:
            node_copies.remove_copies(self.root)

    def read_many(self, names: Sequence[str]) -> dict[str, bytes]:
        """All bytes of many small files by name, at once where that is faster; what cannot be read is left out."""
        if not self.is_local:
            paths = {self.path(name): name for name in names}
            found = self._files.cat(list(paths), on_error="omit") if paths else {}
            return {name: found[path] for path, name in paths.items() if path in found}
        contents = {}
        for name in names:
            with suppress(OSError):
                contents[name] = self.read(name)
        return contents

    def read_json(self, name: str) -> Any:
        """A JSON file's content; None when there is no such file, or one that was cut."""
        try:
            return json.loads(self.read(name))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def write(self, name: str, data: bytes | memoryview) -> str | None:
        """Put a whole file in place, or leave what was there. Returns its stamp."""
        if self.is_local:
            return disk.put(Path(self.path(name)), data, self.is_durable)
        return remote.put(self._files, self.path(name), data)

    @contextmanager
    def writing(self, name: str) -> Iterator[HashedStream]:
        """A file to write in parts: at the end it is in place whole, or what was there stays."""
        path = self.path(name)
        putting = disk.putting(Path(path), self.is_durable) if self.is_local else remote.putting(self._files, path)
        with putting as stream:
            yield HashedStream(stream)

    def create(self, name: str, data: bytes) -> bool:
        """Put a whole file in place where there is none. Returns whether there was none.

        On object stores by a conditional PUT. Where there is none, it checks first, and two writers at the
        same moment may both succeed.
        """
        if self.is_local:
            return disk.create(Path(self.path(name)), data, self.is_durable)
        return remote.create(self._files, self.path(name), data)

    def write_json(self, name: str, value: Any) -> None:
        """A JSON file, sorted keys, readable."""
        self.write(name, (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())

    def delete(self, name: str) -> None:
        """Remove a file if it is there."""
        try:
            if self.is_local:
                os.unlink(self.path(name))
            elif self.exists(name):
                self._files.rm_file(self.path(name))
        except (FileNotFoundError, NotADirectoryError):
            pass

    def delete_empty_folders(self, folder: str) -> None:
        """Remove the folders below a folder that hold no file; object stores have none."""
        if self.is_local:
            disk.remove_empty_folders(self.path(folder))


def _reason(error: Exception) -> str:
    """A file system's error, on one line."""
    return " ".join(str(getattr(error, "strerror", None) or error or type(error).__name__).split())


def _rebuilt(root: str, is_durable: bool, options: Mapping[str, Any]) -> Store:
    return Store(root, is_durable=is_durable, options=options)
