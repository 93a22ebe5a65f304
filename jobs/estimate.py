"""What a plan will cost: time, memory and disk, from rates measured with the demo on two cores.

Rough on purpose, and said to be: it tells minutes from days before anything is started.
"""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from jobs.config import Audit
from jobs.plan import Plan
from jobs.units import Unit

# Seconds of one core: a text of twenty words through the sentence encoder, a unit of each stage.
SECONDS_PER_TEXT = 0.005
SECONDS_PER_UNIT = {
    "catalogue": 0.1,
    "queries": 1.0,
    "texts": 2.0,
    "embed": 0.1,
    "information": 2.0,
    "prefilter": 0.2,
    "merge": 0.1,
    "rescore": 0.2,
    "pool": 0.1,
    "solve": 0.3,
}
SECONDS_PER_POINT = {"top_k": 0.02, "mmr": 0.1}
SECONDS_PER_POINT_OTHERWISE = 0.05
# Seconds until Ray and its workers run and encoders are loaded.
SECONDS_TO_START = 25.0
# Bytes of memory of a worker process, and of one number of a vector.
WORKER_BYTES = 800e6
FLOAT_BYTES = 4
# Numbers in a vector where no encoder has said otherwise.
DIMENSION = 384
# Bytes of a result row with its list of items, compressed.
ROW_BYTES = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Seconds of wall time, bytes of memory on this machine, bytes of disk for the run's folder."""

    wall_seconds: float
    memory_bytes: float
    disk_bytes: float


def estimate(settings: Audit, plan: Plan, missing: set[str]) -> Estimate:
    """The cost of a plan's missing units, by their keys."""
    cpus = settings.runtime.workers or psutil.cpu_count() or 1
    waiting = [unit for unit in plan.units if unit.key in missing]
    seconds = sum(SECONDS_PER_UNIT[unit.stage] + _seconds(unit) for unit in waiting)
    shards = [unit.spec["stop"] - unit.spec["start"] for unit in plan.stages["embed"]]
    rows = sum(_points(unit) * len(settings.function_classes) for unit in plan.stages["solve"])
    with_vectors = sum(unit.spec["with_vectors"] for unit in plan.stages["pool"])
    vectors = (sum(shards) + with_vectors * settings.prefilter.top) * DIMENSION * FLOAT_BYTES
    shard_bytes = max(shards, default=0) * DIMENSION * FLOAT_BYTES
    return Estimate(
        wall_seconds=seconds / cpus + SECONDS_TO_START * bool(waiting),
        memory_bytes=cpus * (WORKER_BYTES + 3 * shard_bytes),
        disk_bytes=vectors + rows * ROW_BYTES,
    )


def _seconds(unit: Unit) -> float:
    if unit.stage == "embed":
        return (unit.spec["stop"] - unit.spec["start"]) * SECONDS_PER_TEXT
    if unit.stage == "solve":
        rate = SECONDS_PER_POINT.get(unit.spec["method"]["name"], SECONDS_PER_POINT_OTHERWISE)
        return _points(unit) * rate
    return 0.0


def _points(unit: Unit) -> int:
    method = unit.spec["method"]
    return method["points"] or len(method["values"] or [None])
