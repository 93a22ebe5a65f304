"""`mpr-audit plan`: what a run would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...words import bytes_of, duration, numbered
from ..options import AsJson, Config, Limit, Output, Overrides, print_json

if TYPE_CHECKING:
    from ...config.audit import Audit
    from ...config.file import ConfigFile
    from ...plan.estimate import Estimate
    from ...plan.inputs import Inputs
    from ...plan.plan import Plan
    from ...store import Receipt


def plan(
    config: Config, output: Output = None, overrides: Overrides = None, limit: Limit = None, as_json: AsJson = False
) -> int:
    """Print what a run would do: its units, what is cached, and an estimate of time, memory and disk."""
    from ... import audit
    from ...cache.place import expect_apart
    from ...config.file import read_config
    from ...plan.bill import bill_of
    from ...plan.estimate import estimate
    from ...plan.staleness import counted, reasons
    from ...run.shared import packed
    from ...store import Store

    file: ConfigFile[Audit] = read_config(config, tuple(overrides or ()))
    inputs, planned = audit.prepare(file, limit)
    chosen = output or file.settings.output
    store = Store(chosen) if chosen else None
    done: Mapping[str, Receipt] = {}
    if store:
        expect_apart(inputs.cache, store)
        kept = packed(inputs.cache)
        planned, found = audit.resumed(file, inputs, planned, store, kept)
        shared = {unit.key: kept[unit.key].receipt for unit in planned.units if unit.key in kept}
        done = shared | found.done
    why = counted(planned, reasons(planned, store, done)) if store else {}
    missing = {unit.key for unit in planned.units} - set(done)
    cost = estimate(file.settings, planned, missing)
    bill = bill_of(planned, set(done), inputs.cache, file.settings.name)
    table = plan_table(file.settings, inputs, planned, set(done), cost, why) | {"bill": bill.to_json()}
    if as_json:
        print_json(table)
    else:
        print(plan_text(table))
    return 0


def plan_table(
    settings: Audit, inputs: Inputs, plan: Plan, done: set[str], cost: Estimate, why: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """A plan as JSON values. why: by stage, how many units are stale for which reason."""
    from ...plan.reference_precision import reference_precisions

    known = list(reference_precisions(settings, inputs))
    return {
        "name": settings.name,
        "datasets": {name: catalogue.size for name, catalogue in inputs.catalogues.items()},
        "references": [reference.name for reference in settings.reference],
        "queries": len(inputs.queries),
        "k": list(settings.k),
        "methods": {entry.display: entry.count for entry in settings.methods},
        "function_classes": [entry.display for entry in settings.function_classes],
        "stages": {
            stage: {
                "units": len(units),
                "cached": sum(unit.key in done for unit in units),
                "stale": dict(why.get(stage, {})),
            }
            for stage, units in plan.stages.items()
        },
        "estimate": {
            "wall_seconds": round(cost.wall_seconds),
            "read_bytes": round(cost.read_bytes),
            "search_seconds": round(cost.search_seconds, 1),
            "memory_bytes": round(cost.memory_bytes),
            "disk_bytes": round(cost.disk_bytes),
        },
        "reference_precision": [{**asdict(one), "text": str(one)} for one in known],
        "notes": list(plan.notes),
    }


def plan_text(table: Mapping[str, Any]) -> str:
    """The same for people."""
    cost = table["estimate"]
    lines = [
        f"audit {table['name']}",
        "  datasets    " + ", ".join(f"{name} ({numbered(size, 'item')})" for name, size in table["datasets"].items()),
        "  references  " + ", ".join(table["references"]),
        f"  queries     {table['queries']}",
        "  k           " + ", ".join(map(str, table["k"])),
        "  methods     " + ", ".join(f"{name} ({numbered(many, 'value')})" for name, many in table["methods"].items()),
        "  measured    " + ", ".join(table["function_classes"]),
        *(f"  precision   {one['text']}" for one in table["reference_precision"]),
        "",
        f"  {'stage':<12}{'units':>8}{'cached':>8}",
        *(line for stage, count in table["stages"].items() for line in _stage_lines(stage, count)),
        "",
        *_bill_lines(table["bill"]),
        (
            f"  estimate    {duration(cost['wall_seconds'])}, {bytes_of(cost['memory_bytes'])} memory, "
            f"{bytes_of(cost['disk_bytes'])} disk"
        ),
        (
            f"  search      {bytes_of(cost['read_bytes'])} of vectors read, "
            f"{duration(cost['search_seconds'])} of the estimate"
        ),
        *(f"  note        {note}" for note in table["notes"]),
    ]
    return "\n".join(lines)


def _bill_lines(bill: Mapping[str, Any]) -> Iterator[str]:
    """Items and queries that cost something, and those that do not."""
    if bill["items_to_embed"] or bill["items_reused"]:
        gone = "" if bill["items_gone"] is None else f", {bill['items_gone']:,} gone since the last run"
        yield f"  items       {bill['items_to_embed']:,} to embed, {bill['items_reused']:,} reused{gone}"
        yield from (f"{' ' * 14}{number:,} to embed: {reason}" for reason, number in bill["why"].items())
    yield f"  searches    {numbered(bill['queries_new'], 'query', 'queries')} new, {bill['queries_kept']:,} kept"


def _stage_lines(stage: str, count: Mapping[str, Any]) -> list[str]:
    """A stage's counts, and why its units will be computed, unless it is simply for the first time."""
    from ...plan.staleness import NEVER

    stale = count["stale"]
    shown = [f"{' ' * 32}{number} to compute: {reason}" for reason, number in stale.items()]
    line = f"  {stage:<12}{count['units']:>8}{count['cached']:>8}"
    return [line] if list(stale) == [NEVER] else [line, *shown]
