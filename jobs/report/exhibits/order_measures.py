"""What other work prints of a ranking, for each method where its MPR is smallest: AWRF, NDKL, skew, nDCG, precision.

Source:     beyond the MPR paper; definitions and their sources are in `mprlib.metrics`.
Choice:     medians over queries, because MinSkew is minus infinity wherever a level is missing, and a mean with one
            such query would be as well. The measures are of the items in the order in which they were returned.
"""

from __future__ import annotations

import math

import pandas as pd

from ...analysis.cases import CASE
from ...analysis.frames import grouped
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .operating_points import in_order, smallest_mpr

TITLE = "Measures of the order at each method's smallest MPR, medians over queries"
# Columns of results and how papers write them.
MEASURES = {
    "awrf": "AWRF",
    "ndkl": "NDKL",
    "max_skew": "MaxSkew",
    "min_skew": "MinSkew",
    "ndcg": "nDCG",
    "precision": "precision",
}


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """The summary has one row per (data set, reference, k, class, method); the table one per query."""
    points = smallest_mpr(curves).drop(columns="precision")
    points = points.join(run.results[list(MEASURES)].astype(float))
    if points["awrf"].isna().all():
        raise Missing("no selection has a measure of its order: the run is of an earlier version, run it again")
    rows = []
    for (dataset, reference, k, name), own in grouped(points, ["dataset", "reference", "k", "function_class"]):
        for series in in_order(own["series"], curves):
            method = own[own["series"] == series]
            names = {"data set": dataset, "reference": reference, "k": k, "class": name, "method": series}
            medians = {title: _median(method[column]) for column, title in MEASURES.items()}
            rows.append(names | medians | {"queries": str(len(method))})
    columns = [
        *CASE, "function_class", "method", "target_class", "parameter", "parameter_value", "mpr", *MEASURES,
    ]  # fmt: skip
    return Exhibit(title=TITLE, table=points[columns], summary=pd.DataFrame(rows))


def _median(values: pd.Series) -> str:
    """Three decimals; infinite where half of the queries are."""
    median = float(values.median())
    if math.isnan(median):
        return "--"
    if math.isinf(median):
        return "\u221e" if median > 0 else "\u2212\u221e"
    return f"{median:.3f}"
