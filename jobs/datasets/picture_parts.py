"""A folder of pictures in parts: the driver counts pictures per folder, and whatever reads a part lists them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from .pictures import folder_at, is_text
from .source import Piece, Place, Skip

# Pictures of one part; one that has fewer is read by the driver.
PART_PICTURES = 25_000
# Folders that are listed at once: a shared file system answers each after milliseconds.
LOOKS_AT_ONCE = 16


def places(root: Path) -> tuple[Place, ...] | None:
    """Parts of the pictures below a folder, in the order in which they are read one after the other; None where the
    name of a folder is no text, as places are written down."""
    grouped: list[list[Piece]] = [[]]
    room = PART_PICTURES
    for below, count in _folder_counts(root):
        if not is_text(str(below)):
            return None
        start = 0
        while start < count:
            if not room:
                grouped.append([])
                room = PART_PICTURES
            stop = min(count, start + room)
            grouped[-1].append(Piece(path=root / below, start=start, stop=stop))
            room -= stop - start
            start = stop
    return tuple(Place(pieces=tuple(pieces)) for pieces in grouped)


def entries(root: Path, place: Place) -> Iterator[str | Skip]:
    """The pictures of a part by their paths below the root, or what is wrong with one."""
    for piece in place.pieces:
        folder = folder_at(root, PurePosixPath(piece.path.relative_to(root)))
        yield from folder.entries(piece.start, piece.stop)


def _folder_counts(root: Path) -> Iterator[tuple[PurePosixPath, int]]:
    """Every folder with how many pictures are in it, a folder before those within it."""
    known: dict[PurePosixPath, tuple[int, tuple[str, ...]]] = {}
    waiting = [PurePosixPath()]
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as threads:
        while waiting:
            found = threads.map(lambda below: _count_of_folder(root, below), waiting)
            level = dict(zip(waiting, found))
            known |= level
            waiting = [below / name for below, (_, folders) in level.items() for name in folders]
    waiting = [PurePosixPath()]
    while waiting:
        below = waiting.pop()
        count, folders = known[below]
        yield below, count
        waiting += (below / name for name in reversed(folders))


def _count_of_folder(root: Path, below: PurePosixPath) -> tuple[int, tuple[str, ...]]:
    folder = folder_at(root, below)
    return folder.count, folder.folders
