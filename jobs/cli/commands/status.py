"""`mpr-audit status`: what a run's folder holds, and what is being done in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...words import duration, first_line
from ..options import AsJson, Folder, print_json

# Running units and failures that the text names; JSON has all.
SHOWN = 20
COUNTS = ("units", "done", "running", "failed")


def status(folder: Folder, as_json: AsJson = False) -> int:
    """Print what is done, running, failed and left in a run's folder, and whether a run is active."""
    from ...results.status import status_of
    from ...store import Store

    found = status_of(Store(folder).readable())
    if as_json:
        print_json(found)
    else:
        print(status_text(found))
    return 0


def status_text(found: Mapping[str, Any]) -> str:
    """A status for people."""
    return "\n".join([_head(found), *_run_lines(found), *_stage_lines(found), *_unit_lines(found), *_advice(found)])


def _head(found: Mapping[str, Any]) -> str:
    head = f"{found['output']}: {'complete' if found['is_complete'] else 'not complete'}"
    if found["seconds_left"] and not found["is_complete"]:
        head += f", about {duration(found['seconds_left'])} of work left"
    return head


def _run_lines(found: Mapping[str, Any]) -> Iterator[str]:
    run = found["run"]
    if run:
        yield f"  run {run['run_id']}: {run['state']}, process {run['pid']} on {run['host']}, log {run['log']}"


def _stage_lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {'stage':<12}" + "".join(f"{name:>8}" for name in COUNTS)
    for stage, count in found["stages"].items():
        yield f"  {stage:<12}" + "".join(f"{count[name]:>8}" for name in COUNTS)


def _unit_lines(found: Mapping[str, Any]) -> Iterator[str]:
    if found["skipped"]:
        yield f"  skipped by the last run, because what they need had failed or it stopped: {found['skipped']}"
    for one in found["running"][:SHOWN]:
        yield f"  running: {one['stage']} {one['title']}, {duration(one['seconds'])} on {one['node']}"
    for one in found["failures"][:SHOWN]:
        message = first_line(one["message"])
        yield f"  failed: {one['stage']} {one['title']}: {message} (traceback: {one['traceback']})"
    for kind, name in (("running", "running"), ("failures", "failed")):
        if len(found[kind]) > SHOWN:
            yield f"  ... and {len(found[kind]) - SHOWN} more {name}: --json names all"


def _advice(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["is_complete"] and not (found["run"] and found["run"]["is_alive"]):
        yield "  the same `mpr-audit run` command continues"
