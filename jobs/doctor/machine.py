"""The machine: processors, memory, shared memory, and room and leave to write at the output."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import psutil

from ..errors import UsageError
from ..store import Store
from ..words import bytes_of, shortened
from .check import Check, ok, problem, warning

# One worker with its libraries, and the driver with a small data set.
LEAST_MEMORY_BYTES = 2e9
LEAST_DISK_BYTES = 1e9
# The object store of a local start; where /dev/shm is smaller Ray falls back to a disk.
LEAST_SHARED_BYTES = 200e6
SHARED_MEMORY = Path("/dev/shm")
# Object stores try for minutes before they give up.
PATIENCE_SECONDS = 60.0


def processors() -> Check:
    """CPUs that this process may use."""
    allowed, there = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    return ok("cpus", f"{allowed}" + (f" of {there}" if allowed < there else ""))


def memory(needed_bytes: float | None = None) -> Check:
    """Free memory, by a container's limit where there is one; needed_bytes is a plan's estimate."""
    free, limit = psutil.virtual_memory().available, _container_limit()
    free = min(free, limit) if limit is not None else free
    found = f"{bytes_of(free)} free"
    if needed_bytes is not None:
        found += f", the audit needs about {bytes_of(needed_bytes)} on one machine"
        if needed_bytes > free:
            return warning("memory", found, "set runtime.workers lower, or use larger machines")
    if free < LEAST_MEMORY_BYTES:
        return problem("memory", found, f"at least {bytes_of(LEAST_MEMORY_BYTES)} are needed")
    return ok("memory", found)


def shared_memory(folder: Path = SHARED_MEMORY, least_bytes: float = LEAST_SHARED_BYTES) -> Check:
    """Room in /dev/shm, where Ray keeps its object store."""
    if not folder.exists():
        return ok("shared memory", f"no {folder} on this system")
    free = shutil.disk_usage(folder).free
    if free < least_bytes:
        advice = "Ray will use a slow disk instead: start the container with --shm-size=1g"
        return warning("shared memory", f"{bytes_of(free)} free in {folder}", advice)
    return ok("shared memory", f"{bytes_of(free)} free in {folder}")


def output(root: str) -> Check:
    """Whether a run could write there; nothing is left behind."""
    if is_remote(root):
        fault = unwritable_store(root)
        advice = "check its address, credentials and bucket"
        return ok("output", f"{root} can be written") if fault is None else problem("output", fault, advice)
    fault = unwritable_folder(root)
    return (
        ok("output", f"{root} can be written") if fault is None else problem("output", fault, "choose another --output")
    )


def is_remote(root: str) -> bool:
    """Whether it is an object store's URL."""
    return "://" in root and not root.startswith("file://")


def unwritable_folder(root: str) -> str | None:
    """Why nothing can be written to a folder, which need not be there yet; None where it can."""
    folder = nearest_place(root)
    if not folder.is_dir():
        return f"{folder} is a file"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror}"


def disk(root: str, needed_bytes: float | None = None) -> Check | None:
    """Room at a local output; None for an object store, which has no end."""
    if is_remote(root):
        return None
    free = shutil.disk_usage(nearest_place(root)).free
    found = f"{bytes_of(free)} free"
    if needed_bytes is not None:
        found += f", the audit needs about {bytes_of(needed_bytes)}"
    if free < max(LEAST_DISK_BYTES, needed_bytes or 0):
        return problem("disk", found, "make room, or choose another --output")
    return ok("disk", found)


def unwritable_store(root: str) -> str | None:
    """Why nothing can be written to an object store; a small file is written and deleted, in a thread that may be left
    behind."""
    failure: list[str] = []

    def written() -> None:
        try:
            Store(root).prepare()
        except UsageError as error:
            failure.append(str(error))
        except Exception as error:  # noqa: BLE001 - every driver has its own kinds
            failure.append(shortened(f"{type(error).__name__}: {error}"))

    thread = threading.Thread(target=written, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    if thread.is_alive():
        failure.append(f"no answer within {PATIENCE_SECONDS:.0f} s")
    return f"{root}: {failure[0]}" if failure else None


def nearest_place(root: str) -> Path:
    """What is there already on the way to a path, from its end."""
    path = Path(root.removeprefix("file://")).absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _container_limit() -> int | None:
    """Bytes that the control group leaves to this process; None without a limit."""
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        return int(limit) - int(used)
    except (OSError, ValueError):
        return None
