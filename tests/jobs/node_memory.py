"""A run on a Ray whose machine is said to run out of memory early: prints what became of each unit, as JSON.

A process of its own, since Ray's memory monitor takes its threshold from the environment at its start.
"""

from __future__ import annotations

import json
import os
import sys

import psutil

# What may be used beyond what is used now, before Ray's memory monitor kills a worker: room for Ray and a worker,
# and less than what a unit eats.
ROOM_BYTES = 1_900_000_000


def main(folder: str) -> None:
    memory = psutil.virtual_memory()
    share = (memory.total - memory.available + ROOM_BYTES) / memory.total
    os.environ["RAY_memory_usage_threshold"] = str(share)  # noqa: SIM112 - Ray's own name
    os.environ["RAY_memory_monitor_refresh_ms"] = "100"  # noqa: SIM112 - Ray's own name
    from jobs.config.runtime import Runtime
    from jobs.run.dispatch import UnitEnded, UnitRetried
    from jobs.run.ray import Cluster
    from tests.jobs.fake_units import fake_unit
    from tests.jobs.faults import FaultyStore

    told: dict[str, list[str]] = {"retried": [], "messages": []}
    for fate, stage in (("eat once", "solve"), ("eat once", "embed"), ("eat", "solve")):
        unit = fake_unit(f"{stage}-{fate[3:].strip() or 'always'}", fate, stage)
        store = FaultyStore(folder, {unit.key: fate})
        with Cluster(Runtime(workers=1)) as cluster:
            run = cluster.run_on_encoders([unit], store, None) if stage == "embed" else cluster.run_tasks([unit], store)
            for event in run:
                if isinstance(event, UnitRetried):
                    told["retried"].append(f"{unit.key}: {event.loss}")
                elif isinstance(event, UnitEnded):
                    told["messages"].append(f"{unit.key}: {event.outcome.message}")
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
