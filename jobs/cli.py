"""`mpr-audit`, also `python -m jobs`: every command, and what its exit code says.

Exit codes: 0 all done, 1 failed, 2 bad usage or configuration (one line on standard error),
3 finished with failed units, 4 a comparison found a regression, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import traceback
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, NoReturn

import pyarrow as pa
import typer
from rich.console import Console

from jobs import audit, doctor
from jobs import report as audit_report
from jobs.commands.clean import clean
from jobs.commands.options import AsJson, Config, Folder, Limit, MaxFailures, Output, Overrides
from jobs.commands.prompts import convert_prompt, train_prompt
from jobs.commands.results import compare, exhibits, export, verify
from jobs.config.file import read_config
from jobs.errors import Detached, RunError, UsageError
from jobs.manifest import PAGE
from jobs.planning.estimate import estimate
from jobs.planning.staleness import counted, reasons
from jobs.running.progress import Bars, Lines, Silent
from jobs.stages.publish import publish
from jobs.status import status_of, status_text
from jobs.store import Store
from jobs.submission import job as submission
from jobs.submission.identity import PERIODS
from jobs.summary import plan_text, run_text, worst_text

FAILED, USAGE, UNFINISHED, INTERRUPTED = 1, 2, 3, 130
# Characters of a message about wrong input; what it is about is at its beginning or its end.
LONGEST_MESSAGE = 2_000

app = typer.Typer(
    name="mpr-audit",
    help="Audit retrieval for multi-group proportional representation, and what fairer retrieval costs.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def plan(
    config: Config, output: Output = None, overrides: Overrides = None, limit: Limit = None, as_json: AsJson = False
) -> int:
    """Print what a run would do: its units, what is cached, and an estimate of time, memory and disk."""
    file = read_config(config, tuple(overrides or ()))
    inputs, planned = audit.prepare(file, limit)
    chosen = output or file.settings.output
    done = audit.inventory(planned, Store(chosen)).done if chosen else {}
    why = counted(planned, reasons(planned, Store(chosen), done)) if chosen else {}
    missing = {unit.key for unit in planned.units} - set(done)
    cost = estimate(file.settings, planned, missing)
    text, table = plan_text(file.settings, inputs, planned, set(done), cost, why)
    print(json.dumps(table, ensure_ascii=False) if as_json else text)
    return 0


class Stopped(Exception):
    """A run ended early because of its failures; it has been told of."""


@app.command()
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
        print(worst_text(audit_report.load(summary.output)))
        print(run_text(summary))
    if summary.is_stopped:
        raise Stopped(f"stopped after {summary.counts['failed']} failed units; finished units are kept")
    return UNFINISHED if summary.failures else 0


@app.command()
def status(folder: Folder, as_json: AsJson = False) -> int:
    """Print what is done, running, failed and left in a run's folder, and whether a run is at it."""
    found = status_of(Store(folder))
    print(json.dumps(found, ensure_ascii=False) if as_json else status_text(found))
    return 0


@app.command()
def report(folder: Folder, as_json: AsJson = False) -> int:
    """Write a run's report again from its results."""
    store = Store(folder)
    try:
        written = publish(store)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder}: the tables cannot be read, run the audit again to repair them: {error}") from None
    page = store.path(PAGE)
    print(json.dumps({"report": page, "files": written}, ensure_ascii=False) if as_json else f"report: {page}")
    return 0


@app.command()
def submit(
    config: Config,
    output: Output = None,
    overrides: Overrides = None,
    limit: Limit = None,
    address: Annotated[
        str | None,
        typer.Option(help=f"The dashboard's; default: RAY_API_SERVER_ADDRESS, else {submission.DEFAULT_ADDRESS}."),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="Start it once in each: " + ", ".join(PERIODS) + "; {period} in the output names it."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Submit again what failed or was stopped.")] = False,
    attach: Annotated[
        bool, typer.Option("--attach", help="Follow what was submitted already instead of refusing.")
    ] = False,
    on_cluster: Annotated[
        bool, typer.Option("--on-cluster", help="The cluster has the configuration at the same path: send no files.")
    ] = False,
    env: Annotated[
        list[str] | None, typer.Option("--env", help="Variable of the job, NAME=VALUE; others can read it: no secrets.")
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not follow the job to its end.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, send nothing.")] = False,
    as_json: AsJson = False,
) -> int:
    """Run an audit as a job of a running Ray cluster; the same audit is not started twice."""
    if period is not None and period not in PERIODS:
        raise UsageError(f"--period {period}: one of {', '.join(PERIODS)} is expected")
    prepared = submission.prepare(
        read_config(config, tuple(overrides or ())),
        output=output,
        overrides=overrides or (),
        limit=limit,
        period=period,
        address=address,
        is_on_cluster=on_cluster,
        environment=env or (),
    )
    if dry_run:
        print(json.dumps(prepared.to_json(), ensure_ascii=False, indent=None if as_json else 1))
        return 0
    # Read when ray is imported. A cluster without tokens is somebody's decision, not a default.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    from jobs.runtime import job_client

    client = job_client(prepared.address)
    # With --json, standard output holds one object.
    stream = sys.stderr if as_json else sys.stdout
    try:
        name = submission.send(client, prepared, retry)
        print(f"submitted {name} to {prepared.address}", file=stream, flush=True)
    except submission.AlreadySubmitted as known:
        if not attach:
            raise
        name = known.name
    code = None
    if not no_wait:
        code = submission.follow(client, name, lambda text: print(text, end="", file=stream, flush=True))
    if as_json:
        print(json.dumps(prepared.to_json() | {"submission_id": name, "exit_code": code}, ensure_ascii=False))
    return code or 0


@app.command("doctor")
def examine(
    config: Annotated[Path | None, typer.Argument(help="The audit's YAML file.", show_default=False)] = None,
    output: Output = None,
    overrides: Overrides = None,
    address: Annotated[
        str | None, typer.Option(help="A running cluster: HOST:PORT, or the dashboard's http address.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check that this machine or cluster is fit for an audit, and say what to do where it is not; 1 if it is not."""
    address = address or os.environ.get("RAY_ADDRESS")
    is_dashboard = address is not None and address.startswith(("http://", "https://"))
    checks = doctor.examine(
        config,
        overrides=tuple(overrides or ()),
        output=output,
        address=None if is_dashboard else address,
        dashboard=address if is_dashboard else os.environ.get("RAY_API_SERVER_ADDRESS"),
    )
    found = doctor.to_json(checks)
    print(json.dumps(found, ensure_ascii=False) if as_json else doctor.to_text(checks))
    return 0 if found["is_fit"] else FAILED


app.command()(compare)
app.command()(export)
app.command()(exhibits)
app.command()(verify)
app.command()(clean)
app.command()(train_prompt)
app.command()(convert_prompt)


def entry() -> NoReturn:
    """The console script: `main`, then the end of the process."""
    code = main()
    if code == INTERRUPTED:
        # Ray's exit hooks wait for processes that the same signal may have killed.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # A scheduler's SIGTERM ends a run as Ctrl-C does: what is finished is kept.
    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, _interrupt)
    try:
        code = int(app(args=arguments, prog_name="mpr-audit", standalone_mode=False) or 0)
        if code == INTERRUPTED:  # typer swallows Ctrl-C and says so by the code alone
            raise KeyboardInterrupt
        return code
    except (KeyboardInterrupt, typer.Abort):
        _say_how_to_go_on("interrupted; finished units are kept", arguments)
        return INTERRUPTED
    except Stopped as error:
        _say_how_to_go_on(str(error), arguments)
        return UNFINISHED
    except Detached as error:
        print(f"mpr-audit: {error}", file=sys.stderr)
        return INTERRUPTED
    except (typer.TyperException, UsageError) as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        print(f"mpr-audit: {_shortened(' '.join(message.split()))}", file=sys.stderr)
        return USAGE
    except RunError as error:
        print(f"mpr-audit: failed: {error}", file=sys.stderr)
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last place that can tell the user
        traceback.print_exc()
        print(f"mpr-audit: failed: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED


def _shortened(message: str) -> str:
    """A message that quotes a long text of the configuration or the data still is one that can be read."""
    kept = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:kept]} ... {message[-kept:]}"


def _interrupt(*_: object) -> NoReturn:
    """End what runs, once: whoever presses again wants the end that is coming, and would break it off."""
    for again in (signal.SIGINT, signal.SIGTERM):
        signal.signal(again, signal.SIG_IGN)
    raise KeyboardInterrupt


def _say_how_to_go_on(what: str, arguments: list[str]) -> None:
    print(f"mpr-audit: {what}, continue with: {shlex.join(['mpr-audit', *arguments])}", file=sys.stderr)
