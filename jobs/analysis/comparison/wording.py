"""A comparison as text for a terminal, as Markdown for a pull request or a chat, as JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from ...words import numbered
from ..cases import CASE, QUESTION
from ..frames import records
from ..wording import cases_of_queries, group_name, is_missing, number, percent, points
from .compare import Comparison
from .label_wording import gap_clause, label_notes, predicted_clause, share_clause
from .references import REFERENCE_TOLERANCE

# Rows of a text or a Markdown table; JSON holds all.
SHOWN = 20
# Points of a move below which a cause is not named: they print as 0.0.
SMALLEST_PART = 0.05
# Signs of Markdown: as entities where HTML or a table's cell would read them, else with a backslash.
ESCAPES = {ord(sign): f"&#{ord(sign)};" for sign in "<>|&"} | {ord(sign): f"\\{sign}" for sign in "\\`*_[]#"}
# Names in a sentence on queries that one run alone holds.
NAMED = 5


def to_json(found: Comparison, about: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """All of it; shares are fractions of 1. about: facts of the runs, by `old` and `new`."""
    groups = found.groups.astype({"is_found": bool})
    return {
        **about,
        "level": found.level,
        "threshold": found.threshold,
        "mpr_threshold": found.mpr_threshold,
        "has_regression": found.has_regression,
        "regressions": plain_records(found.cases[found.cases["is_regression"]]),
        "moved_groups": plain_records(groups[groups["is_found"]].drop(columns="is_found")),
        "groups_that_follow": plain_records(groups[~groups["is_found"]].drop(columns="is_found")),
        "data_changes": found.changes,
        "queries": plain_records(found.cases),
        "only_old": [dict(zip(CASE, case)) for case in found.only_old],
        "only_new": [dict(zip(CASE, case)) for case in found.only_new],
        "remarks": [*label_notes(found), *found.remarks],
    }


def to_text(found: Comparison, about: Mapping[str, Mapping[str, Any]]) -> str:
    """Lines for a terminal."""
    lines = [f"{side.upper()} {_run_line(about[side])}" for side in ("old", "new")]
    lines += [summary(found), *map(change_sentence, found.changes)]
    moved, worse = _moved_rows(found), _regression_rows(found)
    if len(moved):
        lines += ["", "groups that moved beyond chance, percentage points of the items shown, largest first:"]
        for row in moved[:SHOWN]:
            lines.append(f"  {points(100 * row['change_share']):>6}  {row['label']}: {_moved_sentence(row)}")
            lines += [f"          {causes}"] if (causes := causes_clause(row)) else []
        lines += how_many_more(len(moved), SHOWN)
    if len(worse):
        lines += ["", f"regressions, {_regression_rule(found)}:"]
        lines += [f"  {row['label']}: {_worse_sentence(row)}" for row in worse[:SHOWN]]
        lines += how_many_more(len(worse), SHOWN)
    lines += [""] * bool(_notes(found)) + [f"note: {note}" for note in _notes(found)]
    return "\n".join(lines)


def to_markdown(found: Comparison, about: Mapping[str, Mapping[str, Any]]) -> str:
    """One section with two tables."""
    title = "regression" if found.has_regression else "no regression"
    lines = [f"### Retrieval audit: {title}", ""]
    lines += [f"- {side.upper()}: {escaped(_run_line(about[side]))}" for side in ("old", "new")]
    lines += ["", escaped(" ".join([summary(found), *map(change_sentence, found.changes)]))]
    moved, worse = _moved_rows(found), _regression_rows(found)
    if len(worse):
        lines += ["", f"**Regressions**, {_regression_rule(found)}:", ""]
        lines += table(["Query", "Worst group", "Gap before", "Gap now", "MPR before", "MPR now"], worse, _worse_cells)
    if len(moved):
        lines += ["", "**Groups that moved beyond chance**, shares of the items shown:", ""]
        lines += _moved_table(moved)
    lines += [""] * bool(_notes(found)) + [f"- {escaped(note)}" for note in _notes(found)]
    return "\n".join(lines) + "\n"


def summary(found: Comparison) -> str:
    """One sentence: how many queries were compared, moved and are worse off."""
    compared, moved, worse = (
        len(found.cases[is_meant].drop_duplicates(QUESTION))
        for is_meant in (slice(None), found.cases["is_moved"], found.cases["is_regression"])
    )
    return (
        f"{cases_of_queries(compared, found.cases['query'].nunique())} compared; {moved} moved beyond chance (false "
        f"discovery rate {percent(found.level)}); {worse} worse off "
        f"({_regression_rule(found)}){predicted_clause(found)}."
    )


def change_sentence(change: Mapping[str, Any]) -> str:
    """What entered and left a data set."""
    name, entered, left = change["dataset"], change["entered"], change["left"]
    if not entered and not left:
        return f"No item entered or left data set {name} ({numbered(change['items_new'], 'item')})."
    are = {count: "is" if count == 1 else "are" for count in (entered, left)}
    return (
        f"{entered:,} of the {numbered(change['items_new'], 'item')} of data set {name} {are[entered]} new, and "
        f"{left:,} of the {change['items_old']:,} before {are[left]} gone."
    )


# What each cause is called in a sentence.
CAUSES = {"items": "items that came or went", "scores": "new scores of the others", "labels": "new labels of theirs"}


def causes_clause(row: Mapping[str, Any]) -> str:
    """How a move divides among its causes, in points; empty where that is not known."""
    parts = {said: row.get(f"due_to_{cause}") for cause, said in CAUSES.items()}
    known = {said: 100 * float(part) for said, part in parts.items() if part is not None and not is_missing(part)}
    # What prints as nothing is left out.
    shown = [f"{points(part)} from {said}" for said, part in known.items() if abs(part) >= SMALLEST_PART]
    return ", ".join(shown)


def _regression_rule(found: Comparison) -> str:
    return (
        f"the largest gap rose by more than {100 * found.threshold:g} points or MPR by more than "
        f"{found.mpr_threshold:g}, beyond chance"
    )


def _moved_rows(found: Comparison) -> list[dict[str, Any]]:
    return _rows_with_labels(found, found.groups[found.groups["is_found"].astype(bool)])


def _regression_rows(found: Comparison) -> list[dict[str, Any]]:
    return _rows_with_labels(found, found.cases[found.cases["is_regression"]])


def _rows_with_labels(found: Comparison, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows with a label: the query, and what else it takes to tell the cases apart."""
    several = [key for key in CASE if key != "query" and found.cases[key].nunique() > 1]
    return [
        row | {"label": ", ".join([row["query"], *(f"{key} {row[key]}" for key in several)])} for row in records(rows)
    ]


def _moved_sentence(row: Mapping[str, Any]) -> str:
    return (
        f"{row['group']} {percent(row['share_selected_old'])} shown before, "
        f"{percent(row['share_selected_new'])} now, {_reference_text(row)} in the reference "
        f"(p = {_p_value_text(row['p_value'])}){share_clause(row)}"
    )


def _reference_text(row: Mapping[str, Any]) -> str:
    """A group's share in the reference, or in both runs' own."""
    before, now = percent(row["share_reference_old"]), percent(row["share_reference_new"])
    has_moved = abs(row["share_reference_new"] - row["share_reference_old"]) > REFERENCE_TOLERANCE
    return f"{before} before and {now} now" if has_moved else now


def _worse_sentence(row: Mapping[str, Any]) -> str:
    mpr = (
        ""
        if is_missing(row["mpr_new"])
        else f"; MPR under {row['function_class']} {number(row['mpr_old'])} before, {number(row['mpr_new'])} now"
    )
    return (
        f"largest gap {100 * row['gap_old']:.1f} points before ({row['worst_group_old']}), "
        f"{100 * row['gap_new']:.1f} now ({row['worst_group_new']}){_mean_clause(row)}{mpr}{gap_clause(row)}"
    )


def _mean_clause(row: Mapping[str, Any]) -> str:
    """What is left of a gap's rise where both runs are compared with one reference, of one that moved."""
    rise = row["gap_rise_from_mean"]
    if row["reference_change"] <= REFERENCE_TOLERANCE or is_missing(rise):
        return ""
    return f", {points(100 * rise)} from the mean of both references"


def _moved_table(rows: list[dict[str, Any]]) -> list[str]:
    """Groups that moved; what their moves are due to, where that is known."""
    has_causes = any(map(causes_clause, rows))
    heads = ["Query", "Group", "Before", "Now", "Reference", "Change, points"]

    def cells(row: Mapping[str, Any]) -> Iterable[str]:
        shares = (*(percent(row[f"share_selected_{side}"]) for side in ("old", "new")), _reference_text(row))
        change = points(100 * row["change_share"])
        causes = [causes_clause(row)] if has_causes else []
        group = group_name(row["group"]) + share_clause(row)
        return (row["label"], group, *shares, change, *causes, _p_value_text(row["p_value"]))

    return table([*heads, *(["Due to"] if has_causes else []), "p"], rows, cells)


def _worse_cells(row: Mapping[str, Any]) -> Iterable[str]:
    gaps = (f"{100 * row['gap_old']:.1f}", f"{100 * row['gap_new']:.1f}")
    group = group_name(row["worst_group_new"]) + _mean_clause(row) + gap_clause(row)
    return (row["label"], group, *gaps, number(row["mpr_old"]), number(row["mpr_new"]))


def table(
    heads: list[str], rows: list[dict[str, Any]], cells: Callable[[Mapping[str, Any]], Iterable[str]]
) -> list[str]:
    """A Markdown table of the first rows."""
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    lines += [f"| {' | '.join(escaped(cell) for cell in cells(row))} |" for row in rows[:SHOWN]]
    return lines + ([""] + [line.strip() for line in how_many_more(len(rows), SHOWN)] if len(rows) > SHOWN else [])


def how_many_more(count: int, shown: int) -> list[str]:
    """The last line of a list that is cut off; none where all of it is shown."""
    return [f"  and {count - shown} more; --json prints all"] if count > shown else []


def _run_line(about: Mapping[str, Any]) -> str:
    partial = "" if about["is_complete"] else ", not complete"
    return f"{about['folder']}: {about['name']}, {about['created']}, run {about['run_id']}{partial}"


def _notes(found: Comparison) -> list[str]:
    notes = [*label_notes(found), *found.remarks]
    asked = [{case[2] for case in cases} for cases in (found.only_old, found.only_new)]
    # A whole list may be longer in one run: the same query, at another k.
    several = asked[0] & asked[1] | set(found.cases["query"])
    for side, cases in (("OLD", found.only_old), ("NEW", found.only_new)):
        names = list(dict.fromkeys(f"{query} (k = {k})" if query in several else query for *_, query, k in cases))
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            notes.append(f"only in {side}: {', '.join(names[:NAMED])}{more}")
    return notes


def _p_value_text(value: float) -> str:
    return f"{value:.2g}"


def escaped(text: str) -> str:
    """Text of the data must not become markup, nor end a cell of a table."""
    return " ".join(text.translate(ESCAPES).split())


def plain_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON values."""
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    return [{key: None if is_missing(value) else value for key, value in row.items()} for row in rows]
