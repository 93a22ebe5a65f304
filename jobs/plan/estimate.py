"""What a plan will cost: time, memory and disk.

Each stage knows what a unit of it takes; how fast this machine has been at it in earlier runs corrects the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import psutil

from ..config.audit import Audit
from ..stages.unit import WORKER_BYTES, Cost
from .plan import Plan
from .rates import read_rates

# Memory of the driver before it knows of any unit, and of Ray's own processes.
DRIVER_BYTES, RAY_BYTES = 250e6, 350e6
# Memory of the driver for a unit, its spec and receipt; and bytes that both have on disk.
UNIT_BYTES, UNIT_DISK_BYTES = 10e3, 2e3
# The report and other files of a run, whatever its size.
REPORT_BYTES = 0.8e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Seconds of wall time, bytes of memory on this machine, most bytes of disk that the run's folder takes.

    read_bytes and search_seconds are of the search alone: vectors that it reads, and wall time.
    """

    wall_seconds: float
    read_bytes: float
    search_seconds: float
    memory_bytes: float
    disk_bytes: float


def estimate(settings: Audit, plan: Plan, missing: Collection[str]) -> Estimate:
    """The cost of a plan's missing units, by their keys; memory and disk are those of the whole plan."""
    cpus = cpus_of(settings)
    units = plan.units
    costs = {unit.key: unit.cost() for unit in units}
    waiting = [unit for unit in units if unit.key in missing]
    rates = read_rates()
    held = sorted((cost.memory_bytes for cost in costs.values()), reverse=True)[:cpus]
    is_local = settings.runtime.executor == "local"
    around_bytes = DRIVER_BYTES if is_local else DRIVER_BYTES + RAY_BYTES + cpus * WORKER_BYTES
    return Estimate(
        wall_seconds=rates.seconds(waiting, cpus) + rates.around * bool(waiting),
        read_bytes=sum(costs[unit.key].read_bytes for unit in waiting),
        search_seconds=sum(costs[unit.key].search_seconds * rates.of(unit.stage).work for unit in waiting) / cpus,
        memory_bytes=around_bytes + sum(held) + len(units) * UNIT_BYTES,
        disk_bytes=_disk_bytes(plan, costs) + len(units) * UNIT_DISK_BYTES + REPORT_BYTES,
    )


def _disk_bytes(plan: Plan, costs: Mapping[str, Cost]) -> float:
    """Of all tables that are there when some stage ends, or at the end: intermediate ones go with their last reader."""
    stages = list(plan.stages.values())
    last_read = {key: place for place, units in enumerate(stages) for unit in units for key in unit.needs}
    kept, most = 0.0, 0.0
    between: dict[int, float] = defaultdict(float)
    for place, units in enumerate(stages):
        for unit in units:
            taken = costs[unit.key].disk_bytes
            if unit.is_intermediate:
                between[last_read.get(unit.key, place)] += taken
            else:
                kept += taken
        most = max(most, kept + sum(taken for last, taken in between.items() if last >= place))
    return most


def cpus_of(settings: Audit) -> int:
    """CPUs that a run on this machine uses."""
    return settings.runtime.most_cpus or psutil.cpu_count() or 1
