"""What a run's folder holds, found in one listing: finished units, damaged ones, and files of killed writers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from .disk import TEMPORARY, Entry
from .files import Store
from .places import failure_file, receipt_file, unit_file, unit_of
from .receipts import Receipt

# Receipts that are held as text at a time.
RECEIPTS_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Inventory:
    """done: receipts of complete units by key. damaged: (stage, key) of units whose files differ from their receipt.

    failed: (stage, key) of those that failed when they were last tried. removed: (stage, key) of units that were done,
    and whose tables were removed and are needed again.

    leftovers: names of temporary files, of tables that were about to be removed, and of those that only units of
    another plan would read; receipts first, so that no unit looks damaged. A run that is alive may still be at them;
    whoever locks the folder after the listing may delete them.
    """

    done: dict[str, Receipt] = field(default_factory=dict)
    damaged: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    leftovers: tuple[str, ...] = ()


def take_inventory(store: Store, units: Iterable[tuple[str, str]], passing: Collection[str] = ()) -> Inventory:
    """Look for units, by stage and key. passing: stages whose tables other units of the same plan alone read.

    A file that has its receipt's size and stamp has not been written since, and is not read; any
    other is hashed. A change of bits that alters neither is found by the page checksums when the
    file is read, and by `verify`.
    """
    listing, units = store.entries(""), list(units)
    listed = [(stage, key) for stage, key in units if receipt_file(stage, key) in listing]
    done: dict[str, Receipt] = {}
    damaged = []
    for start in range(0, len(listed), RECEIPTS_AT_ONCE):
        some = listed[start : start + RECEIPTS_AT_ONCE]
        contents = store.read_many([receipt_file(stage, key) for stage, key in some])
        for stage, key in some:
            receipt = Receipt.parsed(contents.get(receipt_file(stage, key), b""))
            is_own = receipt is not None and (receipt.stage, receipt.key) == (stage, key)
            if receipt is not None and is_own and _is_whole(store, receipt, stage, key, listing):
                done[key] = receipt
            else:
                damaged.append((stage, key))
    failed = tuple((stage, key) for stage, key in units if failure_file(stage, key) in listing)
    bare = {(receipt.stage, receipt.key) for receipt in done.values() if receipt.is_removed}
    left = {unit for unit in map(unit_of, listing) if unit is not None and unit[0] in passing} - set(units)
    receipts = [name for unit in sorted(left) if (name := receipt_file(*unit)) in listing]
    tables = [name for name in listing if TEMPORARY in name or unit_of(name) in bare | left]
    return Inventory(done=done, damaged=tuple(damaged), failed=failed, leftovers=(*receipts, *tables))


def _is_whole(store: Store, receipt: Receipt, stage: str, key: str, listing: Mapping[str, Entry]) -> bool:
    """Whether all files of a receipt are as they were written."""
    for name, file in receipt.files.items():
        path = unit_file(stage, key, name)
        entry = listing.get(path)
        if entry is None or entry.bytes != file.bytes:
            return False
        is_untouched = file.stamp is not None and entry.stamp == file.stamp
        if not is_untouched and not store.holds(path, file.bytes, file.sha256):
            return False
    return True
