"""What the command line prints of plans, runs and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.analysis.load import Run
from jobs.analysis.worst import headline, worst_pairs
from jobs.audit import RunSummary
from jobs.config.audit import Audit
from jobs.plan.estimate import Estimate
from jobs.plan.inputs import Inputs
from jobs.plan.plan import Plan
from jobs.plan.staleness import NEVER
from jobs.run.skipped import TABLE, reasons_text
from jobs.words import duration

WORST_SHOWN = 5


def plan_text(
    settings: Audit, inputs: Inputs, plan: Plan, done: set[str], cost: Estimate, why: Mapping[str, Mapping[str, int]]
) -> tuple[str, dict[str, Any]]:
    """A plan for people, and the same as JSON values. why: how many units of a stage are stale for which reason."""
    methods = {
        entry.name: (entry.points or len(entry.values)) if entry.points or entry.values else 1
        for entry in settings.methods
    }
    table = {
        "name": settings.name,
        "datasets": {name: catalogue.size for name, catalogue in inputs.catalogues.items()},
        "references": [reference.name for reference in settings.reference],
        "queries": len(inputs.queries),
        "k": list(settings.k),
        "methods": methods,
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
        "notes": list(plan.notes),
    }
    lines = [
        f"audit {settings.name}",
        "  datasets    " + ", ".join(f"{name} ({size:,} items)" for name, size in table["datasets"].items()),
        "  references  " + ", ".join(table["references"]),
        f"  queries     {table['queries']}",
        "  k           " + ", ".join(map(str, table["k"])),
        "  methods     "
        + ", ".join(f"{name} ({points} value{'s' * (points > 1)})" for name, points in methods.items()),
        "  measured    " + ", ".join(table["function_classes"]),
        "",
        f"  {'stage':<12}{'units':>8}{'cached':>8}",
        *(line for stage, count in table["stages"].items() for line in _stage_lines(stage, count)),
        "",
        f"  estimate    {duration(cost.wall_seconds)}, {_size(cost.memory_bytes)} memory, "
        f"{_size(cost.disk_bytes)} disk",
        f"  search      {_size(cost.read_bytes)} of vectors read, {duration(cost.search_seconds)} of the estimate",
        *(f"  note        {note}" for note in plan.notes),
    ]
    return "\n".join(lines), table


def _stage_lines(stage: str, count: Mapping[str, Any]) -> list[str]:
    """A stage's counts, and why its units are to be computed where that is not simply the first time."""
    stale = count["stale"]
    shown = [f"{' ' * 32}{number} to compute: {reason}" for reason, number in stale.items()]
    line = f"  {stage:<12}{count['units']:>8}{count['cached']:>8}"
    return [line] if list(stale) == [NEVER] else [line, *shown]


def worst_text(run: Run) -> str:
    """The worst (query, group) pairs of top-k retrieval, one a query: mirrored groups say the same twice."""
    pairs = headline(worst_pairs(run.results, run.groups, minimum_share=run.minimum_share)).head(WORST_SHOWN)
    lines = ["worst groups of top-k retrieval, percentage points against the reference:"]
    for pair in pairs.itertuples():
        lines.append(
            f"  {100 * (pair.share_selected - pair.share_reference):+6.1f}  {pair.query}: {pair.group} "
            f"{pair.share_selected:.0%} shown, {pair.share_reference:.0%} in the reference"
        )
    return "\n".join(lines)


def run_text(summary: RunSummary) -> str:
    """How a run ended."""
    counts = summary.counts
    lines = [
        f"units: {counts['computed']} computed, {counts['cached']} cached, "
        f"{counts['failed']} failed, {counts['skipped']} skipped, in {duration(summary.seconds)}",
        *(f"  failed: {one['stage']} {one['title']}: {one['message']}" for one in summary.failures),
        *(_skipped_line(dataset, reasons, summary.output) for dataset, reasons in summary.skipped_items.items()),
        f"report: {summary.report or 'none, no unit was solved'}",
    ]
    return "\n".join(lines)


def _skipped_line(dataset: str, reasons: Mapping[str, Mapping[str, Any]], output: str) -> str:
    number = sum(entry["items"] for entry in reasons.values())
    return f"skipped: {number:,} items of {dataset}: {reasons_text(reasons)}; listed in {output}/{TABLE}"


def exhibits_text(written: Mapping[str, Sequence[str]], missing: Mapping[str, str]) -> str:
    """One line an exhibit: its table and how many files it has, or what the runs lack for it."""
    lines = [f"  {name:<24}{len(files):>4} files: {name}.csv, {name}.tex, ..." for name, files in written.items()]
    return "\n".join([*lines, *(f"  {name:<24}   not made: {lack}" for name, lack in missing.items())])


def _size(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes < 1e9 else f"{size_bytes / 1e9:,.1f} GB"
