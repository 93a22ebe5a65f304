"""`mpr-audit run`: an audit from its configuration to its report."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import Stopped
from ...words import duration, numbered
from ..exit_codes import UNFINISHED
from ..options import AsJson, Config, Limit, Output, Overrides, print_json

if TYPE_CHECKING:
    from ...config.audit import Audit
    from ...config.file import ConfigFile
    from ...results.summary import RunSummary

MaxFailures = Annotated[
    int | None, typer.Option("--max-failures", min=1, help="Stop once N units have failed; default: never.")
]
WORST_SHOWN = 5


def run(
    config: Config,
    output: Output = None,
    overrides: Overrides = None,
    limit: Limit = None,
    max_failures: MaxFailures = None,
    as_json: AsJson = False,
) -> int:
    """Run an audit, or the part of it that is missing, and write its report."""
    from rich.console import Console

    from ... import audit
    from ...config.file import read_config
    from ...run.progress import Bars, Lines, Silent

    overrides = [*(overrides or ()), *([f"runtime.max_failures={max_failures}"] if max_failures else [])]
    file: ConfigFile[Audit] = read_config(config, tuple(overrides))
    chosen = audit.output_of(file.settings, output)
    console = Console(stderr=True)
    reporter: Silent | Bars | Lines = Silent() if as_json else Bars(console) if console.is_terminal else Lines()
    with reporter if isinstance(reporter, Bars) else nullcontext():
        summary = audit.run(file, chosen, reporter, limit)
    if as_json:
        print_json(summary.to_json())
    elif summary.report is None:
        print(run_text(summary))
    else:
        print(worst_text(summary.output, file.settings))
        print(run_text(summary))
    if summary.is_stopped:
        raise Stopped(f"stopped after {summary.counts['failed']} failed units; finished units are kept")
    return UNFINISHED if summary.failures else 0


def worst_text(output: str, settings: Audit) -> str:
    """The worst group of what is audited for each of the worst queries; of two mirrored groups, one."""
    from ...analysis.cases import AS_SHOWN
    from ...analysis.wording import by_labels, cases_of_queries, chance_clause, labelled
    from ...analysis.worst import headline, largest
    from ...report.part import read_worst_pairs
    from ...store import Store

    pairs = read_worst_pairs(Store(output))
    beyond, asked = headline(pairs), largest(pairs)
    has_shown = any(method.name == AS_SHOWN for method in settings.methods)
    audited = "what was shown" if has_shown else "top-k retrieval"
    lines = [f"worst groups of {audited}, percentage points against the reference:"] if len(beyond) else []
    for pair in [one for one in labelled(asked) if one["is_headline"]][:WORST_SHOWN]:
        selected, reference, chance = pair["share_selected"], pair["share_reference"], chance_clause(pair)
        lines.append(
            f"  {100 * (selected - reference):+6.1f}  {pair['label']}: {pair['group']} "
            f"{selected:.0%} shown{by_labels(pair)}, {reference:.0%} in the reference{'; ' if chance else ''}{chance}"
            f"{_repair(pair)}"
        )
    if len(beyond) < len(asked):
        asked_in_all = cases_of_queries(len(asked), asked["query"].nunique())
        shows = "shows" if len(asked) - len(beyond) == 1 else "show"
        lines.append(f"{len(asked) - len(beyond)} of {asked_in_all} {shows} no gap beyond chance")
    return "\n".join(lines)


def _repair(pair: Mapping[str, Any]) -> str:
    """The similarity that bringing a query to the chance level costs, where some selection reaches it."""
    from ...analysis.wording import cost, is_below_chance, percent

    if pair["is_repaired_to_chance"] is not True:
        return ""
    before, after = pair["precision"], pair["precision_repaired"]
    precision = "" if before != before or after != after else f", precision {percent(before)} to {percent(after)}"
    bound = "at most " if is_below_chance(pair) else ""
    return f"; to chance level for {bound}{cost(pair)} of similarity{precision}"


def run_text(summary: RunSummary) -> str:
    """How a run ended."""
    counts, reuse = summary.counts, summary.reuse
    has_items = reuse["items_embedded"] or reuse["items_reused"]
    items = f"items: {reuse['items_embedded']:,} embedded, {reuse['items_reused']:,} reused"
    lines = [
        (
            f"units: {counts['computed']} computed, {counts['cached']} cached, "
            f"{counts['failed']} failed, {counts['skipped']} skipped, in {duration(summary.seconds)}"
        ),
        *([items] if has_items else []),
        *(f"  failed: {one['stage']} {one['title']}: {one['message']}" for one in summary.failures),
        *(_skipped_line(dataset, reasons, summary.output) for dataset, reasons in summary.skipped_items.items()),
        *(_calibration_line(probe, found) for probe, found in summary.calibration.items()),
        *(_shift_line(found) for found in summary.prior_shifts),
        f"report: {summary.report or 'none, no unit was solved'}",
    ]
    return "\n".join(lines)


def _skipped_line(dataset: str, reasons: Mapping[str, Mapping[str, Any]], output: str) -> str:
    from ...run.skipped import TABLE, reasons_text

    number = sum(entry["items"] for entry in reasons.values())
    return f"skipped: {numbered(number, 'item')} of {dataset}: {reasons_text(reasons)}; listed in {output}/{TABLE}"


def _shift_line(shift: Mapping[str, Any]) -> str:
    from ...analysis.calibration import shift_text

    return f"probabilities of the probe {shift['probe']}: {shift_text(shift)}"


def _calibration_line(probe: str, calibration: Mapping[str, Any]) -> str:
    from ...analysis.calibration import calibration_text, consequence

    follows = consequence(calibration)
    return f"probabilities of the probe {probe}: {calibration_text(calibration)}{'; ' if follows else ''}{follows}"
