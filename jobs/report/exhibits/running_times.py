"""How long each method's sweep takes, and one value of it.

Source:     MPR paper, Table 3 (running times on 10,000 items).
Deviation:  ours walks all rho of a sweep together, so a value's time is the sweep's divided by its
            values; `mopr_paper` starts again for each. What a method prepares once for all queries (an
            order of columns, learned tokens, texts, probes) has a column of its own. Times are wall
            seconds on the machine of the run, beside other work of the run; they are the only numbers
            here that a rerun changes. The paper's MMR takes minutes where ours takes milliseconds: its
            code computes the distances of all pairs of items for a mean and a deviation that shift every
            candidate alike and so cancel.
"""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE, SELECTION
from ...analysis.frames import grouped
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .operating_points import in_order, mean_and_deviation, series_names

TITLE = "Running times in seconds, mean and deviation over queries"


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """The summary has one row per (data set, reference, k, method); the table one per query."""
    rows = run.results.drop_duplicates(SELECTION).dropna(subset=["solve_seconds"])
    if rows.empty:
        raise Missing("no selection has a running time")
    keys = [*CASE, "method", "target_class"]
    table = rows.groupby(keys, dropna=False, sort=False).agg(
        n_pool=("n_pool", "first"),
        values=("solve_seconds", "size"),
        sweep_seconds=("solve_seconds", "sum"),
        value_seconds=("solve_seconds", "mean"),
    ).reset_index()  # fmt: skip
    table["series"] = series_names(table)
    prepared = {(one["dataset"], one["method"]): one["seconds"] for one in run.manifest.get("preparation") or []}
    table["preparation_seconds"] = [
        prepared.get(key, 0.0) for key in table[["dataset", "method"]].itertuples(index=False, name=None)
    ]
    summary = []
    for (dataset, reference, k), own in grouped(table, ["dataset", "reference", "k"]):
        for series in in_order(own["series"], curves):
            method = own[own["series"] == series]
            summary.append(
                {
                    "data set": dataset,
                    "reference": reference,
                    "k": k,
                    "method": series,
                    "items": f"{method['n_pool'].max():,}",
                    "values": f"{method['values'].mean():.0f}",
                    "seconds a value": mean_and_deviation(method["value_seconds"], 4),
                    "seconds a sweep": mean_and_deviation(method["sweep_seconds"], 2),
                    "once, before all queries": f"{method['preparation_seconds'].max():.2f}",
                }
            )
    return Exhibit(title=TITLE, table=table.drop(columns="series"), summary=pd.DataFrame(summary))
