"""Pictures below a data set's root: which there are, and what tells that one has changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import UsageError
from ..images import Reason
from ..images.archive import leads_out
from ..images.reading import split_locator
from .block import Dataset
from .source import Skip

# File names that a folder's pictures have; other files are not looked at.
SUFFIXES = (
    *(".jpg", ".jpeg", ".jfif", ".png", ".webp", ".gif", ".bmp"),
    *(".tif", ".tiff", ".ppm", ".pgm", ".avif", ".jp2", ".mpo"),
)


def folder_of(path: Path) -> Path:
    """A folder of a data set as an absolute path.

    Raises:  UsageError when it is not there or no folder.
    """
    try:
        if path.is_dir():
            return path.resolve()
        problem = "is not a folder" if path.exists() else "does not exist"
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
    raise UsageError(f"{str(path)[:200]} {problem}")


def pictures_below(root: Path) -> Iterator[str | Skip]:
    """Paths of pictures relative to the root, with "/" between, sorted; or what is wrong with one.

    Hidden files and folders are passed over; links to folders are not entered.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder).relative_to(root)
        for name in folders:
            if (Path(folder) / name).is_symlink():
                yield Skip(item_id=_shown(below / name), reason=Reason.OUTSIDE, detail="a link to a folder")
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(SUFFIXES):
                continue
            path = (below / name).as_posix()
            fault = _fault(path)
            yield path if fault is None else Skip(item_id=_shown(below / name), reason=Reason.BAD_NAME, detail=fault)


def _fault(path: str) -> str | None:
    try:
        path.encode()
    except UnicodeEncodeError:
        return "the name is not UTF-8"
    return "the name reads as a member of an archive" if split_locator(path)[1] is not None else None


def _shown(path: Path) -> str:
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def fingerprint(block: Dataset, root: str | Path, locators: Iterable[str | None]) -> str:
    """SHA-256 of the files that locators name, as far as `image_fingerprint` asks."""
    digest = hashlib.sha256()
    previous = ""
    for locator in locators:
        digest.update(f"{locator}\0".encode())
        path = split_locator(locator)[0] if locator else ""
        # Neighbouring members are in one archive, which is looked at once.
        if path and path != previous and block.image_fingerprint != "names":
            digest.update(_state(os.path.join(root, path), path, block.image_fingerprint == "content"))
        previous = path
    return digest.hexdigest()


def _state(full: str, relative: str, has_content: bool) -> bytes:
    """Size and time of change of a file, or the hash of what it holds; b"-" where it cannot be read."""
    if leads_out(relative):
        return b"-"
    try:
        found = os.stat(full)
        if has_content and stat.S_ISREG(found.st_mode):
            with open(full, "rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        return f"{found.st_size} {found.st_mtime_ns}".encode()
    except (OSError, ValueError):
        return b"-"
