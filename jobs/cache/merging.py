"""Small segments to large ones, so that a lookup opens few; what they replace goes a day later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np

from ..store import Store
from .keys import first_of_each, in_chunks
from .names import is_index, moment_of
from .segment import Segment, open_segment, write_segment
from .space import ROWS_TOGETHER, USED, living

# A merged segment is no larger: what a merge reads and writes once more stays bounded.
LARGEST_BYTES = 2 * 2**30
# Fewer small segments than this are left alone.
FEWEST = 8
# A segment joins smaller ones that hold at least this share of its bytes: each row is written again a few times only.
SMALLEST_SHARE = 0.5
# Segments of up to so many bytes join any.
SMALL_BYTES = 4 * 2**20
# So long a reader that has listed a segment may read it. A unit may take six hours (runtime.unit_seconds).
GRACE = timedelta(days=1)


def merge(store: Store, folder: str, grace: timedelta = GRACE) -> int:
    """Merge the small segments of a space, and remove what merged ones have replaced for so long.

    Returns how many segments were merged. Two that merge at once write the same rows twice, until the next merge.
    """
    listing = store.entries(folder)
    opened = {name: segment for name in listing if is_index(name) if (segment := open_segment(store, name))}
    _remove_replaced(store, list(listing), opened, grace)
    merged = 0
    for group in _groups_to_merge(living(opened)):
        _write_merged(store, folder, group)
        merged += len(group)
    return merged


def _groups_to_merge(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """Segments to merge with each other, from the smallest on; within a group the oldest first."""
    group: list[Segment] = []
    size = 0
    for segment in sorted(segments, key=lambda one: (one.facts.bytes, one.name)):
        own = segment.facts.bytes
        is_next = own <= SMALL_BYTES or own * SMALLEST_SHARE <= size
        if group and (size + own > LARGEST_BYTES or not is_next):
            if len(group) >= FEWEST:
                yield sorted(group, key=lambda one: one.name)
            group, size = [], 0
        group, size = [*group, segment], size + own
    if len(group) >= FEWEST:
        yield sorted(group, key=lambda one: one.name)


def _write_merged(store: Store, folder: str, group: Sequence[Segment]) -> None:
    """One segment with each key of a group once; rows that are damaged are left out."""
    keys = np.concatenate([segment.keys for segment in group])
    is_first = np.zeros(len(keys), dtype=bool)
    is_first[first_of_each(keys)] = True
    is_kept = np.concatenate([_intact_rows(segment) for segment in group])
    # A damaged copy must not hide a whole one.
    is_kept &= is_first if is_kept.all() else _first_whole(keys, is_kept)
    if is_kept.any():
        edges = np.cumsum([0] + [segment.facts.count for segment in group])
        wanted = [np.flatnonzero(is_kept[start:stop]) for start, stop in pairwise(edges)]
        chunks = (
            segment.read(rows[some])[0]
            for segment, rows in zip(group, wanted)
            for some in in_chunks(rows.size, ROWS_TOGETHER)
        )
        write_segment(store, folder, keys[is_kept], chunks, replaces=[segment.name for segment in group])


def _intact_rows(segment: Segment) -> np.ndarray:
    """Which rows (n,) are what was written."""
    return np.concatenate(
        [segment.read(np.arange(some.start, some.stop))[1] for some in in_chunks(segment.facts.count, ROWS_TOGETHER)]
    )


def _first_whole(keys: np.ndarray, is_whole: np.ndarray) -> np.ndarray:
    is_first = np.zeros(len(keys), dtype=bool)
    places = np.flatnonzero(is_whole)
    is_first[places[first_of_each(keys[places])]] = True
    return is_first


def _remove_replaced(store: Store, names: Sequence[str], opened: dict[str, Segment], grace: timedelta) -> None:
    """Remove segments that another has replaced for longer than the grace; indexes first."""
    before = datetime.now(UTC) - grace
    replaced = {
        name for segment in opened.values() if moment_of(segment.name) < before for name in segment.facts.replaces
    }
    for name in sorted(replaced & set(names)):
        remove(store, name, names, opened.pop(name, None))


def remove(store: Store, name: str, names: Sequence[str], segment: Segment | None) -> None:
    """Remove a segment: its index, which makes it count, then its rows and what was noted of its use."""
    store.delete(name)
    if segment is not None:
        store.delete(segment.facts.rows_file)
    for used in names:
        if used.startswith(f"{name}{USED}"):
            store.delete(used)
