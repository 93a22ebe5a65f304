"""The plan that a run's folder was last asked for: what each unit was, so that later ones can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..store import Store

if TYPE_CHECKING:
    from .plan import Plan

PLAN = "plan.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedUnit:
    """A unit as it was planned: its spec, the version of its stage's code, and the seconds of one core that it was
    expected to take."""

    stage: str
    key: str
    title: str
    version: int
    spec: Mapping[str, Any]
    seconds: float = 0.0


def write_plan(store: Store, plan: Plan) -> None:
    """Keep a plan; one line a unit, so that a reader finds one."""
    lines = (
        json.dumps(
            {
                "stage": unit.stage,
                "unit": unit.key,
                "title": unit.title,
                "version": unit.version,
                "seconds": unit.seconds + unit.cost().seconds,
                "spec": unit.spec,
            },
            ensure_ascii=False,
        )
        for unit in plan.units
    )
    store.write(PLAN, ("[\n" + ",\n".join(lines) + "\n]\n").encode())


def read_plan(store: Store) -> list[PlannedUnit] | None:
    """The last plan's units, in order; None where there is no plan, or a file that is not one."""
    planned = store.read_json(PLAN)
    if not isinstance(planned, list):
        return None
    if not all(isinstance(one, dict) and one.keys() >= {"stage", "unit", "title"} for one in planned):
        return None
    return [
        PlannedUnit(
            stage=one["stage"],
            key=one["unit"],
            title=one["title"],
            version=one.get("version", 0),
            spec=one.get("spec", {}),
            seconds=one.get("seconds", 0.0),
        )
        for one in planned
    ]
