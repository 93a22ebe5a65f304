"""What a plan will cost: time, memory and disk, from rates measured with the demo on two cores.

Rough on purpose, and said to be: it tells minutes from days before anything is started. Each stage knows what a unit
of it takes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import psutil

from jobs.config.audit import Audit
from jobs.plan.plan import Plan

# Seconds until Ray and its workers run and encoders are loaded.
SECONDS_TO_START = 25.0
# Bytes of memory of a worker process.
WORKER_BYTES = 800e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Seconds of wall time, bytes of memory on this machine, bytes of disk for the run's folder.

    read_bytes and search_seconds are of the search alone: vectors that it reads, and wall time.
    """

    wall_seconds: float
    read_bytes: float
    search_seconds: float
    memory_bytes: float
    disk_bytes: float


def estimate(settings: Audit, plan: Plan, missing: Collection[str]) -> Estimate:
    """The cost of a plan's missing units, by their keys; memory and disk are those of the whole plan."""
    cpus = settings.runtime.most_cpus or psutil.cpu_count() or 1
    costs = {unit.key: unit.cost() for unit in plan.units}
    waiting = [unit for unit in plan.units if unit.key in missing]
    seconds = sum(unit.seconds + costs[unit.key].seconds for unit in waiting)
    return Estimate(
        wall_seconds=seconds / cpus + SECONDS_TO_START * bool(waiting),
        read_bytes=sum(costs[unit.key].read_bytes for unit in waiting),
        search_seconds=sum(costs[unit.key].search_seconds for unit in waiting) / cpus,
        memory_bytes=cpus * (WORKER_BYTES + max((cost.memory_bytes for cost in costs.values()), default=0.0)),
        disk_bytes=sum(cost.disk_bytes for cost in costs.values()),
    )
