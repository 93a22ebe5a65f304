"""What each selection keeps of top-k's similarity, and how much of its MPR is left.

These are the axes of the paper's Figure 1. They exist only where there is something to divide by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .cases import CASE, FULFILLED, SELECTION, TOP_K, is_constrained, method_order
from .fractions import has_top_k_to_divide_by

# An MPR below this is the rounding of zero: a fraction of it would be noise over noise.
SMALLEST_MPR = 1e-9
# The vertical axis shows at least the upper tenth, and otherwise this many times the loss of the
# constrained methods; a baseline that gives up half of the similarity would flatten all else.
SHALLOWEST_FLOOR = 0.9
FLOOR_LOSSES = 4.0

NO_MPR_TO_DIVIDE = "top-k's MPR is 0: nothing to divide by"
NO_SIMILARITY_TO_DIVIDE = "top-k's similarity is not positive: nothing to divide by"
NO_VALUE = "no value"

COLUMNS = [
    *CASE, "method", "parameter", "parameter_value", "target_class", "function_class", "status", "mpr_fraction",
    "similarity_fraction", "mpr", "mpr_upper_bound", "mpr_low", "mpr_high", "p_chance", "mpr_chance", "chi",
    "mpr_top_k", "similarity", "similarity_top_k", "similarity_bound", "gap", "rho", "rho_min",
    "precision", "note", "message",
]  # fmt: skip


def trade_offs(results: pd.DataFrame) -> pd.DataFrame:
    """Every selection under every class, with its place on the trade-off curve.

    Returns: columns COLUMNS, sorted by case, class, method and parameter. mpr_fraction and
             similarity_fraction are null where the note says why. The index is that of results.
    """
    rows = results.drop_duplicates([*SELECTION, "function_class"]).copy()
    top = rows[rows["method"] == TOP_K].drop_duplicates([*CASE, "function_class"])
    looked_for = (("mpr", "mpr_top_k", [*CASE, "function_class"]), ("similarity", "similarity_top_k", CASE))
    for own, column, keys in looked_for:
        known = top.drop_duplicates(keys).set_index(keys)[own]
        looked_up = rows[keys].join(known.rename("_known"), on=keys)["_known"]
        rows[column] = rows[column].astype(float).fillna(looked_up.astype(float))
    has_mpr, has_similarity = rows["mpr_top_k"] > SMALLEST_MPR, has_top_k_to_divide_by(rows)
    rows["mpr_fraction"] = rows["mpr"].astype(float) / rows["mpr_top_k"].where(has_mpr)
    rows["similarity_fraction"] = rows["similarity"].astype(float) / rows["similarity_top_k"].where(has_similarity)
    lacks = rows["mpr"].isna() | rows["similarity"].isna() | rows["mpr_top_k"].isna() | rows["similarity_top_k"].isna()
    rows["note"] = np.select(
        [lacks, ~has_mpr, ~has_similarity], [NO_VALUE, NO_MPR_TO_DIVIDE, NO_SIMILARITY_TO_DIVIDE], default=""
    )
    classes = {name: position for position, name in enumerate(rows["function_class"].dropna().unique())}
    order = rows.assign(
        _class=rows["function_class"].map(classes), _method=rows["method"].map(lambda name: method_order(name)[0])
    )
    order = order.sort_values(
        [*CASE, "_class", "_method", "method", "target_class", "parameter_value"], kind="stable", na_position="first"
    )
    return order.reindex(columns=COLUMNS)


def why_no_fractions(curves: pd.DataFrame) -> str:
    """What most selections lack for a place on the curve."""
    reason = curves["note"].mode().get(0, NO_VALUE)
    return "a top_k among the methods is needed to divide by" if reason == NO_VALUE else reason


def is_fulfilled(status: pd.Series) -> pd.Series:
    """Whether a selection did what was asked of it; the others are drawn hollow."""
    return status.isin(FULFILLED)


def vertical_floors(rows: pd.DataFrame) -> dict[tuple[Any, ...], float]:
    """Lowest similarity fraction that each panel shows; what is below is marked at its edge.

    Returns: a value for every (dataset, reference, query, k, function class) of the trade-offs.
    """
    kept = rows["similarity_fraction"]
    is_bound = rows["method"].map(is_constrained).astype(bool) & is_fulfilled(rows["status"])
    lowest = pd.DataFrame({"kept": kept, "constrained": kept.where(is_bound)}).groupby(
        [rows[key] for key in [*CASE, "function_class"]]
    ).min()  # fmt: skip
    return {
        panel: _floor(lowest_kept, lowest_constrained)
        for panel, lowest_kept, lowest_constrained in lowest.itertuples(name=None)
    }


def _floor(lowest_kept: float, lowest_constrained: float) -> float:
    if np.isnan(lowest_kept):
        return SHALLOWEST_FLOOR
    if np.isnan(lowest_constrained):
        return min(lowest_kept, SHALLOWEST_FLOOR)
    loss = 1.0 - lowest_constrained
    return max(min(lowest_kept, 1.0), min(SHALLOWEST_FLOOR, 1.0 - FLOOR_LOSSES * loss))
