"""What is lost between the relaxation, its rounding, and the best whole set.

Source:     MPR paper, appendix D: the linear relaxation against the integer programme.
Deviation:  the relaxation is ours, with a proven bound; `mopr` rounds it to sets that meet rho, while
            `mopr_paper` takes the largest entries, which may break rho and then lose less (`meets rho`
            says how often it does not). The integer programme has a variable per item, where the
            authors' code has one per reference row.
"""

from __future__ import annotations

import pandas as pd

from jobs.analysis.cases import CASE, KEEPS_RHO
from jobs.analysis.fractions import loss_percent
from jobs.analysis.frames import grouped
from jobs.analysis.load import Run
from jobs.report.exhibits.exhibit import Exhibit, Missing
from jobs.report.exhibits.operating_points import mean_and_deviation
from jobs.report.exhibits.pairs import solved

TITLE = "Loss of similarity against the relaxation at the same rho, in per cent"
METHODS = ("mopr", "mopr_paper", "mopr_integer")


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row a (case, target class, rho, method) at the values of rho that mopr_integer solved."""
    rows = solved(run.results, METHODS)
    keys = [*CASE, "target_class", "at"]
    asked = rows.loc[rows["method"] == "mopr_integer", [*keys, "relaxation_bound", "similarity_bound"]]
    if asked["relaxation_bound"].notna().sum() == 0:
        raise Missing("no mopr_integer among the methods, or none of its relaxations has a set")
    table = rows.drop(columns=["relaxation_bound", "similarity_bound"]).merge(asked, on=keys, how="inner")
    table = table.dropna(subset=["relaxation_bound", "similarity"])
    table["loss_percent"] = loss_percent(table["similarity"], table["relaxation_bound"])
    table["gap_percent"] = loss_percent(table["similarity"], table["similarity_bound"])
    table["meets_rho"] = table["status"].isin(KEEPS_RHO)
    summary = []
    for (dataset, reference, k, target), own in grouped(table, ["dataset", "reference", "k", "target_class"]):
        for method in METHODS:
            made = own[own["method"] == method]
            if made.empty:
                continue
            met = made[made["meets_rho"]]
            summary.append(
                {
                    "data set": dataset,
                    "reference": reference,
                    "k": k,
                    "class": target,
                    "method": method,
                    "meets rho": f"{len(met)} of {len(made)}",
                    "proven best": f"{int((made['status'] == 'optimal').sum())}",
                    "loss to relaxation, %": mean_and_deviation(met["loss_percent"], 3),
                    "gap to bound, %": mean_and_deviation(met["gap_percent"], 3),
                    "seconds": mean_and_deviation(made["solve_seconds"], 3),
                }
            )
    columns = [
        *CASE, "target_class", "at", "method", "status", "mpr", "similarity", "relaxation_bound", "similarity_bound",
        "loss_percent", "gap_percent", "solve_seconds",
    ]  # fmt: skip
    table = table[columns].rename(columns={"at": "rho"})
    return Exhibit(title=TITLE, table=table, summary=pd.DataFrame(summary))
