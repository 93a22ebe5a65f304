"""`mpr-audit submit`: an audit as a job of a Ray cluster."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import UsageError
from ...submission.defaults import DEFAULT_ADDRESS, PERIODS
from ..options import AsJson, Config, Limit, Output, Overrides, print_json, with_options

if TYPE_CHECKING:
    from ...submission.job import Submission

Address = Annotated[
    str | None, typer.Option(help=f"The dashboard's; default: RAY_API_SERVER_ADDRESS, else {DEFAULT_ADDRESS}.")
]
Period = Annotated[
    str | None,
    typer.Option(help="Start it once per period: " + ", ".join(PERIODS) + "; {period} in the output becomes its name."),
]
Retry = Annotated[bool, typer.Option("--retry", help="Submit the audit again if it failed or was stopped.")]
Attach = Annotated[
    bool, typer.Option("--attach", help="If it was submitted already, follow that job instead of refusing.")
]
OnCluster = Annotated[
    bool, typer.Option("--on-cluster", help="Send no files; the cluster has the configuration at the same path.")
]
Environment = Annotated[
    list[str] | None,
    typer.Option("--env", help="Environment variable of the job, NAME=VALUE; no secrets, since others can read it."),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not follow the job to its end.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, send nothing.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of `submit`."""

    config: Config
    output: Output = None
    overrides: Overrides = None
    limit: Limit = None
    address: Address = None
    period: Period = None
    retry: Retry = False
    attach: Attach = False
    on_cluster: OnCluster = False
    env: Environment = None
    no_wait: NoWait = False
    dry_run: DryRun = False
    as_json: AsJson = False


@with_options(Options)
def submit(asked: Options) -> int:
    """Run an audit as a job of a running Ray cluster; the same audit is not started twice."""
    prepared = _submission(asked)
    if asked.dry_run:
        print(json.dumps(prepared.to_json(), ensure_ascii=False, indent=None if asked.as_json else 1))
        return 0
    name, code = _submit_and_follow(prepared, asked)
    if asked.as_json:
        print_json(prepared.to_json() | {"submission_id": name, "exit_code": code})
    return code or 0


def _submission(asked: Options) -> Submission:
    from ...config.file import read_config
    from ...submission import job

    if asked.period is not None and asked.period not in PERIODS:
        raise UsageError(f"--period {asked.period}: one of {', '.join(PERIODS)} is expected")
    return job.prepare(
        read_config(asked.config, tuple(asked.overrides or ())),
        output=asked.output,
        overrides=asked.overrides or (),
        limit=asked.limit,
        period=asked.period,
        address=asked.address,
        is_on_cluster=asked.on_cluster,
        environment=asked.env or (),
    )


def _submit_and_follow(prepared: Submission, asked: Options) -> tuple[str, int | None]:
    """Send a job, or find the one that was sent before, and follow it. Returns its id, and its exit code if known."""
    # Read when ray is imported. A cluster without tokens has to be asked for by setting the variable.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    from ...run.ray import job_client
    from ...submission import job

    client = job_client(prepared.address)
    # With --json, standard output holds one object.
    stream = sys.stderr if asked.as_json else sys.stdout
    try:
        name = job.send(client, prepared, asked.retry)
        print(f"submitted {name} to {prepared.address}", file=stream, flush=True)
    except job.AlreadySubmitted as known:
        if not asked.attach:
            raise
        name = known.name
    if asked.no_wait:
        return name, None
    return name, job.follow(client, name, lambda text: print(text, end="", file=stream, flush=True))
