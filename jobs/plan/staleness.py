"""Why a unit is to be computed: what has changed since the plan that the folder was last asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..stages.unit import Unit
from ..store import Store, read_receipt
from .plan import Plan
from .plan_file import PlannedUnit, read_plan

FAILED = "failed last time"
DAMAGED = "its files are lost or damaged"
REMOVED = "what it wrote was removed once it had been read, and is needed again"
NEVER = "never computed"
# What a curve's points are stated by, and why those that were solved before are solved again.
POINTS = ("method.points", "method.values")
TOGETHER = ", and the points of a curve are solved together"
# A value longer than this is not shown: that it changed says enough.
LONGEST_VALUE = 40


def reasons(plan: Plan, store: Store, done: Collection[str]) -> dict[str, str]:
    """Why each unit that is not done is to be computed, by key.

    A unit with a receipt was damaged, one with a failure failed; others are compared with the unit of
    the same title in the folder's last plan, setting by setting. A setting that names another unit
    counts as that unit's change: "its pool changed".
    """
    stored = {
        kind: {tuple(name.removesuffix(".json").split("/")[1:]) for name in store.list(kind)}
        for kind in ("receipts", "failures")
    }
    before = read_plan(store) or []
    by_title = {(unit.stage, unit.title): unit for unit in before}
    kinds = {unit.key: unit.stage for unit in before} | {unit.key: unit.stage for unit in plan.units}
    return {
        unit.key: FAILED
        if (unit.stage, unit.key) in stored["failures"]
        else _why_not_done(unit, store)
        if (unit.stage, unit.key) in stored["receipts"]
        else _difference(unit, by_title.get((unit.stage, unit.title)), kinds)
        for unit in plan.units
        if unit.key not in done
    }


def _why_not_done(unit: Unit, store: Store) -> str:
    receipt = read_receipt(store, unit.stage, unit.key) if unit.is_intermediate else None
    return DAMAGED if receipt is None or not receipt.is_removed else REMOVED


def counted(plan: Plan, why: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """How many units of each stage have each reason, the most frequent first."""
    found = {
        stage: dict(Counter(why[unit.key] for unit in units if unit.key in why).most_common())
        for stage, units in plan.stages.items()
    }
    return {stage: counts for stage, counts in found.items() if counts}


def _difference(unit: Unit, before: PlannedUnit | None, kinds: Mapping[str, str]) -> str:
    if before is None or before.key == unit.key:
        return NEVER
    deciding = set(unit.spec) - unit.undecided_fields()
    old, new = ({name: spec[name] for name in deciding & set(spec)} for spec in (before.spec, unit.spec))
    changes = list(dict.fromkeys(_changes(old, new, "", kinds)))
    if before.version != unit.version:
        changes.insert(0, f"its code changed from version {before.version} to {unit.version}")
    return "; ".join(changes) or NEVER


def _changes(before: Any, after: Any, place: str, kinds: Mapping[str, str]) -> Iterator[str]:
    """What differs between two specs, each with its place."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}):
            below = f"{place}.{name}" if place else str(name)
            yield from _changes(before.get(name), after.get(name), below, kinds)
    elif _units_named(before, kinds) and _units_named(after, kinds):
        yield f"its {kinds[_units_named(after, kinds)[0]]} changed"
    elif place.rpartition(".")[2] == "fingerprint":
        yield "its data changed"
    else:
        yield f"{place} changed{_from_to_text(before, after)}{TOGETHER if place in POINTS else ''}"


def _units_named(value: Any, kinds: Mapping[str, str]) -> list[str]:
    """Keys of units that a value holds, if it holds nothing else."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return list(values) if values and all(isinstance(one, str) and one in kinds for one in values) else []


def _from_to_text(before: Any, after: Any) -> str:
    texts = [str(value) for value in (before, after)]
    return f" from {texts[0]} to {texts[1]}" if max(map(len, texts)) <= LONGEST_VALUE else ""
