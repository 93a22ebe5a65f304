"""Which group is worst off for which query: the ranking that the report opens with.

Gaps are in percentage points: 100 * (share selected - share in the reference). They read without
a footnote, unlike MPR, which is scaled by the sizes of pool, reference and selection.

Whether a gap is more than luck is asked of every group of every query at once (`jobs.analysis.chance`); what is
not beyond chance is no headline.
"""

from __future__ import annotations

import pandas as pd

from .cases import CASE, SELECTION, is_within_chance, repaired_rows, top_k_rows
from .chance import CHANCE, with_chance
from .fractions import has_top_k_to_divide_by, similarity_loss
from .predicted import NONE_PREDICTED, Predicted

# Below this share of the reference a group is a handful of people, whose gap is mostly noise: it
# stays in the tables and out of the headline.
MINIMUM_SHARE = 0.01
# Gaps are printed to a tenth of a point; closer than that, two gaps are equal (a group and its complement).
TIE_POINTS = 0.05

# What depends on all queries of a run.
JOINT = ["is_headline", "is_beyond_chance", "p_adjusted", "chance_points"]
PAIRS = [
    *CASE, "group", "attributes", "share_selected", "share_reference", "gap_points", "is_headline", "is_largest",
    "is_beyond_chance", "p_chance", "p_adjusted", "chance_points", "mpr", "chi", "function_class", "precision",
    "n_pool", "share_repaired", "gap_repaired_points", "method_repaired", "rho_repaired", "target_repaired",
    "is_repaired_to_chance", "mpr_chance_repaired", "precision_repaired", "similarity_fraction", "similarity_loss",
    "is_predicted", "share_corrected", "share_corrected_low", "share_corrected_high", "share_repaired_corrected",
    "mpr_corrected", "mpr_corrected_low", "mpr_corrected_high",
]  # fmt: skip
# Shares by the true labels, null where labels are taken as right.
CORRECTED = ["share_corrected", "share_corrected_low", "share_corrected_high"]
# Columns of the audited selection's row of results.
OF_AUDITED = [
    "mpr", "chi", "function_class", "precision", "n_pool", "mpr_corrected", "mpr_corrected_low", "mpr_corrected_high",
]  # fmt: skip
# Columns of the pairs of some cases: the others follow from those of all.
CASE_PAIRS = [*(name for name in PAIRS if name not in JOINT), *CHANCE[1:]]
OF_REPAIRED = [
    "method_repaired", "rho_repaired", "target_repaired", "is_repaired_to_chance", "mpr_chance_repaired",
    "precision_repaired", "similarity_fraction", "similarity_loss",
]  # fmt: skip


def worst_pairs(
    results: pd.DataFrame,
    groups: pd.DataFrame,
    *,
    minimum_share: float = MINIMUM_SHARE,
    predicted: Predicted = NONE_PREDICTED,
) -> pd.DataFrame:
    """Every (query, group) pair of a run's top-k selections, largest absolute gap first: columns PAIRS."""
    return judged(case_pairs(results, groups, minimum_share=minimum_share, predicted=predicted))


def case_pairs(
    results: pd.DataFrame, groups: pd.DataFrame, *, minimum_share: float, predicted: Predicted
) -> pd.DataFrame:
    """Every (query, group) pair of some cases' top-k selections.

    is_largest marks one pair per query: its worst group of at least that share of the reference;
    among equals the group that is shown too little, then the one of fewer attributes, then by
    name, so that a group and its complement do not fill the list twice. The same group's share in the
    repaired selection and its cost are in the same row, null where no selection met any rho. predicted: whose labels
    are predicted ones.

    Returns: columns CASE_PAIRS; share columns are fractions of 1, similarity_fraction is the repaired
             selection's similarity as a fraction of top-k's, null where top-k's is not positive, and
             similarity_loss is how far it is below top-k's.
    """
    pairs = _group_shares(groups, top_k_rows(results), OF_AUDITED)
    pairs = pairs.merge(_repaired_shares(results, groups), on=[*CASE, "group"], how="left")
    pairs["gap_points"] = 100.0 * (pairs["share_selected"] - pairs["share_reference"])
    pairs["gap_repaired_points"] = 100.0 * (pairs["share_repaired"] - pairs["share_reference"])
    pairs["is_predicted"] = predicted.marks(pairs)
    pairs["is_largest"] = _is_largest(pairs, minimum_share)
    return pairs[CASE_PAIRS]


def judged(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of all cases of a run with what depends on all, largest absolute gap first.

    is_headline marks the largest pairs of queries that are beyond chance, all of them in a run that knows nothing of
    chance.
    """
    pairs = with_chance(pairs)
    pairs["is_headline"] = pairs["is_largest"] & pairs["is_beyond_chance"].fillna(True).astype(bool)
    return worst_first(pairs[PAIRS])


def worst_first(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of any cases, largest absolute gap first."""
    ordered = pairs.assign(
        # Rounded, so that a mirrored pair differing in the last bit is ordered by its sign.
        _rounded=(pairs["gap_points"].abs() / TIE_POINTS).round(),
        _too_many=pairs["gap_points"] > 0,
    ).sort_values(
        ["_rounded", "is_headline", "_too_many", "attributes", *CASE, "group"],
        ascending=[False, False, *[True] * 7],
        kind="stable",
    )
    return ordered[PAIRS].reset_index(drop=True)


def headline(pairs: pd.DataFrame) -> pd.DataFrame:
    """One pair per query whose largest gap is beyond chance, worst first."""
    return pairs[pairs["is_headline"]].reset_index(drop=True)


def largest(pairs: pd.DataFrame) -> pd.DataFrame:
    """One pair per query: its largest gap, luck or not."""
    return pairs[pairs["is_largest"]].reset_index(drop=True)


def worst_off(pairs: pd.DataFrame, *, minimum_share: float = MINIMUM_SHARE) -> pd.DataFrame:
    """One pair per query that has one: the group that is most underrepresented.

    The headline's gap may be of a group shown too much; this names the group that is shown too little.
    Groups below the share of the reference stay out, and so do gaps that are not beyond chance; among equals the
    one of fewer attributes, then by name.
    """
    is_meant = pairs["is_beyond_chance"].fillna(True).astype(bool) & (pairs["share_reference"] >= minimum_share)
    lacking = pairs[is_meant & (pairs["gap_points"] < -TIE_POINTS)]
    order = lacking.assign(_rounded=(lacking["gap_points"] / TIE_POINTS).round()).sort_values(
        ["_rounded", "attributes", "group"], kind="stable"
    )
    return order.drop_duplicates(CASE).drop(columns="_rounded").reset_index(drop=True)


def worst_groups(pairs: pd.DataFrame, *, minimum_share: float = MINIMUM_SHARE) -> pd.DataFrame:
    """Each group over all queries, the largest mean gap first.

    Returns: columns group, queries, mean_gap_points, deviation_points, times_beyond (queries in which its gap is
             beyond chance), times_worst, the case with its largest gap (worst_query, ...), worst_gap_points; sorted
             by the absolute mean gap. The deviation is over queries, null for a single one.
    """
    named = pairs[pairs["share_reference"] >= minimum_share]
    worst_first = named.assign(_size=named["gap_points"].abs()).sort_values("_size", ascending=False, kind="stable")
    grouped = worst_first.groupby("group", sort=True)
    table = pd.DataFrame(
        {
            "queries": grouped.size(),
            "mean_gap_points": grouped["gap_points"].mean(),
            "deviation_points": grouped["gap_points"].std(),
            "times_beyond": grouped["is_beyond_chance"].sum(),
            "times_worst": grouped["is_headline"].sum(),
            **{f"worst_{key}": grouped[key].first() for key in CASE},
            "worst_gap_points": grouped["gap_points"].first(),
        }
    ).reset_index()
    order = table.assign(
        _rounded=(table["mean_gap_points"].abs() / TIE_POINTS).round(), _too_many=table["mean_gap_points"] > 0
    ).sort_values(["_rounded", "_too_many", "group"], ascending=[False, True, True], kind="stable")
    return order.drop(columns=["_rounded", "_too_many"]).reset_index(drop=True)


def _repaired_shares(results: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Each group's share in the repaired selection, and what that selection costs."""
    repaired = repaired_rows(results)
    repaired["is_repaired_to_chance"] = is_within_chance(repaired)
    names = {"rho": "rho_repaired", "precision": "precision_repaired", "mpr_chance": "mpr_chance_repaired"}
    repaired = repaired.rename(columns=names)
    repaired["method_repaired"], repaired["target_repaired"] = repaired["method"], repaired["target_class"]
    has_top_k = has_top_k_to_divide_by(results)[repaired.index]
    repaired["similarity_fraction"] = repaired["similarity"] / repaired["similarity_top_k"].where(has_top_k)
    repaired["similarity_loss"] = similarity_loss(results)[repaired.index]
    names = {"share_selected": "share_repaired", "share_corrected": "share_repaired_corrected"}
    after = _group_shares(groups, repaired, OF_REPAIRED).rename(columns=names)
    return after.drop(columns=["attributes", "share_reference", *CHANCE, *CORRECTED[1:]])


def _group_shares(groups: pd.DataFrame, selections: pd.DataFrame, keep: list[str]) -> pd.DataFrame:
    """The named groups of these selections, one row each, with what is kept of the selection."""
    rows = groups.drop(columns="unit", errors="ignore").astype({"parameter_value": float})
    # A merge matches null with null, which is what the parameter and target class of top-k are.
    keys = selections.reindex(columns=[*SELECTION, *keep]).astype({"parameter_value": float})
    rows = rows.merge(keys, on=SELECTION, how="inner").drop_duplicates([*SELECTION, "group"])
    shares = ["share_selected", "share_reference", *CORRECTED]
    return rows.reindex(columns=[*CASE, "group", "attributes", *shares, *CHANCE, *keep])


def _is_largest(pairs: pd.DataFrame, minimum_share: float) -> pd.Series:
    size = pairs["gap_points"].abs().where(pairs["share_reference"] >= minimum_share)
    largest = size.groupby([pairs[key] for key in CASE]).transform("max")
    candidates = pairs[size >= largest - TIE_POINTS]
    order = candidates.assign(_too_many=candidates["gap_points"] > 0).sort_values(
        ["_too_many", "attributes", "group"], kind="stable"
    )
    chosen = order.drop_duplicates(CASE).index
    return pd.Series(pairs.index.isin(chosen), index=pairs.index)
