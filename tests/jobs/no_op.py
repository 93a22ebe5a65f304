"""Runs of a stage that does nothing but write: what is left is the machinery's own cost."""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow as pa

from jobs import audit
from jobs.config.file import read_config
from jobs.plan.plan import Plan
from jobs.run.progress import Silent
from jobs.stages import STAGES
from jobs.stages.units import STAGE_VERSIONS, Unit, digest
from jobs.store import Store

STAGE = "no-op"
TABLE = pa.table({"x": [1]})


def no_op(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """A table of one row."""
    return {"results": TABLE}


class NoOpStore(Store):
    """A store that brings the stage along to whichever process it travels to."""

    def __reduce__(self):
        return _arrived, (self.root, self.is_durable)


def _arrived(root: str, is_durable: bool) -> NoOpStore:
    STAGES[STAGE] = no_op
    return NoOpStore(root, is_durable=is_durable)


def run(config: Path, output: Path, units: int, is_durable: bool) -> dict[str, Any]:
    """A whole run, from the lock to the end, of so many units into a folder; those that are done stay done.

    Returns: counts, seconds of wall time, and bytes by which this process grew: at most, and in the end.
    """
    settings = read_config(config)
    made = [
        Unit(stage=STAGE, key=digest([STAGE, number]), title=f"number {number}", spec={"number": number})
        for number in range(units)
    ]
    stages = {STAGE: made, "solve": []}
    plan = Plan(stages=stages, catalogues={}, blocks={}, shards={}, tokens={}, probes={}, notes=())
    inputs = SimpleNamespace(item_encoder=None, text_encoder=None, query_vectors=None)
    kept = audit.prepare, audit.Store
    audit.prepare, audit.Store = lambda *_: (inputs, plan), lambda root: NoOpStore(root, is_durable=is_durable)
    STAGE_VERSIONS[STAGE] = 1
    before, started = psutil.Process().memory_info().rss, time.perf_counter()
    try:
        summary = audit.run(settings, str(output), Silent())
    finally:
        audit.prepare, audit.Store = kept
        del STAGE_VERSIONS[STAGE]
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    kept_bytes = psutil.Process().memory_info().rss - before
    return summary.counts | {"seconds": seconds, "grown_bytes": max(0, peak - before), "kept_bytes": kept_bytes}
