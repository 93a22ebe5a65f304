"""A case is one question asked: a query on one data set against one reference, for k items.

Each case has its top-k selection, which is what is audited, and its repaired selection, which is what fairer
retrieval would show: the most similar set of the constrained method whose MPR lies within what a fair lottery
shows, and where no set does, the one at the smallest rho that was met.
"""

from __future__ import annotations

import pandas as pd

# The attention of a set, which a method bounds unless it says otherwise.
UNIFORM = "uniform"

CASE = ["dataset", "reference", "query", "k"]
# What was retrieved, whatever it is compared with.
QUESTION = ["dataset", "query", "k"]
# One selection; results repeat it for every function class that measures it.
SELECTION = [*CASE, "method", "parameter_value", "target_class"]

TOP_K = "top_k"
# An engine's own first items, which are what is audited where a run has them.
AS_SHOWN = "as_shown"
# Statuses of a selection that does what was asked of it; the others are drawn hollow.
KEEPS_RHO = ("optimal", "feasible")
FULFILLED = (*KEEPS_RHO, "done")


def registered(method: str) -> str:
    """The method without the configuration's own name of its settings: `mopr_paper` of `mopr_paper(T=10)`."""
    return method.partition("(")[0]


def is_constrained(method: str) -> bool:
    """Whether the method bounds MPR, so that its parameter is rho."""
    return method.startswith("mopr")


def is_audited(rows: pd.DataFrame) -> pd.Series:
    """Whether each row's selection is what is audited: what an engine showed, or else the most similar items.

    rows: all of a run's results, or of its groups.
    """
    return rows["method"] == audited_method(rows)


def audited_method(rows: pd.DataFrame) -> str:
    """The method whose selections are audited; rows as `is_audited` takes them."""
    return AS_SHOWN if (rows["method"] == AS_SHOWN).any() else TOP_K


def method_order(method: str) -> tuple[int, str]:
    """Sorting key: what is audited, then what repairs it, then what it is compared with."""
    return (0 if method in (TOP_K, AS_SHOWN) else 1 if is_constrained(method) else 2, method)


def function_classes(results: pd.DataFrame) -> list[str]:
    """Names in order of first appearance, which is the configuration's: every unit writes them so."""
    return results["function_class"].dropna().unique().tolist()


def is_in_shares(results: pd.DataFrame, function_class: str) -> bool:
    """Whether values under a class are shares of people, which have no chi and do not depend on sizes."""
    own = results[results["function_class"] == function_class]
    return function_class.startswith("groups") and bool(own["chi"].isna().all())


def top_k_rows(results: pd.DataFrame) -> pd.DataFrame:
    """One row per case: its top-k selection, or what was shown, as the first class with a chi measures it.

    Where no class has a chi (only classes in share units), the first with an MPR; failing that,
    the first row, whose values are null.
    """
    rows = results[is_audited(results)]
    without_mpr, without_chi = rows["mpr"].isna(), rows["chi"].isna()
    order = rows.assign(_lack=without_mpr * 2 + (without_mpr | without_chi))
    return _first_each(order.sort_values("_lack", kind="stable"), CASE).drop(columns="_lack")


def repaired_rows(results: pd.DataFrame) -> pd.DataFrame:
    """One row per case that has one: the most similar constrained selection within chance.

    Within chance is a set whose MPR, under the class that was constrained, is at most the 95% point of lotteries
    (`mpr_chance`); where no set is, or the point is not known, it is the set at the smallest rho that was met.
    Among several, `mopr` comes before its variants and the first configured target class before
    the others: a rho in share units does not compare with one of a normalised class. The row is
    the measurement under the class that was constrained.
    """
    classes = function_classes(results)
    rows = results[results["method"].map(is_constrained) & results["status"].isin(KEEPS_RHO)]
    rank = {name: position for position, name in enumerate(classes)}
    rho = rows["rho"].fillna(rows["parameter_value"]).astype(float)
    within = is_within_chance(rows)
    order = rows.assign(
        _beyond=~within,
        _rho=rho.mask(within, -rho),
        _target=rows["target_class"].map(rank).fillna(len(rank)).astype(int),
        _other=rows["function_class"] != rows["target_class"],
    ).sort_values(["method", "_target", "_beyond", "_rho", "_other"], kind="stable")
    return _first_each(order, CASE).drop(columns=["_beyond", "_rho", "_target", "_other"])


def is_within_chance(rows: pd.DataFrame) -> pd.Series:
    """Whether a constrained selection shows no more MPR, under the class that it bounds, than a lottery does.

    Where labels may be wrong, that is what the selection claims of the true ones: an estimate below the point is none.
    """
    if "mpr_chance" not in rows:
        return pd.Series(False, index=rows.index)
    chance = rows["mpr_chance"].astype(float)
    within = rows["mpr"].astype(float) <= chance
    if "p_rho" in rows:
        within = within.where(rows["p_rho"].isna(), _is_claimed(rows) & (rows["rho"].astype(float) <= chance))
    within &= rows["function_class"] == rows["target_class"]
    if within.empty:
        return within.astype(bool)
    return within.groupby([rows[key] for key in SELECTION], dropna=False).transform("any").astype(bool)


def _is_claimed(rows: pd.DataFrame) -> pd.Series:
    """Whether each row measures what its selection claims and keeps: the MPR under the target's attention."""
    is_kept = rows["status"].isin(KEEPS_RHO)
    if "attention" not in rows:
        return is_kept
    asked = rows["target_attention"] if "target_attention" in rows else pd.Series(None, index=rows.index, dtype=object)
    measured, bounded = (one.astype(object).fillna(UNIFORM) for one in (rows["attention"], asked))
    return is_kept & (measured == bounded)


def _first_each(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The first row of each key, in the keys' order, so that file order never shows."""
    return rows.drop_duplicates(keys).sort_values(keys, kind="stable")
