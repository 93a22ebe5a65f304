"""What changes with the number of items: the largest gap, MPR beside chance, and what a repair costs, over k.

Source:     beyond the MPR paper, which shows three k in three figures.
Choice:     one figure over all queries (medians), and one for each of the first queries by itself; the table has all of
            them. The repaired selection of a query and k is the one that the page shows: the most similar within
            chance, or else the one at the smallest rho that was met. Gaps are of named groups that are not small.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.cases import CASE, SELECTION, function_classes, repaired_rows, top_k_rows
from ...analysis.frames import grouped
from ...analysis.load import Run
from ..figures import AFTER, BEFORE
from .exhibit import Exhibit, Missing
from .pictures import Panels, file_part

TITLE = "Largest gap, MPR beside chance and cost over k, medians over queries"
# Queries that have a figure of their own, of each data set and reference.
FIGURES = 12
# Each panel: its title, and the columns of what was audited and of what was repaired.
PANELS = (
    ("largest gap of a group, points", "gap_points", "gap_points_repaired"),
    ("MPR, in units of chance", "mpr_of_chance", "mpr_of_chance_repaired"),
    ("similarity lost, % of top-k's", None, "cost_percent"),
)


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """The table has one row per case, under the first class; the summary one per (data set, reference, k)."""
    table = _by_case(run)
    keys = ["dataset", "reference"]
    several = table.groupby([*keys, "query"])["k"].nunique() > 1
    if not several.any():
        raise Missing("every query has one k: `k: [5, 10, 20, 50]` in the configuration measures it at several")
    columns = [name for _, *names in PANELS for name in names if name is not None]
    medians = table.groupby([*keys, "k"], sort=True)[columns].median().reset_index()
    figures: dict[str, Figure] = {}
    for (dataset, reference), own in grouped(medians, keys):
        figures[file_part(dataset, reference)] = _figure(own, f"{dataset}, {reference}: medians over queries")
    for (dataset, reference), own in grouped(table, keys):
        for query in own["query"].drop_duplicates().head(FIGURES):
            part = file_part(dataset, reference, query)
            figures[part] = _figure(own[own["query"] == query].sort_values("k"), str(query))
    return Exhibit(title=TITLE, table=table, summary=_printed(medians), figures=figures)


def _by_case(run: Run) -> pd.DataFrame:
    """One row per case: what was audited and what was repaired, with gaps, MPR over chance and cost."""
    name = function_classes(run.results)[0]
    own = run.results[run.results["function_class"] == name].astype({"parameter_value": float})
    facts = ["mpr", "mpr_chance", "similarity"]
    sides = []
    for rows in (top_k_rows(run.results), repaired_rows(run.results)):
        keys = rows[SELECTION].astype({"parameter_value": float})
        measured = own.merge(keys, on=SELECTION, how="inner").drop_duplicates(CASE)[[*CASE, *facts]]
        sides.append(measured.merge(_gaps(run, keys), on=CASE, how="left"))
    table = sides[0].merge(sides[1], on=CASE, how="left", suffixes=("", "_repaired"))
    for side in ("", "_repaired"):
        table[f"mpr_of_chance{side}"] = table[f"mpr{side}"].astype(float) / table[f"mpr_chance{side}"].astype(float)
    table["cost_percent"] = 100.0 * (1.0 - table["similarity_repaired"].astype(float) / table["similarity"])
    table.insert(len(CASE), "function_class", name)
    return table.sort_values(CASE, kind="stable").reset_index(drop=True)


def _gaps(run: Run, selections: pd.DataFrame) -> pd.DataFrame:
    """The largest gap of each selection, over the groups that are not small."""
    rows = run.groups[run.groups["share_reference"] >= run.minimum_share].astype({"parameter_value": float})
    rows = rows.merge(selections, on=SELECTION, how="inner")
    points = 100.0 * (rows["share_selected"] - rows["share_reference"]).abs()
    return rows.assign(gap_points=points).groupby(CASE, sort=False)["gap_points"].max().reset_index()


def _figure(rows: pd.DataFrame, title: str) -> Figure:
    panels = Panels.of(len(PANELS))
    for axes, (heading, before, after) in zip(panels.axes, PANELS):
        _panel(axes, rows, before, after)
        axes.set_title(heading, fontsize=9, parse_math=False)
    panels.axes[1].axhline(1.0, color="#777777", lw=1, ls="--")
    panels.figure.suptitle(title, fontsize=10, parse_math=False)
    panels.label("k, number of items", "")
    handles, labels = panels.axes[0].get_legend_handles_labels()
    panels.figure.legend(handles, labels, loc="lower center", ncols=2, fontsize=8, frameon=False)
    return panels.figure


def _panel(axes: Axes, rows: pd.DataFrame, before: str | None, after: str) -> None:
    for column, label, colour, marker in ((before, "top-k", BEFORE, "o"), (after, "repaired", AFTER, "s")):
        if column is not None:
            axes.plot(rows["k"], rows[column].astype(float), color=colour, marker=marker, label=label, lw=1, ms=4)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.grid(alpha=0.25)


def _printed(medians: pd.DataFrame) -> pd.DataFrame:
    names = {
        "gap_points": "gap", "gap_points_repaired": "repaired", "mpr_of_chance": "MPR / chance",
        "mpr_of_chance_repaired": "repaired ", "cost_percent": "cost, %",
    }  # fmt: skip
    shown = medians.rename(columns={"dataset": "data set", **names})
    for name in names.values():
        shown[name] = ["--" if value != value else f"{value:.2f}" for value in shown[name].astype(float)]
    return shown.astype({"k": str})
