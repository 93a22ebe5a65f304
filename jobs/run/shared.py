"""Finished units that runs into different folders share through the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from .. import interruption
from ..cache.packs import PackedUnit, note_use, packed_units, restore, write_pack
from ..cache.place import CachePlace
from ..errors import said_of
from ..plan.likeness import likeness_of
from ..plan.plan import Plan
from ..store import Receipt, Store

# Units that are copied at once: each is a few small files, and an object store answers slowly.
COPIES_AT_ONCE = 16


def packed(cache: CachePlace | None) -> dict[str, PackedUnit]:
    """Units in the cache by their keys; none without a cache.

    Raises:  UsageError for a cache that cannot be read.
    """
    if cache is None:
        return {}
    with said_of("cache"):
        return packed_units(cache.store().readable())


def restored(cache: CachePlace, store: Store, units: Sequence[PackedUnit]) -> int:
    """Copy units into a run's folder; how many. One that is damaged, or cannot be read, is computed instead."""
    source = cache.store()

    def copy(unit: PackedUnit) -> bool:
        interruption.check()
        # What another process removes under this one's hands is computed, too.
        with suppress(FileNotFoundError):
            return restore(source, store, unit)
        return False

    with ThreadPoolExecutor(COPIES_AT_ONCE) as threads:
        is_copied = list(threads.map(copy, units))
    for pack in {unit.pack for unit, is_there in zip(units, is_copied) if is_there}:
        with suppress(OSError):
            note_use(source, pack)
    return sum(is_copied)


def leave(
    cache: CachePlace,
    store: Store,
    plan: Plan,
    done: Mapping[str, Receipt],
    known: Mapping[str, PackedUnit],
    beside: Iterable[tuple[Receipt, str]] = (),
) -> None:
    """Put the plan's finished units that are worth it into a pack, but for those that are in one.

    beside: finished units that no plan names, with by what others may look for them.
    """
    units = [unit for unit in plan.units if unit.is_shared and unit.key in done and unit.key not in plan.made]
    finished = (*((done[unit.key], likeness_of(unit)) for unit in units), *beside)
    write_pack(cache.store(), store, (one for one in finished if one[0].key not in known))
