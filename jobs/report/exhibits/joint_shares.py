"""Who is shown, as a cross table of two attributes with sums: mean and deviation over queries, per cent of the items.

Source:     MPR paper, Tables 1, 5 and 6 (race and gender of 50 retrieved items).
Deviation:  the table is of the first two attributes of each data set, and the CSV file of every two. Every method is
            shown at its smallest MPR of the first configured class, beside the shares in the reference; a cell that
            shows fewer than half of its share of the reference is in bold, where the paper has red. Deviations are a
            sample's, where the authors' code divides by the number of queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from mprlib.level_names import joint_name

from ...analysis.frames import grouped, records
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .intersections import MISSED, shown_groups
from .operating_points import in_order

TITLE = "Shares of two attributes in per cent, mean and deviation over queries"
SUM, REFERENCE = "sum", "reference"
PLACE = ["dataset", "reference", "k"]
CELL = ["first", "second", "first_level", "second_level"]


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per (data set, reference, k, series, two attributes, a level or the sum of each)."""
    shown, first_class = shown_groups(run, curves, most_attributes=2)
    singles = list(dict.fromkeys(shown.loc[shown["attributes"] == 1, "group"]))
    cells = pd.DataFrame(_cells(singles), columns=["group", *CELL])
    if cells.empty:
        raise Missing("a cross table is of two attributes, and the run has one")
    # Rows and columns in the order of levels, whichever cell a selection happens to show first.
    found = shown.merge(cells.assign(at=range(len(cells))), on="group", how="inner").sort_values("at", kind="stable")
    table = (
        found.groupby([*PLACE, "series", *CELL], sort=False)
        .agg(
            queries=("query", "nunique"),
            share_reference=("share_reference", "mean"),
            share_mean=("share_selected", "mean"),
            share_deviation=("share_selected", "std"),
        )
        .reset_index()
    )
    summary = [row for _, own in grouped(table, PLACE) for row in _rows(own, in_order(own["series"], curves))]
    return Exhibit(title=f"{TITLE}; class {first_class}", table=table, summary=pd.DataFrame(summary).fillna("--"))


def _cells(singles: list[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Every cell of every cross table, with the name of the group that it shows.

    The sum over one attribute is the group of the other alone. Whether two levels meet is looked up by the name of
    their intersection, which is never taken apart.
    """
    levels: dict[str, list[str]] = {}
    for single in singles:
        levels.setdefault(_attribute(single), []).append(single)
    for first, second in combinations(levels, 2):
        for one in levels[first]:
            yield one, first, second, one, SUM
            for other in levels[second]:
                yield joint_name([one, other]), first, second, one, other
        for other in levels[second]:
            yield other, first, second, SUM, other


def _attribute(single: str) -> str:
    """The attribute of a level's name, which may be quoted (`mprlib.level_names.level_name`)."""
    return json.JSONDecoder().raw_decode(single)[0] if single.startswith('"') else single.partition("=")[0]


def _rows(own: pd.DataFrame, series: list[str]) -> Iterator[dict[str, object]]:
    """The cross table of one data set, reference and k: a row per method and level of the first attribute."""
    first, second = own[["first", "second"]].iloc[0]
    own = own[(own["first"] == first) & (own["second"] == second)]
    firsts = [*_levels(own["first_level"]), SUM]
    seconds = [*_levels(own["second_level"]), SUM]
    place = dict(zip(("data set", "reference", "k"), own[PLACE].iloc[0]))
    for name in [REFERENCE, *series]:
        of_one = own if name == REFERENCE else own[own["series"] == name]
        cells = {(one["first_level"], one["second_level"]): one for one in records(of_one)}
        for level in firsts:
            texts = {_level(other): _text(cells, (level, other), is_expected=name == REFERENCE) for other in seconds}
            yield place | {"method": name, first: _level(level)} | texts


def _levels(column: pd.Series) -> list[str]:
    return [name for name in column.drop_duplicates() if name != SUM]


def _level(name: str) -> str:
    return name if name == SUM or name.startswith('"') else name.partition("=")[2]


def _text(cells: Mapping[tuple[str, str], dict[str, Any]], cell: tuple[str, str], *, is_expected: bool) -> str:
    if cell == (SUM, SUM):
        return "100.0"
    if cell not in cells:
        return "--"
    shown = cells[cell]
    if is_expected:
        return f"{100 * shown['share_reference']:.1f}"
    text = f"{100 * shown['share_mean']:.1f}"
    if shown["queries"] > 1:
        text += f" \u00b1 {100 * shown['share_deviation']:.1f}"
    return f"*{text}*" if shown["share_mean"] < MISSED * shown["share_reference"] else text
