"""What the machines of a cluster offer, and how much memory a unit asks of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from ..stages.unit import WORKER_BYTES, Unit
from .attempts import Limits

# Seconds for which what is known of the nodes is good enough.
KNOWN_SECONDS = 5.0
# Part of a machine's memory that is asked for: a request must fit beside what was rounded off.
ASKED = 0.95


class Nodes:
    """Machines, as Ray lists them; they come and go, so they are asked for again after `KNOWN_SECONDS`."""

    def __init__(self, look: Callable[[], list[dict[str, Any]]]) -> None:
        self._look = look
        self._looked = -math.inf

    def _alive(self) -> list[dict[str, float]]:
        if time.monotonic() - self._looked > KNOWN_SECONDS:
            self._looked = time.monotonic()
            self._resources = [node["Resources"] for node in self._look() if node["Alive"]]
        return self._resources

    @property
    def cpus(self) -> int:
        """CPUs of all machines, at least 1: a cluster that grows by demand may begin with none."""
        return max(1, int(sum(node.get("CPU", 0) for node in self._alive())))

    @property
    def offers(self) -> list[tuple[float, float]]:
        """CPUs and GPUs of each machine."""
        return [(node.get("CPU", 0.0), node.get("GPU", 0.0)) for node in self._alive()]

    def request_bytes(self, limits: Limits, halvings: int, held_bytes: float = 0.0) -> int | None:
        """Memory to request for a unit: one CPU's share, its limit, or what it holds with its process, whichever is
        most; doubled each time memory ran out.

        held_bytes: what a unit is expected to hold. At last it asks for a whole machine, and nothing runs beside it.
        None where no machine states any.
        """
        nodes = [(node.get("memory", 0), node["CPU"]) for node in self._alive() if node.get("CPU", 0) >= 1]
        share_bytes = min((memory / cpus for memory, cpus in nodes), default=0)
        largest_bytes = max((memory for memory, _ in nodes), default=0)
        first = max(limits.memory_bytes or 0, ASKED * share_bytes, held_bytes + WORKER_BYTES)
        return int(min(first * 2**halvings, ASKED * largest_bytes)) or None


def held_bytes(units: Iterable[Unit]) -> float:
    """Memory of the one that holds most of some units, which run one after the other."""
    return max((unit.cost().memory_bytes for unit in units), default=0.0)
