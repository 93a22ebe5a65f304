"""What each method keeps of top-k's similarity where its MPR is smallest.

Source:     MPR paper, Table 4.
Deviation:  each class has rows of its own, since MPRs of two classes do not compare; a method that
            constrains a class has one row for each class it constrained. MOPR's sets never exceed
            rho, so its smallest MPR is one that was asked for; the paper's rounded sets may exceed it.
"""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE
from ...analysis.curves import why_no_fractions
from ...analysis.frames import grouped
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .operating_points import in_order, mean_and_deviation, smallest_mpr

TITLE = "Similarity kept at each method's smallest MPR, mean and deviation over queries"


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """The summary has one row per (data set, reference, k, class, method); the table one per query."""
    points = smallest_mpr(curves).dropna(subset=["mpr_fraction", "similarity_fraction"])
    if points.empty:
        raise Missing(f"no selection has an MPR and a similarity to compare: {why_no_fractions(curves)}")
    asked = curves[CASE].drop_duplicates().groupby(["dataset", "reference", "k"]).size().to_dict()
    rows = []
    for (dataset, reference, k, name), own in grouped(points, ["dataset", "reference", "k", "function_class"]):
        for series in in_order(own["series"], curves):
            method = own[own["series"] == series]
            rows.append(
                {
                    "data set": dataset,
                    "reference": reference,
                    "k": k,
                    "class": name,
                    "method": series,
                    "MPR": mean_and_deviation(method["mpr"], 4),
                    "of top-k's": mean_and_deviation(method["mpr_fraction"], 3),
                    "similarity of top-k's": mean_and_deviation(method["similarity_fraction"], 4),
                    "queries": f"{len(method)} of {asked[dataset, reference, k]}",
                }
            )
    columns = [
        *CASE, "function_class", "method", "target_class", "parameter", "parameter_value", "mpr", "mpr_fraction",
        "similarity", "similarity_fraction", "precision",
    ]  # fmt: skip
    return Exhibit(title=TITLE, table=points[columns], summary=pd.DataFrame(rows))
