"""What a run's folder holds and what is being done in it, during a run and after one that was killed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..plan.plan_file import PlannedUnit, read_plan
from ..run.board import read_board
from ..run.run_log import log_file
from ..store import Store, committed_receipt, failure_file
from .manifest import SUCCESS

# Parts of a failure's record that a status repeats.
FAILURE = ("unit", "stage", "title", "message")
# States in which a run has ended by itself.
ENDED = ("done", "stopped", "interrupted", "failed")


@dataclass(slots=True)
class _Stage:
    """A stage's units so far: seconds that those took which are done, and seconds that all were expected to take."""

    units: int = 0
    running: int = 0
    failed: int = 0
    seconds: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)

    @property
    def done(self) -> int:
        return len(self.seconds)

    @property
    def seconds_left(self) -> float:
        """Of one core: missing units at the pace of those that are done, or as planned where none is."""
        return statistics.fmean(self.seconds or self.expected) * (self.units - self.done)

    def to_json(self) -> dict[str, int]:
        return {"units": self.units, "done": self.done, "running": self.running, "failed": self.failed}


def status_of(store: Store) -> dict[str, Any]:
    """What is done, running, failed and left of a folder's last plan, and which run works on it.

    Returns: stages with their counts; failures with the file that holds the traceback; running units
             with node and seconds; run: state, is_alive, process, log; seconds_left, an estimate.
    Raises:  UsageError when no run has written there.
    """
    planned = read_plan(store)
    if planned is None:
        raise UsageError(f"{store.root} holds no run: `mpr-audit run CONFIG --output DIR` starts one")
    board = read_board(store)
    stages, failures = _counts_and_failures(store, planned, {one["unit"] for one in board["units"]} if board else set())
    left = sum(stage.seconds_left for stage in stages.values())
    return {
        "output": store.root,
        "is_complete": store.exists(SUCCESS),
        "stages": {name: stage.to_json() for name, stage in stages.items()},
        "skipped": board["counts"].get("skipped", 0) if board else 0,
        "failures": failures,
        "running": [_running(one) for one in board["units"]] if board else [],
        "run": _run(store, board) if board else None,
        "seconds_left": round(left / max(1, board["cpus"] if board else 1), 1),
    }


def _counts_and_failures(
    store: Store, planned: list[PlannedUnit], running: set[str]
) -> tuple[dict[str, _Stage], list[dict[str, str]]]:
    """The planned units by stage, and the failures among them. running: keys of units that run now."""
    stages: dict[str, _Stage] = {}
    failures = []
    for unit in planned:
        stage = stages.setdefault(unit.stage, _Stage())
        stage.units += 1
        stage.expected.append(unit.seconds)
        receipt = committed_receipt(store, unit.stage, unit.key)
        if receipt is not None:
            stage.seconds.append(receipt.seconds)
        elif unit.key in running:
            stage.running += 1
        elif (failure := _failure(store, unit)) is not None:
            stage.failed += 1
            failures.append(failure)
    return stages, failures


def _failure(store: Store, unit: PlannedUnit) -> dict[str, str] | None:
    """A unit's failure in the last run, and the file that holds its traceback; None where it did not fail."""
    name = failure_file(unit.stage, unit.key)
    failure = store.read_json(name)
    if not isinstance(failure, dict):
        return None
    return {part: failure.get(part, "") for part in FAILURE} | {"traceback": store.address(name)}


def _running(unit: Mapping[str, Any]) -> dict[str, Any]:
    return dict(unit) | {"seconds": round(max(0.0, time.time() - unit["since"]), 1)}


def _run(store: Store, board: Mapping[str, Any]) -> dict[str, Any]:
    was_killed = not board["is_alive"] and board["state"] not in ENDED
    return {
        "run_id": board["run_id"],
        "state": "killed" if was_killed else board["state"],
        "is_alive": board["is_alive"],
        "host": board["process"]["host"],
        "pid": board["process"]["pid"],
        "started": board["started"],
        "updated": board["updated"],
        "log": store.address(log_file(board["run_id"])),
    }
