"""What a plan will cost: time, memory and disk, from rates measured with the demo on two cores.

Rough on purpose, and said to be: it tells minutes from days before anything is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from jobs.config.audit import Audit
from jobs.plan.plan import Plan
from jobs.plan.search_units import BYTES_PER_NUMBER, vector_width
from jobs.stages.units import Unit

# Seconds of one core: a text of twenty words through the sentence encoder, a picture through ViT-B/32 on a
# CPU, a unit of each stage.
SECONDS_PER_ITEM = {"text": 0.005, "vector": 0.0001, "vector_row": 0.0001, "image": 0.1}
SECONDS_PER_UNIT = {
    "catalogue": 0.1,
    "tokens": 0.1,
    "queries": 1.0,
    "texts": 2.0,
    "embed": 0.1,
    "debiased": 2.0,
    "probe": 10.0,
    "labels": 0.2,
    "information": 2.0,
    "order": 0.1,
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
# Bytes of memory of a worker process.
WORKER_BYTES = 800e6
# Products of two numbers that one core makes a second: scoring a shard, and exact scores of what survives
# (`python -m tests.benchmarks.prefilter` prints both; these are cautious).
PRODUCTS_PER_SECOND = 20e9
EXACT_PRODUCTS_PER_SECOND = 0.5e9
SEARCHING = {"prefilter": PRODUCTS_PER_SECOND, "rescore": EXACT_PRODUCTS_PER_SECOND}
# Bytes of a result row with its list of items, compressed.
ROW_BYTES = 400


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


def estimate(settings: Audit, plan: Plan, missing: set[str]) -> Estimate:
    """The cost of a plan's missing units, by their keys."""
    cpus = settings.runtime.most_cpus or psutil.cpu_count() or 1
    waiting = [unit for unit in plan.units if unit.key in missing]
    embeddings = {unit.key: unit for unit in plan.stages["embed"]}
    searches = [unit for unit in waiting if unit.stage in SEARCHING]
    search_seconds = sum(_products(plan, embeddings, unit) / SEARCHING[unit.stage] for unit in searches)
    seconds = search_seconds + sum(SECONDS_PER_UNIT[unit.stage] + _seconds(unit) for unit in waiting)
    rows = sum(_points(unit) * len(settings.function_classes) for unit in plan.stages["solve"])
    stored = sum(_vector_bytes(plan, unit) * _rows(unit) for unit in plan.stages["embed"])
    # Pools hold float32 whatever is stored.
    pools = sum(
        unit.spec["top"] * vector_width(plan.catalogues[unit.spec["catalogue"]]) * BYTES_PER_NUMBER["float32"]
        for unit in plan.stages["pool"]
        if unit.spec["with_vectors"]
    )
    shard_bytes = max((_vector_bytes(plan, unit) * _rows(unit) for unit in plan.stages["embed"]), default=0)
    return Estimate(
        wall_seconds=seconds / cpus + SECONDS_TO_START * bool(waiting),
        read_bytes=sum(_read_bytes(plan, embeddings, unit) for unit in searches),
        search_seconds=search_seconds / cpus,
        memory_bytes=cpus * (WORKER_BYTES + 3 * shard_bytes),
        disk_bytes=stored + pools + rows * ROW_BYTES,
    )


def _rows(embedding: Unit) -> int:
    return embedding.spec["stop"] - embedding.spec["start"]


def _vector_bytes(plan: Plan, embedding: Unit) -> int:
    return vector_width(plan.catalogues[embedding.spec["catalogue"]]) * BYTES_PER_NUMBER[embedding.spec["storage"]]


def _vectors_of(plan: Plan, embeddings: Mapping[str, Unit], search: Unit) -> tuple[float, int, int]:
    """Vectors that a task of the search reads, numbers and bytes of each."""
    shards = [embeddings[key] for key in search.spec["vectors"]]
    catalogue, rows = plan.catalogues[shards[0].spec["catalogue"]], sum(map(_rows, shards))
    if search.stage == "rescore":
        # Each query's best lie anywhere: a part has its share of them.
        rows *= len(search.spec["prompts"]) * min(search.spec["top"], catalogue.size) / catalogue.size
    return rows, vector_width(catalogue), _vector_bytes(plan, shards[0])


def _read_bytes(plan: Plan, embeddings: Mapping[str, Unit], search: Unit) -> float:
    vectors, _, size = _vectors_of(plan, embeddings, search)
    return vectors * size


def _products(plan: Plan, embeddings: Mapping[str, Unit], search: Unit) -> float:
    vectors, width, _ = _vectors_of(plan, embeddings, search)
    return vectors * width * (len(search.spec["prompts"]) if search.stage == "prefilter" else 1)


def _seconds(unit: Unit) -> float:
    if unit.stage == "embed":
        return (unit.spec["stop"] - unit.spec["start"]) * SECONDS_PER_ITEM[unit.spec["reads"]]
    if unit.stage == "solve":
        rate = SECONDS_PER_POINT.get(unit.spec["method"]["name"], SECONDS_PER_POINT_OTHERWISE)
        return _points(unit) * rate
    return 0.0


def _points(unit: Unit) -> int:
    method = unit.spec["method"]
    return method["points"] or len(method["values"] or [None])
