"""Runs of a stage that does nothing but write: what is left is the machinery's own cost."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import psutil
import pyarrow as pa

from jobs import audit
from jobs.config.file import read_config
from jobs.plan.plan import Plan
from jobs.run.progress import Silent
from jobs.stages.registry import STAGES
from jobs.stages.unit import Tables, Unit
from jobs.store import Store

TABLE = pa.table({"x": [1]})


@dataclass(frozen=True, kw_only=True, slots=True)
class NoOp(Unit):
    """A table of one row."""

    stage: ClassVar[str] = "no-op"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.0

    number: int

    def run(self, store: Store) -> Tables:
        return {"results": TABLE}


def run(config: Path, output: Path, units: int, is_durable: bool) -> dict[str, Any]:
    """A whole run, from the lock to the end, of so many units into a folder; those that are done stay done.

    Returns: counts, seconds of wall time, and bytes by which this process grew: at most, and in the end.
    """
    settings = read_config(config)
    made = [NoOp(title=f"number {number}", number=number) for number in range(units)]
    plan = Plan(stages={NoOp.stage: made}, catalogues={}, blocks={}, parts={}, shards={}, made={}, probes={}, notes=())
    inputs = SimpleNamespace(item_encoder=None, text_encoder=None, query_vectors=None, cache=None)
    kept = audit.prepare, audit.Store
    audit.prepare, audit.Store = lambda *_: (inputs, plan), lambda root: Store(root, is_durable=is_durable)
    STAGES[NoOp.stage] = NoOp
    before, started = psutil.Process().memory_info().rss, time.perf_counter()
    try:
        summary = audit.run(settings, str(output), Silent())
    finally:
        audit.prepare, audit.Store = kept
        del STAGES[NoOp.stage]
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    kept_bytes = psutil.Process().memory_info().rss - before
    return summary.counts | {"seconds": seconds, "grown_bytes": max(0, peak - before), "kept_bytes": kept_bytes}
