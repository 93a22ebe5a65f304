"""Pictures below a data set's root: which there are, and what tells that one has changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder below a root by its path from there: its own pictures by name, sorted, with links to folders before
    them, and the folders in it that are entered, sorted."""

    below: PurePosixPath
    links: tuple[str, ...]
    names: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def count(self) -> int:
        """Pictures and links."""
        return len(self.links) + len(self.names)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[str | Skip]:
        """Paths relative to the root, with "/" between, of some of them; or what is wrong with one."""
        links = len(self.links)
        for place, name in list(enumerate((*self.links, *self.names)))[start:stop]:
            path = (self.below / name).as_posix()
            if place < links:
                yield Skip(item_id=_printable_name(path), reason=Reason.OUTSIDE, detail="a link to a folder")
                continue
            fault = _name_fault(path)
            yield path if fault is None else Skip(item_id=_printable_name(path), reason=Reason.BAD_NAME, detail=fault)


def folder_at(root: Path, below: PurePosixPath) -> Folder:
    """What a folder holds: hidden files and folders are passed over, links to folders are not entered. One that cannot
    be listed holds nothing."""
    links: list[str] = []
    names: list[str] = []
    folders: list[str] = []
    with suppress(OSError), os.scandir(root / below) as found:
        for entry in found:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                (links if entry.is_symlink() else folders).append(entry.name)
            elif entry.name.lower().endswith(SUFFIXES):
                names.append(entry.name)
    return Folder(below, *(tuple(sorted(found)) for found in (links, names, folders)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def pictures_below(root: Path) -> Iterator[str | Skip]:
    """Paths of all pictures below a folder, sorted within each, or what is wrong with one."""
    waiting = [PurePosixPath()]
    while waiting:
        folder = folder_at(root, waiting.pop())
        yield from folder.entries()
        waiting += (folder.below / name for name in reversed(folder.folders))


def _name_fault(path: str) -> str | None:
    if not is_text(path):
        return "the name is not UTF-8"
    return "the name reads as a member of an archive" if split_locator(path)[1] is not None else None


def is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8: those of files may hold any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable_name(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


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
