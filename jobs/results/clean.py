"""Removes units of earlier plans and half-written files from a run's folder."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from .. import interruption
from ..errors import RunError, UsageError, is_disk_full, room_in
from ..plan.plan_file import read_plan
from ..run.lock import LOCK, Lock
from ..store import TEMPORARY, Entry, Store
from .manifest import REPORT_STAGE

# Folders whose files belong to units: FOLDER/STAGE/KEY. Receipts are deleted first, so that none is left without files.
UNIT_FOLDERS = ("receipts", "failures", "tickets", "units")
# Those of them that hold finished work.
WORK_FOLDERS = ("receipts", "units")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cleaning:
    """What was removed, or would be: units of earlier plans, temporary files, and all their files and bytes."""

    output: str
    units: int
    temporary_files: int
    files: int
    bytes: int
    is_dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def clean(store: Store, say: Callable[[str], None], *, is_dry_run: bool = False) -> Cleaning:
    """Remove what the folder's last plan does not name; refused while a run uses the folder.

    Raises:  UsageError when no run has written there, or it cannot be written; RunError when a run uses it.
    """
    if is_dry_run:
        return _clean_locked(store, is_dry_run=True)
    _planned_units(store)
    store.prepare()
    lock = Lock(store, f"clean-{uuid.uuid4().hex[:6]}", say)
    with room_in(store.root):
        try:
            with lock:
                return _clean_locked(store, is_dry_run=False)
        except OSError as error:
            if not is_disk_full(error) or store.exists(LOCK):
                raise
        # A lock takes room itself. Nobody has the folder, and without room nobody can lock it.
        gone = _remove_first(store)
        with lock:
            found = _clean_locked(store, is_dry_run=False)
        return replace(found, files=found.files + 1, bytes=found.bytes + gone)


def _clean_locked(store: Store, *, is_dry_run: bool) -> Cleaning:
    planned, listing = _planned_units(store), store.entries("")
    old = _of_other_units(listing, planned)
    temporary = _temporary(listing)
    names = _in_order({*old, *temporary})
    if not is_dry_run:
        for name in names:
            interruption.check()
            store.delete(name)
        for folder in UNIT_FOLDERS:
            store.delete_empty_folders(folder)
    return Cleaning(
        output=store.root,
        units=len({unit for name, unit in old.items() if name.startswith(WORK_FOLDERS)}),
        temporary_files=len(temporary),
        files=len(names),
        bytes=sum(listing[name].bytes for name in names),
        is_dry_run=is_dry_run,
    )


def _remove_first(store: Store) -> int:
    """Remove one file of those that would be cleaned; its bytes.

    Raises:  RunError where there is none.
    """
    listing = store.entries("")
    for name in _in_order({*_of_other_units(listing, _planned_units(store)), *_temporary(listing)}):
        store.delete(name)
        return listing[name].bytes
    raise RunError(f"{store.root} has no room for a lock, and nothing in it can be cleaned")


def _in_order(names: Collection[str]) -> list[str]:
    """Receipts first: a unit without files must not look finished."""
    return sorted(names, key=lambda name: (not name.startswith(UNIT_FOLDERS[0]), name))


def _temporary(listing: Mapping[str, Entry]) -> set[str]:
    """Files that are half written; the lock rewrites itself all the time."""
    return {name for name in listing if TEMPORARY in name and not name.startswith(LOCK)}


def _of_other_units(listing: Mapping[str, Entry], planned: set[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Files of units that are not planned, with their stage and key."""
    found = {}
    for name in listing:
        folder, _, rest = name.partition("/")
        stage, _, file = rest.partition("/")
        unit = stage, file.partition("/")[0].partition(".")[0]
        if folder in UNIT_FOLDERS and file and unit not in planned and stage != REPORT_STAGE:
            found[name] = unit
    return found


def _planned_units(store: Store) -> set[tuple[str, str]]:
    plan = read_plan(store)
    if plan is None:
        raise UsageError(f"{store.root} holds no plan that can be read: only a run's folder can be cleaned")
    return {(unit.stage, unit.key) for unit in plan}
