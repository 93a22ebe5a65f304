"""`mpr-audit submit`: an audit as a job of a Ray cluster."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from jobs.cli.options import AsJson, Config, Limit, Output, Overrides, print_json
from jobs.errors import UsageError
from jobs.submission.defaults import DEFAULT_ADDRESS, PERIODS

Address = Annotated[
    str | None, typer.Option(help=f"The dashboard's; default: RAY_API_SERVER_ADDRESS, else {DEFAULT_ADDRESS}.")
]
Period = Annotated[
    str | None,
    typer.Option(help="Start it once in each: " + ", ".join(PERIODS) + "; {period} in the output names it."),
]
Retry = Annotated[bool, typer.Option("--retry", help="Submit again what failed or was stopped.")]
Attach = Annotated[bool, typer.Option("--attach", help="Follow what was submitted already instead of refusing.")]
OnCluster = Annotated[
    bool, typer.Option("--on-cluster", help="The cluster has the configuration at the same path: send no files.")
]
Environment = Annotated[
    list[str] | None, typer.Option("--env", help="Variable of the job, NAME=VALUE; others can read it: no secrets.")
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not follow the job to its end.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, send nothing.")]


def submit(
    config: Config,
    output: Output = None,
    overrides: Overrides = None,
    limit: Limit = None,
    address: Address = None,
    period: Period = None,
    retry: Retry = False,
    attach: Attach = False,
    on_cluster: OnCluster = False,
    env: Environment = None,
    no_wait: NoWait = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Run an audit as a job of a running Ray cluster; the same audit is not started twice."""
    from jobs.config.file import read_config
    from jobs.submission import job

    if period is not None and period not in PERIODS:
        raise UsageError(f"--period {period}: one of {', '.join(PERIODS)} is expected")
    prepared = job.prepare(
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
    # Read when ray is imported. A cluster without tokens has to be asked for by setting the variable.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    from jobs.run.ray import job_client

    client = job_client(prepared.address)
    # With --json, standard output holds one object.
    stream = sys.stderr if as_json else sys.stdout
    try:
        name = job.send(client, prepared, retry)
        print(f"submitted {name} to {prepared.address}", file=stream, flush=True)
    except job.AlreadySubmitted as known:
        if not attach:
            raise
        name = known.name
    code = None
    if not no_wait:
        code = job.follow(client, name, lambda text: print(text, end="", file=stream, flush=True))
    if as_json:
        print_json(prepared.to_json() | {"submission_id": name, "exit_code": code})
    return code or 0
