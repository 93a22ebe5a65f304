"""Descriptions of cases that earlier reports left: in the run's folder, and in the cache for other folders."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ..cache.packs import PackedUnit
from ..cache.place import CachePlace
from ..run.shared import restored
from ..store import Receipt, Store, committed_receipt, failure_file, receipt_file, valid_receipt
from .part import DescribedCases, keys_in

STAGE = DescribedCases.stage
UNITS = f"units/{STAGE}"
RECEIPTS, FAILURES = (file(STAGE, "").rpartition("/")[0] for file in (receipt_file, failure_file))


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """The cache of a run, and the units that it had when the run began."""

    cache: CachePlace | None = None
    packed: Mapping[str, PackedUnit] = field(default_factory=dict)

    def restore(self, store: Store, wanted: Collection[str]) -> bool:
        """Copy the units that describe some of these cases, by their keys; whether there were any."""
        if self.cache is None or not wanted:
            return False
        missing, units = set(wanted), []
        for unit in self.packed.values():
            if unit.receipt.stage == STAGE and not missing.isdisjoint(unit.likeness.split()):
                missing.difference_update(unit.likeness.split())
                units.append(unit)
        return bool(units) and restored(self.cache, store, units) > 0


def kept_cases(store: Store) -> dict[str, str]:
    """The keys of cases that are described in the folder, each with that of the unit that did; damaged units go."""
    found: dict[str, str] = {}
    for key in _keys(store, RECEIPTS):
        try:
            if valid_receipt(store, STAGE, key) is not None:
                found |= dict.fromkeys(keys_in(store, key), key)
                continue
        except (OSError, pa.ArrowException):
            pass
        _remove(store, key)
    return found


def kept_are_whole(store: Store) -> bool:
    """Whether every unit that the folder's reports have left is what was written."""
    return all(valid_receipt(store, STAGE, key) is not None for key in _keys(store, RECEIPTS))


def receipts_of(store: Store) -> Iterator[tuple[Receipt, str]]:
    """Receipts of the folder's units, each with the keys of its cases, by which others look for it; none of damaged
    ones."""
    for key in _keys(store, RECEIPTS):
        receipt = committed_receipt(store, STAGE, key)
        try:
            cases = keys_in(store, key) if receipt is not None else []
        except (OSError, pa.ArrowException):
            continue
        if receipt is not None:
            yield receipt, " ".join(cases)


def sweep(store: Store, needed: Collection[str]) -> None:
    """Remove units but the needed ones, what killed tasks left of others, and what is known of failures."""
    for key in {*_keys(store, RECEIPTS), *_keys(store, UNITS)} - set(needed):
        _remove(store, key)
    for name in store.list(FAILURES):
        store.delete(name)
    for folder in (UNITS, RECEIPTS, FAILURES):
        store.delete_empty_folders(folder)


def _keys(store: Store, folder: str) -> list[str]:
    """Keys of the units that have a file in a folder of theirs, each once."""
    names = (name.removeprefix(f"{folder}/") for name in store.list(folder))
    return list(dict.fromkeys(name.partition("/")[0].removesuffix(".json") for name in names))


def _remove(store: Store, key: str) -> None:
    """Remove a unit; its receipt first, so that it never looks finished without its files."""
    store.delete(receipt_file(STAGE, key))
    for name in store.list(f"{UNITS}/{key}"):
        store.delete(name)
