"""Which process is it, and does it still run?"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

import psutil

# Two looks at one process's start differ by rounding only.
START_TOLERANCE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process, identified for good: process ids are reused; the pair (id, start time) is not.

    machine identifies where the id is valid: one boot of one machine, and one container on it.
    """

    host: str
    machine: str
    pid: int
    started: float

    @property
    def is_alive(self) -> bool | None:
        """Whether it runs; None where this is another machine, where this cannot be found out."""
        if (self.host, self.machine) != (socket.gethostname(), _machine()):
            return None
        try:
            found = psutil.Process(self.pid)
            # A killed process that its parent has not asked about keeps its number, and does nothing.
            is_ended = found.status() == psutil.STATUS_ZOMBIE
            return not is_ended and abs(found.create_time() - self.started) < START_TOLERANCE_SECONDS
        except psutil.NoSuchProcess:
            return False


def this_process() -> Process:
    """The one that asks."""
    return Process(
        host=socket.gethostname(),
        machine=_machine(),
        pid=os.getpid(),
        started=psutil.Process().create_time(),
    )


def _machine() -> str:
    """Differs between containers that share a name, and after a machine has started anew."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
