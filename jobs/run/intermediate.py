"""Tables between two stages: removed once every unit that reads them is done, and made again where one is not.

The receipt stays, without files: the unit counts as done, with the time that it took, as long as nobody needs what it
wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from .. import interruption
from ..plan.plan import Plan
from ..store import Inventory, Receipt, Store, receipt_file, unit_file, units_folder

# Units that are removed at once: an object store answers slowly.
REMOVALS_AT_ONCE = 16


def remove_read(store: Store, plan: Plan, done: dict[str, Receipt]) -> None:
    """Remove the tables of intermediate units whose readers are all done; `done` gets their new receipts."""
    whole = [unit for unit in plan.units if unit.is_intermediate and unit.key in done and done[unit.key].files]
    if not whole:
        return
    needed = {key for unit in plan.units if unit.key not in done for key in unit.needs}
    read = [done[unit.key] for unit in whole if unit.key not in needed]
    with ThreadPoolExecutor(REMOVALS_AT_ONCE) as threads:
        for bare in threads.map(lambda receipt: _without_files(store, receipt), read):
            done[bare.key] = bare
    for stage in {unit.stage for unit in whole}:
        store.delete_empty_folders(units_folder(stage))


def without_removed(plan: Plan, found: Inventory) -> Inventory:
    """What a folder holds of a plan, when units whose tables were removed are done only where nobody needs these."""
    done = found.done
    if not any(receipt.is_removed for receipt in done.values()):
        return found
    again = _needed_again(plan, done)
    return replace(
        found,
        done={key: receipt for key, receipt in done.items() if key not in again},
        removed=tuple((done[key].stage, key) for key in again),
    )


def _needed_again(plan: Plan, done: Mapping[str, Receipt]) -> list[str]:
    needed: set[str] = set()
    again = []
    # Who reads a unit comes after it.
    for unit in reversed(plan.units):
        receipt = done.get(unit.key)
        if receipt is not None and receipt.is_removed and unit.key in needed:
            again.append(unit.key)
            receipt = None
        if receipt is None:
            needed.update(unit.needs)
    return again


def _without_files(store: Store, receipt: Receipt) -> Receipt:
    """The receipt comes first: a run that is killed in between leaves files that count for nothing."""
    interruption.check()
    bare = replace(receipt, files={})
    store.write(receipt_file(bare.stage, bare.key), bare.to_json().encode())
    for name in receipt.files:
        store.delete(unit_file(bare.stage, bare.key, name))
    return bare
