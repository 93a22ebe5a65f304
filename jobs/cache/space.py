"""A space: segments of one folder, whose rows all mean the same, looked up together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..store import Store
from .keys import first_of_each, in_chunks, ordered
from .names import is_index, now
from .segment import Segment, open_segment, write_segment

# After the name of a segment: the day on which its rows were last used, for whoever makes room.
USED = ".used-"
DAY_DIGITS = len("YYYYMMDD")
ABOUT = "about.json"
# Keys that are looked up together: in order, so that each segment is walked through once.
KEYS_TOGETHER = 2**20
# Rows of a chunk that is written.
ROWS_TOGETHER = 4096


class Space:
    """Rows by key. Whoever writes adds segments, whoever reads looks again with `refresh`."""

    def __init__(self, store: Store, folder: str) -> None:
        self.store, self.folder = store, folder
        self._open: dict[str, Segment] = {}
        self._damaged: set[str] = set()
        self._used: set[str] = set()
        self.segments: list[Segment] = []
        # Rows that were found to be damaged.
        self.damaged_rows = 0

    def refresh(self) -> None:
        """Look for segments that others have added."""
        listing = self.store.entries(self.folder)
        names = {name for name in listing if is_index(name)}
        self._used |= {used_name(name) for name in self._open if used_name(name) in listing}
        for name in sorted(names - self._open.keys() - self._damaged):
            segment = open_segment(self.store, name)
            if segment is None:
                self._damaged.add(name)
            else:
                self._open[name] = segment
                if used_name(name) in listing:
                    self._used.add(used_name(name))
        self._open = {name: segment for name, segment in self._open.items() if name in names}
        self.segments = living(self._open)

    def holds(self, keys: np.ndarray) -> np.ndarray:
        """Which keys (n, 2) have a row (n,); rows are not read."""
        is_held = np.zeros(len(keys), dtype=bool)
        for some in in_chunks(len(keys), KEYS_TOGETHER):
            order = ordered(keys[some])
            chunk = keys[some][order]
            is_found = np.zeros(len(chunk), dtype=bool)
            for segment in self.segments:
                missing = np.flatnonzero(~is_found)
                if not missing.size:
                    break
                is_found[missing] = segment.find(chunk[missing]) >= 0
            is_held[some.start + order] = is_found
        return is_held

    def take(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which keys (n, 2) have a row (n,), and those rows (found, width) in the keys' order.

        A row that is damaged in one segment is looked for in the others.
        """
        order = ordered(keys)
        keys_in_order = keys[order]
        is_found = np.zeros(len(keys), dtype=bool)
        values: np.ndarray | None = None
        for segment in self.segments:
            missing = np.flatnonzero(~is_found[order])
            if not missing.size:
                break
            rows = segment.find(keys_in_order[missing])
            places, rows = order[missing[rows >= 0]], rows[rows >= 0]
            if not rows.size:
                continue
            by_row = np.argsort(rows, kind="stable")
            found, is_whole = segment.read(rows[by_row])
            self.damaged_rows += int((~is_whole).sum())
            if values is None:
                values = np.zeros((len(keys), segment.facts.width), dtype=segment.facts.numbers)
            if is_whole.any() and values.shape[1] == found.shape[1]:
                values[places[by_row][is_whole]] = found[is_whole]
                is_found[places[by_row][is_whole]] = True
                self._note_use(segment.name)
        return is_found, np.empty((0, 0), dtype=np.float32) if values is None else values[is_found]

    def add(self, keys: np.ndarray, values: np.ndarray, about: Mapping[str, Any]) -> str | None:
        """Put rows (n, width) in place by their keys (n, 2), each key once; the segment's name, None for no rows.

        about: what the rows are, for people.
        """
        places = first_of_each(keys)
        if not places.size:
            return None
        if not self.store.exists(f"{self.folder}/{ABOUT}"):
            self.store.write_json(f"{self.folder}/{ABOUT}", dict(about))
        chunks = (values[places[some]] for some in in_chunks(places.size, ROWS_TOGETHER))
        return write_segment(self.store, self.folder, keys[places], chunks)

    def _note_use(self, name: str) -> None:
        """Remember for a day that the rows were of use; a cache that cannot be written forgets."""
        used = used_name(name)
        if used not in self._used:
            self._used.add(used)
            with suppress(OSError):
                self.store.write(used, b"")


def living(segments: Mapping[str, Segment]) -> list[Segment]:
    """Segments that no other replaces, the largest first: most keys are there."""
    replaced = {name for segment in segments.values() for name in segment.facts.replaces}
    kept = [segment for name, segment in segments.items() if name not in replaced]
    return sorted(kept, key=lambda segment: (-segment.facts.count, segment.name))


def used_name(name: str) -> str:
    """The file that says that a segment was used today."""
    return f"{name}{USED}{now()[:DAY_DIGITS]}"


def last_uses(names: Sequence[str]) -> dict[str, str]:
    """The last day of use, YYYYMMDD, by the segment's name, of those that were used."""
    found: dict[str, str] = {}
    for name in names:
        segment, is_use, day = name.partition(USED)
        if is_use:
            found[segment] = max(day, found.get(segment, ""))
    return found


def folders_of(names: Sequence[str]) -> Iterator[str]:
    """Folders that hold segments, each once."""
    return iter(dict.fromkeys(name.rpartition("/")[0] for name in names if is_index(name)))
