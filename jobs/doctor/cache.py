"""The cache that runs share: whether it is one, can be written and has room, and whether what it holds is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from ..cache.damage import faults
from ..cache.place import CachePlace, cache_place
from ..cache.upkeep import counted, expect_cache, pieces
from ..errors import UsageError
from ..store import Store
from ..words import bytes_of, numbered
from .check import Check, ok, problem, warning
from .machine import LEAST_DISK_BYTES, is_remote, nearest_place, unwritable_folder, unwritable_store

# All of a cache up to this size is read, in some seconds from a disk; of a larger one indexes alone.
READ_BYTES = 1e9


def cache(setting: str | None) -> Iterator[Check]:
    """Of the cache that a configuration or the environment names; nothing where there is none."""
    try:
        place = cache_place(setting)
    except UsageError as error:
        yield problem("cache", str(error), "correct its address")
        return
    if place is not None:
        yield from _of_place(place)


def _of_place(place: CachePlace) -> Iterator[Check]:
    is_elsewhere = is_remote(place.address)
    fault = unwritable_store(place.address) if is_elsewhere else unwritable_folder(place.address)
    if fault is not None:
        what = "check its address, credentials and bucket" if is_elsewhere else "make it writable"
        yield problem("cache", fault, f"{what}, or name another cache")
        return
    try:
        yield _contents(place.store())
    except UsageError as error:
        yield problem("cache", str(error), "name a folder of its own")
    except OSError as error:
        yield problem("cache", f"{place.address} cannot be read: {error}", "make it readable, or name another cache")
    if not is_elsewhere:
        yield _room(place.address)


def _room(root: str) -> Check:
    free = shutil.disk_usage(nearest_place(root)).free
    found = f"{bytes_of(free)} free at the cache"
    if free < LEAST_DISK_BYTES:
        return warning("cache", found, "runs go on without it once it is full: mpr-audit cache clean --max-size")
    return ok("cache", found)


def _contents(store: Store) -> Check:
    """What it holds. Damage costs time alone, since what is damaged is computed again."""
    expect_cache(store)
    found = pieces(store)
    size = sum(piece.bytes for piece in found)
    is_read = size <= READ_BYTES
    damaged = (
        list(faults(store)) if is_read else [f"{one.name}: the index is damaged" for one in found if not one.is_whole]
    )
    held = f"{store.root} can be written, and holds {bytes_of(size)} in {numbered(len(counted(found)), 'segment')}"
    if damaged:
        more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        return warning(
            "cache",
            f"{held}; {damaged[0]}{more}",
            f"mpr-audit cache verify {store.root} names all, clean removes damaged indexes",
        )
    looked = "" if is_read else "; their indexes are whole, and mpr-audit cache verify reads the rest"
    return ok("cache", held + looked)
