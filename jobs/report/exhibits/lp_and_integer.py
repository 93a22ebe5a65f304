"""What is lost between the relaxation, its rounding, and the best whole set.

Source:     MPR paper, appendix D: the linear relaxation against the integer programme.
Deviation:  the relaxation is ours, with a proven bound; `mopr` rounds it to sets that meet rho, while
            `mopr_paper` takes the largest entries, which may break rho and then lose less (`meets rho`
            says how often it does not). Losses, gaps and times are means over the rows where every method
            has a set within rho (`in common`): a method that misses the hard ones would look better. The
            integer programme has a variable per item, where the authors' code has one per reference row.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ...analysis.cases import CASE, KEEPS_RHO
from ...analysis.fractions import loss_percent
from ...analysis.frames import grouped
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .operating_points import mean_and_deviation
from .pairs import entries, solved

TITLE = "Loss of similarity against the relaxation at the same rho, in per cent"
METHODS = ("mopr", "mopr_paper", "mopr_integer")


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row a (case, target class, rho, method) at the values of rho that mopr_integer solved."""
    rows = solved(run.results, METHODS)
    keys = [*CASE, "target_class", "at"]
    programmes = entries(rows, ("mopr_integer",))[:1]
    asked = rows.loc[rows["method"].isin(programmes), [*keys, "relaxation_bound", "similarity_bound"]]
    if asked["relaxation_bound"].notna().sum() == 0:
        raise Missing("no mopr_integer among the methods, or none of its relaxations has a set")
    table = rows.drop(columns=["relaxation_bound", "similarity_bound"]).merge(asked, on=keys, how="inner")
    table = table.dropna(subset=["relaxation_bound", "similarity"])
    table["loss_percent"] = loss_percent(table["similarity"], table["relaxation_bound"])
    table["gap_percent"] = loss_percent(table["similarity"], table["similarity_bound"])
    table["meets_rho"] = table["status"].isin(KEEPS_RHO)
    table["in_common"] = _is_in_common(table, keys)
    summary = [
        _row(names, method, made)
        for names, own in grouped(table, ["dataset", "reference", "k", "target_class"])
        for method in entries(rows, METHODS)
        if len(made := own[own["method"] == method])
    ]
    columns = [
        *CASE, "target_class", "at", "method", "status", "mpr", "similarity", "relaxation_bound", "similarity_bound",
        "loss_percent", "gap_percent", "solve_seconds", "in_common",
    ]  # fmt: skip
    table = table[columns].rename(columns={"at": "rho"})
    return Exhibit(title=TITLE, table=table, summary=pd.DataFrame(summary))


def _is_in_common(table: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Whether every method that the same data set, reference, k and class has met this rho for this query."""
    asked = table.groupby(["dataset", "reference", "k", "target_class"])["method"].transform("nunique")
    return table["meets_rho"].groupby([table[key] for key in keys]).transform("sum") == asked


def _row(names: tuple[Any, ...], method: str, made: pd.DataFrame) -> dict[str, object]:
    common = made[made["in_common"]]
    return {
        **dict(zip(("data set", "reference", "k", "class"), names)),
        "method": method,
        "meets rho": f"{int(made['meets_rho'].sum())} of {len(made)}",
        "proven best": f"{int((made['status'] == 'optimal').sum())}",
        "in common": f"{len(common)}",
        "loss to relaxation, %": mean_and_deviation(common["loss_percent"], 3),
        "gap to bound, %": mean_and_deviation(common["gap_percent"], 3),
        "seconds": mean_and_deviation(common["solve_seconds"], 3),
    }
