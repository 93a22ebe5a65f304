"""A comparison of systems as text for a terminal, as Markdown, as JSON for a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..comparison.wording import escaped, how_many_more, plain_records, table
from ..wording import cases_of_queries, group_name, labelled, number, percent, points
from .compare import GAP, MPR, PRECISION, SIMILARITY, Measure, Systems

# Rows of a text or a Markdown table; JSON holds all.
SHOWN = 12
NAMES = {GAP: "largest gap", MPR: "MPR", SIMILARITY: "similarity", PRECISION: "precision"}


def to_json(found: Systems, about: Mapping[str, Any]) -> dict[str, Any]:
    """All of it; shares are fractions of 1, differences are B's minus A's. about: facts of the runs, by `a` and `b`."""
    return {
        **about,
        "methods": [found.method_a, found.method_b],
        "measures": [_measure_json(one) for one in found.measures],
        "queries": plain_records(found.queries),
        "groups": plain_records(found.groups),
        "remarks": list(found.remarks),
    }


def to_text(found: Systems, about: Mapping[str, Mapping[str, Any]]) -> str:
    """Lines for a terminal."""
    lines = [f"{side.upper()} {name_of(found, about, side)}" for side in ("a", "b")]
    lines += [sentence(one) for one in found.measures]
    lines += ["", "largest gap by query, percentage points, the largest difference first:"]
    lines += [f"  {query_sentence(row)}" for row in labelled(found.queries)[:SHOWN]]
    lines += how_many_more(len(found.queries), SHOWN)
    lines += [""] * bool(found.remarks) + [f"note: {remark}" for remark in found.remarks]
    return "\n".join(lines)


def to_markdown(found: Systems, about: Mapping[str, Mapping[str, Any]]) -> str:
    """One section with a table."""
    lines = ["### Two systems, paired by query", ""]
    lines += [f"- {side.upper()}: {escaped(name_of(found, about, side))}" for side in ("a", "b")]
    lines += ["", *(f"- {escaped(sentence(one))}" for one in found.measures), ""]
    heads = ["Query", "Largest gap of A", "Points", "Largest gap of B", "Points", "Difference"]
    lines += table(heads, labelled(found.queries), _cells)
    lines += [""] * bool(found.remarks) + [f"- {escaped(remark)}" for remark in found.remarks]
    return "\n".join(lines) + "\n"


def sentence(one: Measure) -> str:
    """A measure over all queries: both means, the difference with its interval and p value, and who wins where."""
    found, shown = one.difference, _difference_format(one)
    interval = "" if found.low is None or found.high is None else f" ({shown(found.low)} to {shown(found.high)})"
    verdict = f"{one.better.upper()} is better" if one.better else "no difference beyond chance"
    under = f" under {one.function_class}" if one.function_class else ""
    ties = found.queries - one.wins_a - one.wins_b
    return (
        f"{NAMES[one.name]}{under}: A {_value_text(one, one.mean_a)}, B {_value_text(one, one.mean_b)}, difference "
        f"{shown(found.mean)}{interval}, p = {found.p_value:.2g}: {verdict}; A wins {one.wins_a}, B {one.wins_b}, "
        f"{ties} tied, of {cases_of_queries(found.queries, one.queries)}{_effective_queries(one)}"
    )


def query_sentence(row: Mapping[str, Any]) -> str:
    """One query's largest gaps on both sides."""
    sides = [
        f"{points(100 * row[f'signed_gap_{side}'])} {group_name(row[f'worst_group_{side}'])}" for side in ("a", "b")
    ]
    return f"{points(100 * row[f'{GAP}_difference']):>6}  {row['label']}: A {sides[0]}; B {sides[1]}"


def name_of(found: Systems, about: Mapping[str, Mapping[str, Any]], side: str) -> str:
    """A system in a line: its run and its method."""
    facts, method = about[side], found.method_a if side == "a" else found.method_b
    return f"{facts['folder']}: {facts['name']}, {method}, run {facts['run_id']}"


def _effective_queries(one: Measure) -> str:
    found = one.difference
    if found.effective_queries > found.queries - 0.5:
        return ""
    return f", which share items and count as {found.effective_queries:.0f}"


def _value_text(one: Measure, value: float) -> str:
    if one.name == GAP:
        return f"{points(100 * value).lstrip('+')} points"
    return percent(value) if one.name == PRECISION else number(value)


def _difference_format(one: Measure) -> Any:
    if one.name in (GAP, PRECISION):
        return lambda value: points(100 * value)
    return lambda value: ("+" if value > 0 else "\u2212" if value < 0 else "") + number(abs(value))


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["label"],
        group_name(row["worst_group_a"]),
        points(100 * row["signed_gap_a"]),
        group_name(row["worst_group_b"]),
        points(100 * row["signed_gap_b"]),
        points(100 * row[f"{GAP}_difference"]),
    )


def _measure_json(one: Measure) -> dict[str, Any]:
    found = one.difference
    return {
        "measure": one.name,
        "function_class": one.function_class,
        "mean_a": one.mean_a,
        "mean_b": one.mean_b,
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
        "queries": found.queries,
        "effective_queries": found.effective_queries,
        "wins_a": one.wins_a,
        "wins_b": one.wins_b,
        "better": one.better,
    }
