"""What earlier commands have found in the parts of large data sets, kept in the user's cache folder.

A part is known by its files' sizes, inodes and times of change, and by the settings that read it. Of a file's two times
programs can set one back, and the system alone the other (`ctime`): both count. A part whose file changed just before
it was read is not remembered, since another change within the clock's steps would not show.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..store.keys import digest
from ..store.user_cache import user_cache
from .part import VERSION, Summary
from .source import Piece, Place

# Steps of the clocks of file systems, some of which count in whole seconds.
CLOCK_STEP_SECONDS = 2.0
# Entries that nobody has asked for in so long are removed.
KEPT_SECONDS = 60 * 24 * 3600.0
FOLDER = "parts"
SUMMARIES: TypeAdapter[Summary] = TypeAdapter(Summary)


@dataclass(frozen=True, kw_only=True, slots=True)
class PartFiles:
    """Files of a part in the cache: its summary, and the hashes of its ids."""

    folder: Path
    key: str

    @property
    def summary(self) -> Path:
        """JSON of the summary."""
        return self.folder / f"{self.key}.json"

    @property
    def hashes(self) -> Path:
        """Sorted hashes of the ids."""
        return self.folder / f"{self.key}.npy"

    def read(self) -> Summary | None:
        """The summary, if the part is known."""
        try:
            found = SUMMARIES.validate_json(self.summary.read_bytes())
            os.utime(self.hashes)
            os.utime(self.summary)
        except (OSError, ValueError):
            return None
        return found

    def write(self, summary: Summary) -> None:
        """Remember a part, whose hashes are there already. A cache that cannot be written costs time alone."""
        with suppress(OSError):
            written = self.summary.with_name(f"{uuid.uuid4().hex}.tmp")
            written.write_bytes(SUMMARIES.dump_json(summary))
            written.replace(self.summary)


def cache_folder() -> Path:
    """Where parts are remembered."""
    return user_cache() / FOLDER


def part_key(settings: dict[str, Any], place: Place) -> str:
    """Names a part by how it is read and the state of its files."""
    states = [state for piece in place.pieces for state in _state(piece)]
    states += [state for path in place.beside for state in _stat(path)]
    return digest([VERSION, settings, states])


def is_settled(place: Place, started: float) -> bool:
    """Whether no file of a place has changed so shortly before `started` that another change might not show. One that
    is not there may come back as it was."""
    states = [_stat(path) for path in (*(piece.path for piece in place.pieces), *place.beside)]
    return all(state and max(state[-2:]) < (started - CLOCK_STEP_SECONDS) * 1e9 for state in states)


def remove_old(folder: Path) -> None:
    """Remove entries that nobody has asked for in a long time."""
    before = time.time() - KEPT_SECONDS
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.stat().st_mtime < before:
                os.unlink(entry.path)


def _state(piece: Piece) -> Iterator[Any]:
    yield from (str(piece.path), piece.start, piece.stop, sorted(piece.partition.items()))
    yield from _stat(piece.path)


def _stat(path: Path) -> tuple[int, ...]:
    """The state of a file; none of one that is not there, such as what a link leads to."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
