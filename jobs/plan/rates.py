"""How fast this machine has been, stage by stage, against what units say that they take: kept in the user's cache.

A stage's seconds are so many for each unit and so many for the unit's work. A run tells of whichever is more; the other
stays as it was. A stage that no run has timed is taken to be as fast as the others, by the median.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..stages.unit import Unit
from ..store import Receipt
from ..store.user_cache import user_cache

# Seconds around the units of a run that nobody has timed: Ray and workers start, tables and report are written, which
# takes two quiet cores some 10 (`python -m tests.benchmarks.scale`, what was said of its first size).
SECONDS_AROUND = 12.0
# In process, a small audit's tables and report take no longer.
LEAST_SECONDS_AROUND = 0.1
# A rate outside of these is a disturbed measurement.
LEAST_RATE, LARGEST_RATE = 0.02, 50.0
# Part of a stage's seconds that is left to either kind, whatever the other is taken to be.
LEAST_PART = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """Seconds that a stage took for each that was expected: of those of each unit, and of those of its work."""

    unit: float = 1.0
    work: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What is known of this machine. around: seconds of a run beside its units."""

    stages: Mapping[str, Rate] = field(default_factory=dict)
    around: float = SECONDS_AROUND

    def of(self, stage: str) -> Rate:
        """A stage's rate."""
        if stage in self.stages or not self.stages:
            return self.stages.get(stage, Rate())
        known = list(self.stages.values())
        return Rate(
            unit=statistics.median(rate.unit for rate in known), work=statistics.median(rate.work for rate in known)
        )

    def seconds(self, units: Iterable[Unit], cpus: int) -> float:
        """Wall seconds of units, stage after stage, each on as many CPUs as it has units; those around not counted."""
        expected = _expected_by_stage(units)
        return sum(
            (one.fixed * self.of(stage).unit + one.work * self.of(stage).work) / min(cpus, one.units)
            for stage, one in expected.items()
        )


@dataclass(slots=True)
class _Expected:
    """Units of a stage, and the seconds that they are expected to take: those of each unit, those of work."""

    units: int = 0
    fixed: float = 0.0
    work: float = 0.0
    taken: float = 0.0


_RATES: TypeAdapter[Rates] = TypeAdapter(Rates)


def read_rates() -> Rates:
    """What earlier runs of this machine have told."""
    with suppress(OSError, ValueError, KeyError):
        return _RATES.validate_python(_read(_file())[_machine()])
    return Rates()


def learn(units: Iterable[Unit], receipts: Mapping[str, Receipt], wall_seconds: float, cpus: int) -> None:
    """Note what a run took for these units, which it computed; nothing where the cache cannot be written."""
    rates, found = read_rates(), _expected_by_stage(units, receipts)
    if not found:
        return
    stages = dict(rates.stages)
    for stage, one in found.items():
        stages[stage] = _updated_rate(rates.of(stage), one)
    busy = sum(one.taken / min(cpus, one.units) for one in found.values())
    around = max(wall_seconds - busy, LEAST_SECONDS_AROUND)
    _write(Rates(stages=stages, around=around))


def _expected_by_stage(units: Iterable[Unit], receipts: Mapping[str, Receipt] | None = None) -> dict[str, _Expected]:
    found: dict[str, _Expected] = {}
    for unit in units:
        one = found.setdefault(unit.stage, _Expected())
        one.units += 1
        one.fixed += unit.seconds
        one.work += unit.cost().seconds
        one.taken += receipts[unit.key].seconds if receipts is not None else 0.0
    return found


def _updated_rate(rate: Rate, one: _Expected) -> Rate:
    if one.fixed + one.work <= 0:
        return rate
    least = LEAST_PART * one.taken
    if one.work >= one.fixed:
        found = max(one.taken - one.fixed * rate.unit, least) / one.work
        return Rate(unit=rate.unit, work=_bounded(found))
    return Rate(unit=_bounded(max(one.taken - one.work * rate.work, least) / one.fixed), work=rate.work)


def _bounded(rate: float) -> float:
    return min(max(rate, LEAST_RATE), LARGEST_RATE)


def _machine() -> str:
    return f"{platform.node()} {os.cpu_count()}"


def _file() -> Path:
    return user_cache() / "rates.json"


def _read(file: Path) -> dict[str, Any]:
    known = json.loads(file.read_bytes())
    return known if isinstance(known, dict) else {}


def _write(rates: Rates) -> None:
    file = _file()
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        known = _read(file)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_name(f"{uuid.uuid4().hex}.tmp")
        written.write_text(json.dumps(known | {_machine(): asdict(rates)}, indent=1), encoding="utf-8")
        written.replace(file)
