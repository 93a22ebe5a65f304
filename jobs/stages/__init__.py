"""Stages: plain functions from a unit's spec to tables, and the one way to run and commit a unit."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jobs.encoders import Encoder
from jobs.errors import is_disk_full
from jobs.stages.embed import embed, embed_debiased, embed_queries, embed_texts
from jobs.stages.information import information, order
from jobs.stages.labels import labels
from jobs.stages.pool import pool
from jobs.stages.prefilter import merge, prefilter
from jobs.stages.probe import probe
from jobs.stages.rescore import rescore
from jobs.stages.solve import solve
from jobs.stages.units import Unit
from jobs.store import Receipt, Store, committed_receipt, failure_file, receipt_file, unit_file

# Stages that need an encoder get it third; `catalogue` is what the driver has read itself.
ENCODING = {"embed": embed, "queries": embed_queries, "texts": embed_texts, "debiased": embed_debiased}
STAGES: dict[str, Callable[[Mapping[str, Any], Store], dict[str, pa.Table]]] = {
    "probe": probe,
    "labels": labels,
    "information": information,
    "order": order,
    "prefilter": prefilter,
    "merge": merge,
    "rescore": rescore,
    "pool": pool,
    "solve": solve,
}
# Rows of a Parquet row group where a reader takes less than the file: one query's row, one shard's items.
ROWS_PER_GROUP = {"prefilter": 1, "merge": 1, "rescore": 1, "catalogue": 65_536}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a unit ended: with a receipt, or with one sentence and a traceback.

    is_disk_full: nothing is wrong with the unit, and others will fare no better.
    """

    key: str
    receipt: Receipt | None = None
    message: str = ""
    traceback: str = ""
    is_disk_full: bool = False


def execute(unit: Unit, store: Store, encoder: Callable[[], Encoder | None] = lambda: None) -> Outcome:
    """Run a unit and commit its tables; an exception is an outcome, not the end of the run.

    Only whoever counts the outcome records a failure: a worker that outlives its run would add to what was counted.
    A unit with a receipt is done: a task that Ray repeats after losing a worker computes only what is
    missing. encoder gives the loaded encoder to the stages that need one.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    try:
        receipt = committed_receipt(store, unit.stage, unit.key)
        if receipt is not None:
            return Outcome(key=unit.key, receipt=receipt)
        if unit.stage in ENCODING:
            tables = ENCODING[unit.stage](unit.spec, store, encoder())
        else:
            tables = STAGES[unit.stage](unit.spec, store)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        return Outcome(key=unit.key, receipt=commit(unit, store, tables, seconds, cpu_seconds))
    except Exception as error:  # noqa: BLE001 - whatever a unit raises is its failure, kept with its traceback
        message = f"{type(error).__name__}: {error}"
        is_full = is_disk_full(error)
        return Outcome(key=unit.key, message=message, traceback=traceback.format_exc(), is_disk_full=is_full)


def commit(
    unit: Unit, store: Store, tables: Mapping[str, pa.Table], seconds: float, cpu_seconds: float = 0.0
) -> Receipt:
    """Put a unit's tables in place, then its receipt; the second writer of a unit writes nothing."""
    done = committed_receipt(store, unit.stage, unit.key)
    if done is not None:
        return done
    files = {
        name: store.write_table(unit_file(unit.stage, unit.key, name), table, ROWS_PER_GROUP.get(unit.stage))
        for name, table in tables.items()
    }
    receipt = Receipt(
        stage=unit.stage, key=unit.key, title=unit.title, files=files, seconds=seconds, cpu_seconds=cpu_seconds
    )
    store.write(receipt_file(unit.stage, unit.key), receipt.to_json().encode())
    store.delete(failure_file(unit.stage, unit.key))
    return receipt


def record_failure(unit: Unit, store: Store, outcome: Outcome) -> None:
    """Keep what went wrong until the unit succeeds, or the next run begins.

    A disk that has no room for it does not hide what went wrong from the run.
    """
    kept = {
        "stage": unit.stage,
        "unit": unit.key,
        "title": unit.title,
        "message": outcome.message,
        "traceback": outcome.traceback,
    }
    with suppress(OSError):
        store.write_json(failure_file(unit.stage, unit.key), kept)
