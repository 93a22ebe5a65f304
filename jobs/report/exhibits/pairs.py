"""Selections of two methods at the same rho: what one gives up against the other."""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE

# Equal values of two grids are computed by different roundings of the same numbers.
DIGITS = 9


def solved(run_results: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """The rows of these methods under the class that they constrained, one per selection, with their rho."""
    rows = run_results[
        run_results["method"].isin(methods) & (run_results["function_class"] == run_results["target_class"])
    ]
    rho = rows["rho"].astype(float).fillna(rows["parameter_value"].astype(float))
    return rows.assign(at=rho.round(DIGITS)).drop_duplicates([*CASE, "method", "target_class", "at"])


def paired(run_results: pd.DataFrame, first: str, second: str, columns: list[str]) -> pd.DataFrame:
    """Rows of both methods for the same case, target class and rho, columns ending in each method's name."""
    keys = [*CASE, "target_class", "at"]
    left, right = (
        solved(run_results, (name,))[[*keys, *columns]].rename(columns={one: f"{one}_{name}" for one in columns})
        for name in (first, second)
    )
    return left.merge(right, on=keys, how="inner").rename(columns={"at": "rho"})
