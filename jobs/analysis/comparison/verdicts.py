"""Per case: largest group gap and MPR before and after, and whether that is a regression.

Of predicted labels both are compared by the true ones, where they are known of both runs: a rise that errors of labels
explain is no regression. Where the items' labels themselves are another labeller's, nothing else counts; where only
those of the reference are, and true ones are not known, gaps count from the mean of both references.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..cases import CASE, QUESTION, is_audited
from ..load import Run
from ..worst import largest, worst_pairs
from .labellers import Labellers
from .references import REFERENCE_TOLERANCE, own_references, reference_changes
from .true_labels import CLASS, true_gaps, true_rises


def verdicts(
    old: Run,
    new: Run,
    queries: pd.DataFrame,
    *,
    threshold: float,
    mpr_threshold: float,
    labels: Labellers,
) -> pd.DataFrame:
    """One row per case that both runs hold, the largest rise of a gap first.

    A case is a **regression** when its query moved beyond chance and its largest group gap rose by
    more than `threshold` (a share: 0.05 is five percentage points) or its MPR under some class by
    more than `mpr_threshold` (in MPR's own unit). Where labels are predicted, it is one when the gap or MPR by the true
    labels rose by more than that, and by more than their errors explain.

    Returns: CASE, items_changed, p_value, p_adjusted, is_moved, worst_group_old, worst_group_new, gap_old, gap_new,
             gap_rise (shares), function_class, mpr_old, mpr_new, mpr_rise (of the class whose MPR
             rose most), is_predicted, do_labels_differ, the columns of `true_gaps` and `true_rises`, null where true
             labels are not known, gap_rise_from_mean (of the largest gap, both from the mean of the two references),
             is_regression, may_be_labels (the rise by predicted labels would be a regression), reference_change (of a
             group's share in the reference, the largest), is_moved_by_reference (the rise would be a regression, and
             only a reference that each run has its own of moved).
    """
    minimum = new.minimum_share
    sides = [_largest_gaps(run, minimum, side) for run, side in ((old, "old"), (new, "new"))]
    table = sides[0].merge(sides[1], on=CASE).merge(_largest_rises(old, new), on=CASE, how="left")
    table["gap_rise"] = table["gap_new"] - table["gap_old"]
    table = table.merge(queries, on=QUESTION)
    table["is_predicted"] = labels.predicted.marks(table)
    table["do_labels_differ"] = labels.changed.marks(table)
    for other in (
        true_gaps(old, new, labels, queries, minimum),
        true_rises(old, new, labels.unlike, queries),
        _rises_from_mean(old, new, minimum),
        reference_changes(old, new),
    ):
        table = table.merge(other, on=CASE, how="left")
    has_risen = (table["gap_rise"] > threshold) | (table["mpr_rise"] > mpr_threshold)
    has_truly_risen = _is_beyond(table, "gap", threshold) | _is_beyond(table, "mpr", mpr_threshold)
    is_known = table["gap_corrected_rise"].notna() | table["mpr_corrected_rise"].notna()
    by_mean = table["do_labels_differ"] & ~table["dataset"].isin(labels.changed.datasets) & ~is_known
    by_true = table["do_labels_differ"] | is_known
    rises = [table["gap_rise_from_mean"] > threshold, has_truly_risen]
    table["is_regression"] = table["is_moved"] & np.select([by_mean, by_true], rises, has_risen)
    is_seen = has_risen & (table["is_moved"] | table["do_labels_differ"])
    table["may_be_labels"] = table["is_predicted"] & is_seen & ~table["is_regression"]
    is_own = table["reference"].isin(own_references(new.manifest)) & (table["reference_change"] > REFERENCE_TOLERANCE)
    table["is_moved_by_reference"] = is_own & has_risen & ~table["is_moved"] & ~table["do_labels_differ"]
    return table.sort_values(["gap_rise", *CASE], ascending=[False, True, True, True, True], kind="stable").reset_index(
        drop=True
    )


def _is_beyond(table: pd.DataFrame, what: str, threshold: float) -> pd.Series:
    """Whether a rise by the true labels exceeds the threshold, and what errors of labels may make of it."""
    return table[f"{what}_corrected_rise"] > table[f"{what}_corrected_margin"].clip(lower=threshold)


def _largest_gaps(run: Run, minimum_share: float, side: str) -> pd.DataFrame:
    """Each case's worst group and its gap as a share, without sign."""
    worst = largest(worst_pairs(run.results, run.groups, minimum_share=minimum_share))
    worst[f"gap_{side}"] = worst["gap_points"].abs() / 100.0
    return worst.rename(columns={"group": f"worst_group_{side}"})[[*CASE, f"worst_group_{side}", f"gap_{side}"]]


def _rises_from_mean(old: Run, new: Run, minimum_share: float) -> pd.DataFrame:
    """How far each case's largest gap rose, both from the mean of the two references."""
    keys, names = [*CASE, "group"], ["share_selected", "share_reference"]
    rows = [run.groups[is_audited(run.groups)].drop_duplicates(keys)[[*keys, *names]] for run in (old, new)]
    # A group that only one run knows is neither shown nor in the reference of the other.
    both = rows[0].merge(rows[1], on=keys, how="outer", suffixes=("_old", "_new")).set_index(keys).fillna(0.0)
    mean = (both["share_reference_old"] + both["share_reference_new"]) / 2.0
    gaps = [(both[f"share_selected_{side}"] - mean).abs()[mean >= minimum_share] for side in ("old", "new")]
    largest = [gap.groupby(level=CASE).max() for gap in gaps]
    return (largest[1] - largest[0]).rename("gap_rise_from_mean").reset_index()


def _largest_rises(old: Run, new: Run) -> pd.DataFrame:
    """Each case's class whose MPR rose most, and its values."""
    keys = [*CASE, CLASS]
    rows = [
        run.results[is_audited(run.results)].drop_duplicates(keys)[[*keys, "mpr"]].astype({"mpr": float})
        for run in (old, new)
    ]
    both = rows[0].merge(rows[1], on=keys, suffixes=("_old", "_new")).dropna(subset=["mpr_old", "mpr_new"])
    both["mpr_rise"] = both["mpr_new"] - both["mpr_old"]
    order = both.sort_values("mpr_rise", ascending=False, kind="stable")
    return order.drop_duplicates(CASE)
