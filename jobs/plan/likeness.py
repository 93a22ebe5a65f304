"""Selections that were made before: solve units that differ from a planned one only in the classes that measure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from pydantic import ValidationError

from ..cache.packs import PackedUnit
from ..stages.solve import Solve
from ..stages.unit import Unit
from ..store import Store, receipt_file
from .plan import Plan
from .plan_file import read_plan


def likeness_of(unit: Unit) -> str:
    """What units share that choose the same items; empty for those that choose none."""
    return unit.likeness if isinstance(unit, Solve) else ""


def earlier_units(plan: Plan, store: Store, done: Collection[str], packed: Mapping[str, PackedUnit]) -> dict[str, str]:
    """By the key of each solve unit that is not done, that of one that chose the same items, here or in the cache."""
    missing = [unit for unit in plan.solved if unit.key not in done]
    if not missing:
        return {}
    known = {unit.likeness: key for key, unit in packed.items() if unit.likeness} | dict(_in_folder(store))
    return {unit.key: known[unit.likeness] for unit in missing if unit.likeness in known}


def with_earlier(plan: Plan, earlier: Mapping[str, str]) -> Plan:
    """The plan, in which units know the unit that chose their items."""
    stages = {
        stage: [
            replace(unit, earlier=earlier[unit.key]) if isinstance(unit, Solve) and unit.key in earlier else unit
            for unit in units
        ]
        for stage, units in plan.stages.items()
    }
    return replace(plan, stages=stages)


def _in_folder(store: Store) -> Iterator[tuple[str, str]]:
    """Likeness and key of the solve units of the folder's last plan that are done."""
    planned = [one for one in read_plan(store) or () if one.stage == Solve.stage and one.version == Solve.version]
    receipts = store.entries(f"receipts/{Solve.stage}") if planned else {}
    for one in planned:
        if receipt_file(one.stage, one.key) in receipts:
            try:
                unit = Solve.from_spec(one.title, one.spec)
            except ValidationError:
                continue
            # With other columns it had another key.
            if unit.key == one.key:
                yield unit.likeness, unit.key
