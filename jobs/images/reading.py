"""A picture's bytes by its place below the data set's root; nothing outside the root is ever opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .archive import leads_out, read_member
from .errors import ImageError, Reason
from .limits import ImageLimits

# In a locator, what is between an archive and its member: "shard.tar::000017.jpg".
ARCHIVE_SUFFIX = ".tar"
MEMBER = "::"


def read_image(root: str | Path, locator: str | None, limits: ImageLimits) -> bytes:
    """The bytes that a catalogue's `image` names: a path relative to the root, or `archive.tar::member`.

    Raises:  ImageError with the reason, also for absolute paths, `..`, and links that leave the root.
    """
    if not locator:
        raise ImageError(Reason.NO_IMAGE)
    relative, member = split_locator(locator)
    path = _path_inside(str(root), relative)
    try:
        if member is not None:
            return read_member(path, member, limits.max_megabytes * 1e6)
        return _read_file(path, limits.max_megabytes * 1e6)
    except (FileNotFoundError, NotADirectoryError):
        raise ImageError(Reason.MISSING, locator) from None
    except OSError as error:
        raise ImageError(Reason.UNREADABLE, error.strerror or str(error)) from None


def split_locator(locator: str) -> tuple[str, str | None]:
    """The file's path, and the member's name where the file is an archive."""
    archive, is_member, member = locator.partition(ARCHIVE_SUFFIX + MEMBER)
    return (archive + ARCHIVE_SUFFIX, member) if is_member else (locator, None)


def _path_inside(root: str, relative: str) -> str:
    """The real path of a relative one, links followed, if it is below the root."""
    if "\0" in relative or os.path.isabs(relative) or leads_out(relative):
        raise ImageError(Reason.OUTSIDE, relative)
    base = os.path.realpath(root)
    try:
        path = os.path.realpath(os.path.join(base, relative))
    except (OSError, ValueError) as error:
        raise ImageError(Reason.UNREADABLE, str(error)) from None
    if os.path.commonpath([base, path]) != base:
        raise ImageError(Reason.OUTSIDE, f"{relative} is a link to {path}")
    return path


def _read_file(path: str, most_bytes: float) -> bytes:
    # A pipe would wait for its writer for ever, and a link may have been put there since the path was looked at.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise ImageError(Reason.NOT_REGULAR)
        if found.st_size > most_bytes:
            raise ImageError(Reason.TOO_LARGE, f"{found.st_size:,} bytes")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)
