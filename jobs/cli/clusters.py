"""The commands that look at machines and clusters, and send audits to them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from jobs import doctor
from jobs.cli.options import AsJson, Config, Limit, Output, Overrides
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.submission import job as submission
from jobs.submission.identity import PERIODS

UNFIT = 1


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
    from jobs.run.ray import job_client

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
    return 0 if found["is_fit"] else UNFIT
