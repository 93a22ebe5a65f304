"""Copies of an object store's files on this machine: each is fetched once, and mapped by all processes that read it.

Copies of one root are in a folder of the machine's temporary folder. A process that uses it holds a shared lock on
it for as long as it lives, so that a folder without a living user is known: the last user removes it, and where that
was killed, the next run does.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import is_disk_full
from .disk import Entry

# The largest part of what is free in the temporary folder that copies may take.
SHARE_OF_FREE = 0.5
CHUNK_BYTES = 16 * 2**20
LOCK = ".lock"
USERS = f"users{LOCK}"
# Folders that this process uses, by root, with the open file that holds the lock; and copies that it has used.
_used: dict[str, tuple[Path, IO[bytes]]] = {}
_known: dict[tuple[str, str], Path] = {}


def node_copy(root: str, name: str, entry: Callable[[str], Entry | None], opened: Callable[[str], Any]) -> Path | None:
    """A local copy of a file below a root; None where the temporary folder has no room for it.

    entry, opened: the file's size and stamp in the store, and the file itself, open for reading bytes. A unit's files
    never change, so that a process asks for them once.
    Raises:  FileNotFoundError where the store has no such file.
    """
    copy = _known.get((root, name))
    if copy is not None:
        with contextlib.suppress(FileNotFoundError):
            os.utime(copy)
            return copy
    found = entry(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{root}/{name}")
    folder = _folder_of(root)
    copy = folder / hashlib.sha256(f"{name}\n{found.bytes}\n{found.stamp}".encode()).hexdigest()
    with _locked(folder / f"{copy.name}{LOCK}", fcntl.LOCK_EX):
        if copy.exists():
            os.utime(copy)
        elif not _has_room(folder, found.bytes) or not _is_fetched(name, found.bytes, opened, copy):
            return None
    _known[root, name] = copy
    return copy


def remove_copies(root: str) -> None:
    """Remove this machine's copies of a root's files; what is mapped stays readable until its process ends."""
    folder, users = _used.pop(root, (_folder_name(root), None))
    if users is not None:
        users.close()
    shutil.rmtree(folder, ignore_errors=True)


def remove_unused() -> None:
    """Remove the copies that no living process uses."""
    for folder in _copies_folder().glob("*"):
        with contextlib.suppress(OSError), _locked(folder / USERS, fcntl.LOCK_EX | fcntl.LOCK_NB, is_new=False):
            shutil.rmtree(folder, ignore_errors=True)


def _folder_of(root: str) -> Path:
    """The folder of a root's copies, which this process uses from now on."""
    folder, users = _used.get(root, (None, None))
    if folder is not None and users is not None and folder.exists():
        return folder
    if not _used:
        remove_unused()
        atexit.register(_release_copies)
    folder = _folder_name(root)
    while True:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            users = (folder / USERS).open("ab")
            fcntl.flock(users, fcntl.LOCK_SH)
            # Another process may have removed the folder before the lock was this one's.
            if os.fstat(users.fileno()).st_ino == (folder / USERS).stat().st_ino:
                _used[root] = folder, users
                return folder


def _copies_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"mpr-audit-copies-{os.getuid()}"


def _folder_name(root: str) -> Path:
    return _copies_folder() / hashlib.sha256(root.encode()).hexdigest()[:16]


def _release_copies() -> None:
    """At the end of this process."""
    for _, users in _used.values():
        users.close()
    remove_unused()


@contextlib.contextmanager
def _locked(path: Path, how: int, *, is_new: bool = True) -> Iterator[None]:
    with path.open("ab" if is_new else "rb") as lock:
        fcntl.flock(lock, how)
        yield


def _has_room(folder: Path, size: int) -> bool:
    """Whether a file fits, after the copies that were used longest ago have gone where need be."""
    copies = []
    for path in folder.iterdir():
        if path.suffix != LOCK:
            with contextlib.suppress(FileNotFoundError):  # another process has removed it since
                status = path.stat()
                copies.append((status.st_mtime, status.st_size, path))
    taken = sum(held for _, held, _ in copies)
    most = SHARE_OF_FREE * (shutil.disk_usage(folder).free + taken)
    if size > most:
        return False
    for _, held, path in sorted(copies):
        if taken + size <= most:
            break
        taken -= held
        path.unlink(missing_ok=True)
    return True


def _is_fetched(name: str, size: int, opened: Callable[[str], Any], copy: Path) -> bool:
    """Fetch a file; False where the disk is full."""
    temporary = copy.with_suffix(f".{uuid.uuid4().hex}")
    try:
        with opened(name) as source, temporary.open("wb") as target:
            shutil.copyfileobj(source, target, CHUNK_BYTES)
        if temporary.stat().st_size != size:
            raise OSError(f"{name}: {temporary.stat().st_size:,} bytes were read, {size:,} are there")
        temporary.rename(copy)
    except OSError as error:
        if not is_disk_full(error):
            raise
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True
