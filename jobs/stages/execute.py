"""The one way to run and commit a unit."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ..cache.pictures import CONTENT
from ..cache.vectors import RememberingEncoder
from ..encoders import Encoder
from ..errors import UsageError, is_disk_full
from ..store import Receipt, Store, committed_receipt, failure_file, receipt_file, unit_file
from .embed import Embed
from .unit import EncodingUnit, Tables, Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a unit ended: with a receipt, or with one sentence and a traceback.

    is_disk_full: nothing is wrong with the unit, and others will fare no better. refused: nor is it where the encoder's
    settings cannot be used, which this says. cache_fault: why the cache was of no use, which harms no unit.
    """

    key: str
    receipt: Receipt | None = None
    message: str = ""
    traceback: str = ""
    is_disk_full: bool = False
    refused: str = ""
    cache_fault: str = ""


class EncoderRefused(Exception):
    """An encoder that cannot be loaded because of its settings."""


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
        remembering = _encoder_with_cache(unit, lambda: _encoder_or_refusal(encoder))
        tables = (
            unit.encode(store, remembering or _encoder_or_refusal(encoder))
            if isinstance(unit, EncodingUnit)
            else unit.run(store)
        )
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        reused = 0 if remembering is None else remembering.reused
        receipt = commit(unit, store, tables, seconds, cpu_seconds, reused)
        return Outcome(key=unit.key, receipt=receipt, cache_fault="" if remembering is None else remembering.fault)
    except EncoderRefused as error:
        return Outcome(key=unit.key, message=str(error), refused=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a unit raises is its failure, kept with its traceback
        message = f"{type(error).__name__}: {error}"
        is_full = is_disk_full(error)
        return Outcome(key=unit.key, message=message, traceback=traceback.format_exc(), is_disk_full=is_full)


def _encoder_or_refusal(encoder: Callable[[], Encoder | None]) -> Encoder | None:
    """Raises:  EncoderRefused for settings that cannot be used."""
    try:
        return encoder()
    except UsageError as error:
        raise EncoderRefused(str(error)) from None


def _encoder_with_cache(unit: Unit, encoder: Callable[[], Encoder | None]) -> RememberingEncoder | None:
    """What asks the cache before the encoder, where the unit has a cache."""
    if not isinstance(unit, EncodingUnit) or unit.cache is None:
        return None
    key = getattr(unit, "encoder")  # noqa: B009 - a field of every stage that has a cache
    told_by = unit.image_fingerprint if isinstance(unit, Embed) else CONTENT
    # Vectors of texts are the same, whether of items or of queries: the code that embeds has one version.
    return RememberingEncoder(encoder, unit.cache, encoder=key, version=Embed.version, told_by=told_by)


def commit(
    unit: Unit, store: Store, tables: Tables, seconds: float, cpu_seconds: float = 0.0, reused: int = 0
) -> Receipt:
    """Put a unit's tables in place, then its receipt; the second writer of a unit writes nothing."""
    done = committed_receipt(store, unit.stage, unit.key)
    if done is not None:
        return done
    files = {
        name: store.write_table(
            unit_file(unit.stage, unit.key, name), table, rows_per_group=unit.rows_per_group, encodings=unit.encodings
        )
        for name, table in tables.items()
    }
    receipt = Receipt(
        stage=unit.stage,
        key=unit.key,
        title=unit.title,
        files=files,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        reused=reused,
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
