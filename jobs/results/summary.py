"""How a run ended, in numbers."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from ..plan import bill
from ..plan.plan import Plan
from ..run.compute import Progress
from ..run.skipped import Counts, counts_of, skipped_items
from ..stages.probe import read_probe
from ..store import Store
from .manifest import PAGE


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """How a run ended. `report` is the page's path, if any was written; `seconds` of wall time.

    skipped_items counts items that were left out, by data set and reason. reuse: what was embedded and searched, and
    what was there already (`plan.bill.counts_of`).
    is_stopped: runtime.max_failures was reached, and the remaining units were not tried. calibration: the test of each
    probe whose probabilities are used, by its name.
    """

    run_id: str
    output: str
    report: str | None
    counts: dict[str, int]
    failures: list[dict[str, str]]
    skipped_items: Counts
    seconds: float
    reuse: dict[str, int]
    is_stopped: bool = False
    calibration: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The object that `run --json` prints last."""
        others = {key: value for key, value in asdict(self).items() if key not in ("counts", "reuse")}
        return self.counts | self.reuse | others


def summary_of(store: Store, plan: Plan, progress: Progress, run_id: str, started: float) -> RunSummary:
    """The summary of a run that began at that moment of the monotonic clock."""
    is_any_solved = any(unit.key in progress.done for unit in plan.solved) and not progress.is_stopped
    return RunSummary(
        run_id=run_id,
        output=store.root,
        report=store.address(PAGE) if is_any_solved else None,
        counts=progress.counts(),
        failures=[
            {"unit": unit.key, "stage": unit.stage, "title": unit.title, "message": progress.failed[unit.key]}
            for unit in plan.units
            if unit.key in progress.failed
        ],
        skipped_items=counts_of(skipped_items(store, plan, progress.done)),
        seconds=time.monotonic() - started,
        reuse=bill.counts_of(plan, progress.done, progress.computed),
        is_stopped=progress.is_stopped,
        calibration=_calibration(store, plan, progress),
    )


def _calibration(store: Store, plan: Plan, progress: Progress) -> dict[str, dict[str, Any]]:
    used = {key for unit in plan.solved for key in unit.label_errors.likely_probes.values()}
    return {
        name: read_probe(store, fit.key).calibration.manifest()
        for name, fit in plan.probes.items()
        if fit.key in used and fit.key in progress.done
    }
