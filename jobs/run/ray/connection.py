"""Into a running cluster by its address, or a local one that is started here."""

from __future__ import annotations

import logging
from typing import Any

import ray
from ray.job_config import JobConfig

from ... import interruption, own_code
from ...config.runtime import Runtime
from ...errors import RunError, UsageError
from ...words import shortened
from ..temporary_folder import temporary_folder
from .reachability import LOCAL, REFUSED, expect_reachable, named

# Receipts travel through the object store, data does not.
OBJECT_STORE_BYTES = 200 * 1024 * 1024
# Seconds for a cluster that answers to accept a run; far above what a busy machine needs.
CONNECT_SECONDS = 60.0
# Letters of Ray's own text within an error of ours.
MOST_LETTERS = 300

QUIET: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}


class _OwnFolders(list[str]):
    """Folders that workers import from first. Ray would add the current folder, and that of the script."""

    def extend(self, folders: Any) -> None:
        """Nothing is added."""


def connect(settings: Runtime) -> None:
    """Connect to the cluster that the settings or RAY_ADDRESS name, or start a local one.

    Raises:  UsageError where no cluster answers or lets a run in; RunError where Ray does not start.
    """
    address = expect_reachable(settings)
    job_config = JobConfig(_py_driver_sys_path=_OwnFolders(own_code.folders()))
    if address is None:
        _start(settings.workers, job_config)
    else:
        _join(address, named(settings), job_config)


def _start(workers: int | None, job_config: JobConfig) -> None:
    try:
        ray.init(
            address=LOCAL,
            num_cpus=workers,
            object_store_memory=OBJECT_STORE_BYTES,
            include_dashboard=False,
            job_config=job_config,
            _temp_dir=temporary_folder(),
            **QUIET,
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RunError(f"Ray does not start here, `mpr-audit doctor` may know why: {_error_text(error)}") from error


def _join(address: str, name: str | None, job_config: JobConfig) -> None:
    failure: list[BaseException] = []

    def tried() -> None:
        try:
            ray.init(address=address, job_config=job_config, **QUIET)
        except BaseException as error:  # noqa: BLE001 - it is raised below
            failure.append(error)

    if not interruption.bounded(f"connecting to {address}", tried, CONNECT_SECONDS):
        raise UsageError(f"{name}: the cluster answers, but accepts no connection within {CONNECT_SECONDS:g} s")
    if failure and isinstance(failure[0], ray.exceptions.AuthenticationError):
        raise UsageError(f"{name}: {REFUSED}")
    if failure:
        raise UsageError(f"{name}: Ray cannot connect: {_error_text(failure[0])}") from failure[0]


def _error_text(error: BaseException) -> str:
    """Ray's own text, on one line."""
    return shortened(f"{type(error).__name__}: {error}", MOST_LETTERS)
