"""Who is shown, group by group: shares of every intersection, mean and deviation over queries.

Source:     MPR paper, Tables 1, 5 and 6, of any number of attributes; `joint_shares` has their form.
Deviation:  every method is shown at its smallest MPR of the first configured class, beside the share in
            the reference, which need not be equal; a group that fewer than half of its
            reference share shows is in bold. Intersections are of as many attributes as the run
            recorded (`report.group_attributes`).
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ...analysis.cases import SELECTION, function_classes
from ...analysis.frames import grouped
from ...analysis.load import Run
from ...analysis.wording import group_name
from .exhibit import Exhibit, Missing
from .operating_points import in_order, smallest_mpr

TITLE = "Shares of intersectional groups in per cent, mean and deviation over queries"
# Below this part of its share of the reference a group counts as missed.
MISSED = 0.5


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per (data set, reference, k, group), one column per method."""
    shown, first_class = shown_groups(run, curves)
    shown = shown[shown["attributes"] == shown["attributes"].max()]
    keys = ["dataset", "reference", "k", "series", "group"]
    table = shown.groupby(keys, sort=False).agg(
        queries=("query", "nunique"),
        share_reference=("share_reference", "mean"),
        share_mean=("share_selected", "mean"),
        share_deviation=("share_selected", "std"),
    ).reset_index()  # fmt: skip
    summary = [
        _row(names, own, in_order(table["series"], curves))
        for names, own in grouped(table, ["dataset", "reference", "k", "group"])
    ]
    return Exhibit(title=f"{TITLE}; class {first_class}", table=table, summary=pd.DataFrame(summary))


def shown_groups(run: Run, curves: pd.DataFrame, most_attributes: int | None = None) -> tuple[pd.DataFrame, str]:
    """The groups of every method's selection of smallest MPR, and the class of that MPR: the first configured one.

    Raises:  Missing where no group was recorded, or no selection has an MPR.
    """
    if run.groups.empty:
        raise Missing("the run recorded no group tables: run the audit again to write groups/")
    first_class = function_classes(run.results)[0]
    points = smallest_mpr(curves[curves["function_class"] == first_class])
    groups = run.groups.drop_duplicates([*SELECTION, "group"])
    if most_attributes is not None:
        groups = groups[groups["attributes"] <= most_attributes]
    shown = points[[*SELECTION, "series"]].astype({"parameter_value": float}).merge(
        groups.astype({"parameter_value": float}), on=SELECTION, how="inner"
    )  # fmt: skip
    if shown.empty:
        raise Missing(f"no selection has both an MPR under {first_class} and group shares")
    return shown, first_class


def _row(names: tuple[Any, ...], own: pd.DataFrame, series: list[str]) -> dict[str, object]:
    dataset, reference, k, group = names
    expected = own["share_reference"].mean()
    row = {"data set": dataset, "reference": reference, "k": k, "group": group_name(group)}
    row["reference share"] = f"{100 * expected:.1f}"
    by_series = own.set_index("series")
    for name in series:
        if name not in by_series.index:
            row[name] = "--"
            continue
        shown = by_series.loc[name]
        text = f"{100 * shown['share_mean']:.1f}"
        if shown["queries"] > 1:
            text += f" \u00b1 {100 * shown['share_deviation']:.1f}"
        row[name] = f"*{text}*" if shown["share_mean"] < MISSED * expected else text
    return row
