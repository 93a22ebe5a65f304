"""Reaching Ray: a running cluster by its address, else a local one that is started here."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Any

import ray
from ray.job_config import JobConfig

from jobs import interruption, own_code
from jobs.config.audit import Runtime
from jobs.errors import RunError, UsageError
from jobs.running.addresses import CLIENT_SCHEME, expect_answer

# Receipts travel through the object store, data does not.
OBJECT_STORE_BYTES = 200 * 1024 * 1024
# The address of a local start, and that of whichever cluster runs on this machine.
LOCAL, ANY = "local", "auto"
# Seconds for a head that answers to let a driver in; far above what a busy machine needs.
CONNECT_SECONDS = 60.0
# Letters of Ray's own words in a sentence of ours.
MOST_LETTERS = 300
# The longest path of a Unix socket in bytes, and that of Ray's longest one below its temporary folder.
SOCKET_BYTES = 107
LONGEST_SOCKET = "session_2000-01-01_00-00-00_000000_4194304/sockets/plasma_store"
# Where a temporary folder is short, by preference.
SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")

QUIET: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}


class _OwnFolders(list[str]):
    """Folders that workers import from first. Ray would add the current folder, and that of the script."""

    def extend(self, folders: Any) -> None:
        """Nothing is added."""


def connect(settings: Runtime) -> None:
    """Connect to the cluster that the settings or RAY_ADDRESS name, or start a local one.

    Raises:  UsageError for an address at which no cluster answers; RunError where Ray does not start.
    """
    address = settings.address or os.environ.get("RAY_ADDRESS")
    if address and address != LOCAL:
        named = f"runtime.address {address}" if settings.address else f"RAY_ADDRESS {address}"
        _join(address, named)
    else:
        _start(settings.workers)


def temporary_folder() -> str:
    """A folder for Ray's sockets and logs: the usual one, or a short one where paths would be too long for sockets.

    Raises:  UsageError where none can be written.
    """
    usual = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or SHORT_FOLDERS[0]
    for base in (usual, *SHORT_FOLDERS):
        folder = Path(base).absolute() / "ray"
        if len(os.fsencode(folder / LONGEST_SOCKET)) <= SOCKET_BYTES and _can_be_written(folder):
            return str(folder)
    raise UsageError(
        f"temporary folder {usual}: Ray needs one that can be written and whose path has at most "
        f"{SOCKET_BYTES - len(LONGEST_SOCKET) - len('/ray/')} bytes: set RAY_TMPDIR"
    )


def _start(workers: int | None) -> None:
    try:
        ray.init(
            address=LOCAL,
            num_cpus=workers,
            object_store_memory=OBJECT_STORE_BYTES,
            include_dashboard=False,
            job_config=_job_config(),
            _temp_dir=temporary_folder(),
            **QUIET,
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RunError(f"Ray does not start here, `mpr-audit doctor` may know why: {_words(error)}") from error


def _join(address: str, named: str) -> None:
    try:
        where = _found() if address == ANY else address
        expect_answer(where)
    except UsageError as error:
        raise UsageError(f"{named}: {error}") from None
    options = QUIET if where.startswith(f"{CLIENT_SCHEME}://") else QUIET | {"job_config": _job_config()}
    failure: list[BaseException] = []

    def tried() -> None:
        try:
            ray.init(address=where, **options)
        except BaseException as error:  # noqa: BLE001 - it is told below
            failure.append(error)

    if not interruption.bounded(f"connecting to {where}", tried, CONNECT_SECONDS):
        raise UsageError(f"{named}: the head answers, but lets nobody in within {CONNECT_SECONDS:g} s")
    if failure and isinstance(failure[0], ray.exceptions.AuthenticationError):
        raise UsageError(
            f"{named}: the cluster refuses this machine's token: put its token into a file that only you can read "
            "and set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH=FILE"
        )
    if failure:
        raise UsageError(f"{named}: Ray cannot connect: {_words(failure[0])}") from failure[0]


def _found() -> str:
    """The address of a cluster that runs on this machine.

    Raises:  UsageError where there is none.
    """
    from ray._private.services import get_ray_address_from_environment

    try:
        return get_ray_address_from_environment(ANY, None)
    except ConnectionError:
        raise UsageError("no Ray cluster runs on this machine") from None


def _job_config() -> JobConfig:
    return JobConfig(_py_driver_sys_path=_OwnFolders(own_code.folders()))


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _words(error: BaseException) -> str:
    """What Ray says, on one line."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return words if len(words) <= MOST_LETTERS else f"{words[:MOST_LETTERS]}..."
