"""Submits an audit to a running cluster and follows it to its end.

`ray job submit` ends with 1 however a job failed, and with 0 when it was stopped; here the job's own
exit code comes back.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import interruption
from ..config.file import ConfigFile
from ..errors import Detached, UsageError
from .bundle import Bundle, bundle_of, named_files
from .defaults import DEFAULT_ADDRESS
from .identity import period_of, submission_id

ADDRESS_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")
PERIOD_PLACEHOLDER = "{period}"
ENDED_WELL, ENDED_BADLY = {"SUCCEEDED"}, {"FAILED", "STOPPED"}
# Seconds between looks at a job whose log has ended or could not be read.
POLL_SECONDS = 1.0
# Seconds between looks whether a signal has come while a log is silent.
LOOK_SECONDS = 0.2
# Looks in a row that may fail before following is given up; the job goes on.
FAILED_LOOKS = 60
# Attempts that `retry` looks through.
MOST_ATTEMPTS = 1000
# How a job that somebody stopped has ended, as an interrupted run does.
INTERRUPTED = 130


class AlreadySubmitted(UsageError):
    """The same audit was submitted before, under `name`."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """A job, ready to be sent. bundle: the files that travel, None where the cluster has them."""

    submission_id: str
    address: str
    output: str
    entrypoint: str
    bundle: Bundle | None
    environment: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """What would be sent; values of environment variables stay out of it."""
        return {
            "submission_id": self.submission_id,
            "address": self.address,
            "output": self.output,
            "entrypoint": self.entrypoint,
            "files": {} if self.bundle is None else self.bundle.sizes_bytes,
            "environment": sorted(self.environment),
        }


def prepare(
    config: ConfigFile[Any],
    *,
    output: str | None,
    overrides: Sequence[str],
    limit: int | None,
    period: str | None,
    address: str | None,
    is_on_cluster: bool,
    environment: Sequence[str],
) -> Submission:
    """The job of an audit.

    Raises:  UsageError, one sentence, before anything is sent.
    """
    stamp = period_of(period) if period else None
    chosen = _output(config, output, stamp)
    _expect_lasting_cache(config)
    bundle = None if is_on_cluster else bundle_of(config)
    # The configuration counts by its settings: a remark in it changes nothing.
    inputs = [file for file in bundle.files if file != config.path] if bundle else _files_here(config)
    arguments = ["mpr-audit", "run", bundle.config_name if bundle else str(config.path), "--output", chosen]
    for override in overrides:
        arguments += ["--set", override]
    if config.settings.runtime.address:
        # The job runs inside the cluster that it is sent to.
        arguments += ["--set", "runtime.address=null"]
    if limit is not None:
        arguments += ["--limit", str(limit)]
    return Submission(
        submission_id=submission_id(config.settings, output=chosen, limit=limit, files=inputs, period=stamp),
        address=_address(address),
        output=chosen,
        # The cluster hands this to a shell: every value is quoted.
        entrypoint=shlex.join(arguments),
        bundle=bundle,
        environment=dict(map(_variable, environment)),
    )


def send(client: Any, submission: Submission, is_retry: bool = False) -> str:
    """Start the job and return its id, that of the next attempt where an earlier one failed and is_retry.

    client: Ray's client of the Jobs API.
    Raises:  AlreadySubmitted where the same audit was submitted before.
    """
    name = _next_attempt(client, submission.submission_id) if is_retry else submission.submission_id
    runtime_env: dict[str, Any] = {"env_vars": dict(submission.environment)} if submission.environment else {}
    with tempfile.TemporaryDirectory() as folder:
        if submission.bundle is not None:
            submission.bundle.copy_to(Path(folder))
            runtime_env["working_dir"] = folder
        try:
            accepted: str = client.submit_job(
                entrypoint=submission.entrypoint,
                submission_id=name,
                runtime_env=runtime_env,
                metadata={"output": submission.output},
            )
            return accepted
        except RuntimeError as error:
            # Ray decides: two schedulers may ask at the same moment.
            if "already exists" not in str(error):
                raise
            status = _status(client, name)
            advice = "--retry submits it again" if status in ENDED_BADLY else "--attach follows it"
            message = f"{name} was submitted to {submission.address} already ({status}); {advice}"
            raise AlreadySubmitted(message, name) from None


def follow(client: Any, name: str, show: Callable[[str], None]) -> int:
    """Show a job's log until it ends; the job's own exit code.

    Raises:  Detached when interrupted, or when the cluster cannot be reached any more; the job goes on.
    """
    shown, failed_looks = 0, 0
    try:
        while True:
            try:
                shown = asyncio.run(_show_log(client, name, shown, show))
                details = client.get_job_info(name)
                failed_looks = 0
            except (OSError, RuntimeError) as error:  # the connection's errors are both kinds
                failed_looks += 1
                if failed_looks >= FAILED_LOOKS:
                    raise Detached(f"no answer about job {name} any more, it may go on: {error}") from None
                interruption.pause(POLL_SECONDS)
                continue
            if str(details.status) in ENDED_WELL | ENDED_BADLY:
                return _exit_code(str(details.status), details.driver_exit_code)
            interruption.pause(POLL_SECONDS)
    except KeyboardInterrupt:
        raise Detached(
            f"job {name} goes on; see it with: ray job logs -f {name}, stop it with: ray job stop {name}"
        ) from None


async def _show_log(client: Any, name: str, shown: int, show: Callable[[str], None]) -> int:
    """Show what follows the characters that were shown, until the log ends; how many it has."""
    reading = asyncio.ensure_future(_read_log(client, name, shown, show))
    try:
        while not reading.done():
            interruption.check()
            await asyncio.wait({reading}, timeout=LOOK_SECONDS)
        return reading.result()
    finally:
        reading.cancel()


async def _read_log(client: Any, name: str, shown: int, show: Callable[[str], None]) -> int:
    seen = 0
    async for lines in client.tail_job_logs(name):
        seen += len(lines)
        if seen > shown:
            show(lines[-(seen - shown) :])
            shown = seen
    return shown


def _exit_code(status: str, code: int | None) -> int:
    if status in ENDED_WELL:
        return 0
    if status == "STOPPED":
        return INTERRUPTED
    # A signal's number is negative here, and above 128 in a shell. Without a code the job never started.
    return 1 if not code else code if code > 0 else 128 - code


def _status(client: Any, name: str) -> str:
    return str(client.get_job_info(name).status)


def _next_attempt(client: Any, name: str) -> str:
    """The first free id among NAME, NAME-2, NAME-3, where all before it failed."""
    known = {details.submission_id: str(details.status) for details in client.list_jobs()}
    for attempt in range(1, MOST_ATTEMPTS):
        candidate = name if attempt == 1 else f"{name}-{attempt}"
        if known.get(candidate) not in ENDED_BADLY:
            return candidate  # free, or refused by Ray because it runs or has succeeded
    raise UsageError(f"{name} failed {MOST_ATTEMPTS} times")


def _files_here(config: ConfigFile[Any]) -> list[Path]:
    """Files, not folders, that the configuration names and that are on this machine as well."""
    return [path for path in named_files(config) if path.is_file()]


def _output(config: ConfigFile[Any], output: str | None, stamp: str | None) -> str:
    chosen = output or config.settings.output
    if not chosen:
        raise UsageError("no output: give --output, or output in the configuration")
    if PERIOD_PLACEHOLDER in chosen:
        if stamp is None:
            raise UsageError(f"output {chosen} names a period: give --period")
        chosen = chosen.replace(PERIOD_PLACEHOLDER, stamp)
    if "://" not in chosen and not Path(chosen).is_absolute():
        raise UsageError(
            f"output {chosen} is relative, and a job's own folder on the cluster is deleted with it: "
            "give --output an absolute path of shared storage, or a URL such as s3://bucket/audit"
        )
    return chosen


def _expect_lasting_cache(config: ConfigFile[Any]) -> None:
    cache = config.settings.cache
    if cache is not None and "://" not in cache and not Path(cache).is_absolute():
        raise UsageError(
            f"cache {cache} is relative, and a job's own folder on the cluster is deleted with it: "
            "name an absolute path of shared storage, or a URL such as s3://bucket/audit-cache"
        )


def _address(address: str | None) -> str:
    named = next((os.environ[name] for name in ADDRESS_VARIABLES if os.environ.get(name)), DEFAULT_ADDRESS)
    chosen = address or named
    if not chosen.startswith(("http://", "https://")):
        raise UsageError(f"address {chosen}: that of the dashboard is expected, such as {DEFAULT_ADDRESS}")
    return chosen.rstrip("/")


def _variable(assignment: str) -> tuple[str, str]:
    name, equals, value = assignment.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"--env {assignment}: the form NAME=VALUE is expected")
    return name, value
