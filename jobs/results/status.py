"""What a run's folder holds and what is being done in it, during a run and after one that was killed."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from typing import Any

from jobs.errors import UsageError
from jobs.plan.plan_file import read_plan
from jobs.results.manifest import SUCCESS
from jobs.run.board import read_board
from jobs.run.run_log import log_file
from jobs.store import Store, committed_receipt, failure_file
from jobs.words import duration

# Running units and failures that the text names; JSON has all.
SHOWN = 20


def status_of(store: Store) -> dict[str, Any]:
    """What is done, running, failed and left of a folder's last plan, and who is at it.

    Returns: stages with their counts; failures with the file that holds the traceback; running units
             with node and seconds; run: state, is_alive, process, log; seconds_left, an estimate.
    Raises:  UsageError when no run has written there.
    """
    planned = read_plan(store)
    if planned is None:
        raise UsageError(f"{store.root} holds no run: `mpr-audit run CONFIG --output DIR` starts one")
    board = read_board(store)
    stages: dict[str, dict[str, int]] = {}
    seconds: dict[str, list[float]] = defaultdict(list)
    expected: dict[str, list[float]] = defaultdict(list)
    failures = []
    running = {one["unit"] for one in board["units"]} if board else set()
    for unit in planned:
        stage, key = unit.stage, unit.key
        count = stages.setdefault(stage, {"units": 0, "done": 0, "running": 0, "failed": 0})
        count["units"] += 1
        expected[stage].append(unit.seconds)
        receipt = committed_receipt(store, stage, key)
        if receipt is not None:
            count["done"] += 1
            seconds[stage].append(receipt.seconds)
            continue
        if key in running:
            count["running"] += 1
            continue
        failure = store.read_json(failure_file(stage, key))
        if failure is not None:
            count["failed"] += 1
            kept = {name: failure[name] for name in ("unit", "stage", "title", "message")}
            failures.append(kept | {"traceback": store.address(failure_file(stage, key))})
    return {
        "output": store.root,
        "is_complete": store.exists(SUCCESS),
        "stages": stages,
        "skipped": board["counts"].get("skipped", 0) if board else 0,
        "failures": failures,
        "running": [_running(one) for one in board["units"]] if board else [],
        "run": _run(store, board) if board else None,
        "seconds_left": _seconds_left(stages, seconds, expected, board["cpus"] if board else 1),
    }


def _running(unit: dict[str, Any]) -> dict[str, Any]:
    return unit | {"seconds": round(max(0.0, time.time() - unit["since"]), 1)}


def _run(store: Store, board: dict[str, Any]) -> dict[str, Any]:
    was_killed = not board["is_alive"] and board["state"] not in ("done", "stopped", "interrupted", "failed")
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


def _seconds_left(
    stages: dict[str, dict[str, int]], seconds: dict[str, list[float]], expected: dict[str, list[float]], cpus: int
) -> float:
    """Units that are missing, at the pace of their own stage so far, or as planned where none is done."""
    left = 0.0
    for stage, count in stages.items():
        each = statistics.fmean(seconds[stage] or expected[stage])
        left += each * (count["units"] - count["done"])
    return round(left / max(1, cpus), 1)


def status_text(found: dict[str, Any]) -> str:
    """A status for people."""
    run, left = found["run"], found["seconds_left"]
    head = f"{found['output']}: {'complete' if found['is_complete'] else 'not complete'}"
    if left and not found["is_complete"]:
        head += f", about {duration(left)} of work left"
    lines = [head]
    if run:
        lines.append(f"  run {run['run_id']}: {run['state']}, process {run['pid']} on {run['host']}, log {run['log']}")
    lines.append(f"  {'stage':<12}{'units':>8}{'done':>8}{'running':>8}{'failed':>8}")
    for stage, count in found["stages"].items():
        lines.append(f"  {stage:<12}" + "".join(f"{count[name]:>8}" for name in ("units", "done", "running", "failed")))
    if found["skipped"]:
        lines.append(f"  skipped by the last run, because what they need had failed or it stopped: {found['skipped']}")
    for one in found["running"][:SHOWN]:
        lines.append(f"  running: {one['stage']} {one['title']}, {duration(one['seconds'])} on {one['node']}")
    for one in found["failures"][:SHOWN]:
        first_line = (one["message"].splitlines() or [""])[0]
        lines.append(f"  failed: {one['stage']} {one['title']}: {first_line} (traceback: {one['traceback']})")
    lines += [
        f"  ... and {len(found[kind]) - SHOWN} more {name}: --json names all"
        for kind, name in (("running", "running"), ("failures", "failed"))
        if len(found[kind]) > SHOWN
    ]
    if not found["is_complete"] and not (run and run["is_alive"]):
        lines.append("  the same `mpr-audit run` command continues")
    return "\n".join(lines)
