"""What earlier runs have left that nobody reads, and what is damaged: removed before a run computes anything."""

from __future__ import annotations

from contextlib import suppress

from ..errors import RunError
from ..plan.plan import Plan
from ..store import Inventory, Store, failure_file, receipt_file
from ..words import numbered
from .journal import Journal
from .lock import Lock
from .progress import Reporter


def clear_finished(store: Store, run_id: str, found: Inventory, reporter: Reporter) -> None:
    """Remove files of a run that was killed after its last result, if the folder is unlocked and can be written."""
    if found.leftovers:
        with suppress(OSError, RunError), Lock(store, run_id, reporter.say):
            for name in found.leftovers:
                store.delete(name)


def clear(store: Store, plan: Plan, found: Inventory, journal: Journal) -> None:
    """Remove what killed runs left, report damaged units, and remove their receipts.

    Temporary files older than this run's lock belong to no living process. Failures of earlier runs are tried
    again, or skipped: at the end the folder has the failures that this run counts.
    """
    for stage, key in found.failed:
        store.delete(failure_file(stage, key))
    for name in found.leftovers:
        store.delete(name)
    if found.leftovers:
        journal.say("leftovers_removed", f"removed {numbered(len(found.leftovers), 'file')} of killed runs")
    titles = {unit.key: unit.title for unit in plan.units} if found.damaged else {}
    for stage, key in found.damaged:
        message = f"damaged, computed again: {stage} {titles[key]}"
        journal.say("unit_damaged", message, "warning", stage=stage, unit=key)
        store.delete(receipt_file(stage, key))
    for stage, key in found.removed:
        store.delete(receipt_file(stage, key))
