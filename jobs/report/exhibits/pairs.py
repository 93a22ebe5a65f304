"""Selections of two methods at the same rho: what one gives up against the other."""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE, registered

# Equal values of two grids are computed by different roundings of the same numbers.
DIGITS = 9


def solved(run_results: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """The rows of these methods under the class that they constrained, one per selection, with their rho."""
    is_asked = run_results["method"].map(registered).isin(methods)
    rows = run_results[is_asked & (run_results["function_class"] == run_results["target_class"])]
    rho = rows["rho"].astype(float).fillna(rows["parameter_value"].astype(float))
    return rows.assign(at=rho.round(DIGITS)).drop_duplicates([*CASE, "method", "target_class", "at"])


def entries(run_results: pd.DataFrame, methods: tuple[str, ...]) -> list[str]:
    """The entries of these methods as result rows name them, in the methods' order."""
    found = run_results["method"].dropna().unique().tolist()
    return [name for method in methods for name in found if registered(name) == method]


def paired(run_results: pd.DataFrame, first: str, second: str, columns: list[str]) -> pd.DataFrame:
    """Rows of both entries for the same case, target class and rho, columns ending in each method's name."""
    keys = [*CASE, "target_class", "at"]
    left, right = (_of_entry(run_results, name, columns) for name in (first, second))
    return left.merge(right, on=keys, how="inner").rename(columns={"at": "rho"})


def _of_entry(run_results: pd.DataFrame, name: str, columns: list[str]) -> pd.DataFrame:
    rows = solved(run_results[run_results["method"] == name], (registered(name),))
    named = {one: f"{one}_{name}" for one in columns}
    return rows[[*CASE, "target_class", "at", *columns]].rename(columns=named)
