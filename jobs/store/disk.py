"""Files of a local or shared folder: written whole or not at all, and flushed to disk before they are referred to."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Marks files that were being written when their process died.
TEMPORARY = ".tmp-"
# Error numbers for a folder that does not exist, or cannot.
NO_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as a listing shows it. stamp changes when the file does; None where a store has none."""

    bytes: int
    stamp: str | None


def put(target: Path, data: bytes | memoryview, is_durable: bool) -> str | None:
    """Write a whole file, or leave what was there. Returns the file's stamp."""
    with putting(target, is_durable) as stream:
        stream.write(data)
        stream.flush()
        return entry_of(os.fstat(stream.fileno())).stamp


@contextmanager
def putting(target: Path, is_durable: bool) -> Iterator[IO[bytes]]:
    """Write under a temporary name; at the end flush, rename, flush the folder, or leave what was there."""
    _make_folder(target.parent, is_durable)
    temporary = target.with_name(f"{target.name}{TEMPORARY}{uuid.uuid4().hex}")
    try:
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            if is_durable:
                os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if is_durable:
        flush_folder(target.parent)


def create(target: Path, data: bytes, is_durable: bool) -> bool:
    """Write under a temporary name and link it where there is no file; False where there is one."""
    temporary = target.with_name(f"{target.name}{TEMPORARY}{uuid.uuid4().hex}")
    put(temporary, data, is_durable)
    try:
        # Unlike an exclusive open, a link appears with its content, and on every version of NFS once.
        os.link(temporary, target)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    if is_durable:
        flush_folder(target.parent)
    return True


def entry_of(status: os.stat_result) -> Entry:
    """Size, and nanoseconds of the last change."""
    return Entry(status.st_size, str(status.st_mtime_ns))


def walk(folder: str, name: str) -> Iterator[tuple[str, Entry]]:
    """All files below a folder, named from `name` on; nothing where there is no folder."""
    try:
        with os.scandir(folder) as found:
            items = list(found)
    except OSError as error:
        if error.errno not in NO_FOLDER:
            raise
        return
    for item in items:
        below = f"{name}/{item.name}" if name else item.name
        if item.is_dir(follow_symlinks=False):
            yield from walk(item.path, below)
            continue
        try:
            yield below, entry_of(item.stat())
        except FileNotFoundError:  # another process has removed it since
            continue


def remove_empty_folders(folder: str) -> None:
    """Remove the folders below one that hold nothing."""
    for below, _, _ in os.walk(folder, topdown=False):
        if below != folder:
            with suppress(OSError):  # it holds something
                os.rmdir(below)


def flush_folder(folder: Path) -> None:
    """A rename is on disk only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_folder(folder: Path, is_durable: bool) -> None:
    """A folder and those above it, each flushed into the one that holds it."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent, is_durable)
    folder.mkdir(exist_ok=True)
    if is_durable:
        flush_folder(folder.parent)
