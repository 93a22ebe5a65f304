"""How a run ended, in numbers."""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import asdict, dataclass, field
from typing import Any

from ..plan import bill
from ..plan.plan import Plan
from ..run.compute import Progress
from ..run.skipped import Counts, counts_of, skipped_items
from ..stages.prior_shift import PriorShifts, shift_facts
from ..stages.probe import read_probe
from ..store import Store
from .manifest import PAGE


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """How a run ended. `report` is the page's path, if any was written; `seconds` of wall time.

    skipped_items counts items that were left out, by data set and reason. reuse: what was embedded and searched, and
    what was there already (`plan.bill.counts_of`).
    is_stopped: runtime.max_failures was reached, and the remaining units were not tried. calibration: the test of each
    probe whose probabilities are used, by its name; prior_shifts: the shares of levels that these say of each data set.
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
    prior_shifts: list[dict[str, Any]] = field(default_factory=list)

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
        prior_shifts=prior_shifts(store, plan, progress.done),
    )


def _calibration(store: Store, plan: Plan, progress: Progress) -> dict[str, dict[str, Any]]:
    used = {unit.probe for unit in shifts_of(plan)}
    return {
        name: read_probe(store, fit.key).calibration.manifest()
        for name, fit in plan.probes.items()
        if fit.key in used and fit.key in progress.done
    }


def shifts_of(plan: Plan) -> list[PriorShifts]:
    """Units of what probabilities of probes say of data sets."""
    return [unit for unit in plan.stages.get(PriorShifts.stage, ()) if isinstance(unit, PriorShifts)]


def prior_shifts(store: Store, plan: Plan, done: Container[str]) -> list[dict[str, Any]]:
    """The shares of levels among a probe's people, and those that its probabilities say of each data set."""
    names = {fit.key: name for name, fit in plan.probes.items()}
    return [
        {"dataset": plan.catalogues[unit.catalogue].name, "probe": names[unit.probe], **shift_facts(unit, store)}
        for unit in shifts_of(plan)
        if unit.key in done
    ]
