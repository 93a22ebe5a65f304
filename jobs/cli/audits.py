"""The commands that plan, run and report an audit."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pyarrow as pa
from rich.console import Console

from jobs import audit
from jobs.analysis.load import load
from jobs.cli.options import AsJson, Config, Folder, Limit, MaxFailures, Output, Overrides
from jobs.cli.texts import plan_text, run_text, worst_text
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.plan.estimate import estimate
from jobs.plan.staleness import counted, reasons
from jobs.report.publish import publish
from jobs.results.manifest import PAGE
from jobs.results.status import status_of, status_text
from jobs.run.progress import Bars, Lines, Silent
from jobs.store import Receipt, Store

UNFINISHED = 3


def plan(
    config: Config, output: Output = None, overrides: Overrides = None, limit: Limit = None, as_json: AsJson = False
) -> int:
    """Print what a run would do: its units, what is cached, and an estimate of time, memory and disk."""
    file = read_config(config, tuple(overrides or ()))
    inputs, planned = audit.prepare(file, limit)
    chosen = output or file.settings.output
    store = Store(chosen) if chosen else None
    done: dict[str, Receipt] = {}
    if store:
        planned, found = audit.resumed(file, inputs, planned, store)
        done = found.done
    why = counted(planned, reasons(planned, store, done)) if store else {}
    missing = {unit.key for unit in planned.units} - set(done)
    cost = estimate(file.settings, planned, missing)
    text, table = plan_text(file.settings, inputs, planned, set(done), cost, why)
    print(json.dumps(table, ensure_ascii=False) if as_json else text)
    return 0


class Stopped(Exception):
    """A run ended early because of its failures; it has been told of."""


def run(
    config: Config,
    output: Output = None,
    overrides: Overrides = None,
    limit: Limit = None,
    max_failures: MaxFailures = None,
    as_json: AsJson = False,
) -> int:
    """Run an audit, or what is missing of it, and write its report."""
    overrides = [*(overrides or ()), *([f"runtime.max_failures={max_failures}"] if max_failures else [])]
    file = read_config(config, tuple(overrides))
    chosen = audit.output_of(file.settings, output)
    console = Console(stderr=True)
    reporter: Any = Silent() if as_json else Bars(console) if console.is_terminal else Lines()
    with reporter if isinstance(reporter, Bars) else nullcontext():
        summary = audit.run(file, chosen, reporter, limit)
    if as_json:
        print(json.dumps(summary.to_json(), ensure_ascii=False))
    elif summary.report is None:
        print(run_text(summary))
    else:
        print(worst_text(load(summary.output)))
        print(run_text(summary))
    if summary.is_stopped:
        raise Stopped(f"stopped after {summary.counts['failed']} failed units; finished units are kept")
    return UNFINISHED if summary.failures else 0


def status(folder: Folder, as_json: AsJson = False) -> int:
    """Print what is done, running, failed and left in a run's folder, and whether a run is at it."""
    found = status_of(Store(folder).readable())
    print(json.dumps(found, ensure_ascii=False) if as_json else status_text(found))
    return 0


def report(folder: Folder, as_json: AsJson = False) -> int:
    """Write a run's report again from its results."""
    store = Store(folder).readable()
    try:
        written = publish(store)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder}: the tables cannot be read, run the audit again to repair them: {error}") from None
    page = store.address(PAGE)
    print(json.dumps({"report": page, "files": written}, ensure_ascii=False) if as_json else f"report: {page}")
    return 0
