"""The selection of each sweep with the smallest MPR: where the paper compares methods."""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE, FULFILLED

SERIES = ["method", "target_class"]


def series_names(rows: pd.DataFrame) -> pd.Series:
    """`mopr (linear)` where a class was constrained, else the method's name."""
    target = rows["target_class"]
    return rows["method"].where(target.isna(), rows["method"] + " (" + target.astype(str) + ")")


def smallest_mpr(curves: pd.DataFrame) -> pd.DataFrame:
    """One row per (case, function class, method, target class): its fulfilled selection of smallest MPR.

    curves: the trade-offs of a run. Among equal MPRs the more similar selection is taken. Selections
    that broke their rho are left out: their MPR was not asked for. Adds the column series.
    """
    rows = curves[curves["status"].isin(FULFILLED)].dropna(subset=["mpr", "similarity"])
    order = rows.sort_values(["mpr", "similarity"], ascending=[True, False], kind="stable")
    first = order.drop_duplicates([*CASE, "function_class", *SERIES]).sort_index()
    return first.assign(series=series_names(first))


def in_order(names: pd.Series, curves: pd.DataFrame) -> list[str]:
    """Series in the report's order of methods, which the trade-offs have."""
    present = set(names)
    return [name for name in series_names(curves).drop_duplicates() if name in present]


def mean_and_deviation(values: pd.Series, digits: int) -> str:
    """`0.943 ± 0.012` over queries; the deviation is the sample's, and absent for one query."""
    values = values.dropna()
    if values.empty:
        return "--"
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) < 2 else f"{mean} \u00b1 {values.std():.{digits}f}"
