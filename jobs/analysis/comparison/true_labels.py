"""What changed by the true labels, where those of both runs are predicted: shares and MPR with their intervals.

A difference is off by what both values are off by, each towards the other: their half intervals, as the root of the sum
of squares. Where one labeller labelled both weeks, and the same is known of it, items in both selections have the same
errors, which cancel: of k items of which m were exchanged, a part m / k of the variance is left.

Where another labeller labelled one of the weeks, whether a share moved is asked of the true labels, and these differ by
the errors of both labellers and by which items were exchanged: if groups have nothing to do with it, any of the m that
left and the m that entered might as well have been on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy

from mprlib.arrays import FloatArray

from ..cases import CASE, QUESTION, is_audited
from ..load import Run
from ..predicted import Predicted
from .labellers import Labellers
from .pairing import Pair, Question

CLASS = "function_class"
SIDES = ("old", "new")
# Half of a 95% interval in standard errors.
HALF_INTERVAL = float(scipy.stats.norm.ppf(0.975))
SHARES = ["share_corrected", "share_corrected_low", "share_corrected_high", "share_reference_corrected"]
VALUES = ["mpr_corrected", "mpr_corrected_low", "mpr_corrected_high"]


def true_moves(old: Run, new: Run, exchanged: Mapping[Question, Pair]) -> pd.DataFrame:
    """Changes of groups' shares of what is shown: QUESTION, group, change_share and p_value of its two-sided test.

    exchanged: the questions asked, those where the labels of either week are another labeller's; pairs by items' ids.
    """
    both = _paired_groups(old, new).drop_duplicates([*QUESTION, "group"])
    is_asked = [key in exchanged for key in both[QUESTION].itertuples(index=False, name=None)]
    both = both[np.array(is_asked, dtype=bool)]
    change = both["share_corrected_new"] - both["share_corrected_old"]
    error = _margin_towards_zero(both, np.where(change >= 0, 1.0, -1.0), "share_corrected") / HALF_INTERVAL
    moves = both.assign(
        change_share=change, p_value=2.0 * scipy.stats.norm.sf(_changes_in_standard_errors(both, error, exchanged))
    )
    return moves[[*QUESTION, "group", "change_share", "p_value"]]


def _changes_in_standard_errors(
    both: pd.DataFrame, error: FloatArray, exchanged: Mapping[Question, Pair]
) -> FloatArray:
    """How many standard errors each share (n,) changed by. error: of the labels alone.

    Of the 2 m items exchanged those of a group, t, fall to both sides as in a draw without replacement: the difference
    of the two counts has variance t (2 m - t) / (2 m - 1), and goes in steps of two, of which the normal law takes half
    (the correction for continuity). How many t are is known by predicted labels, and by the share by true ones; it is
    the one under which chance does more, and the items that the change itself takes are among them. The same items
    shown are no move of the engine, whatever their labels are.
    """
    keys = list(both[QUESTION].itertuples(index=False, name=None))
    pairs, members = [exchanged[key] for key in keys], {key: exchanged[key].members() for key in set(keys)}
    shown, exchanges = (np.array([getattr(pair, name) for pair in pairs], float) for name in ("shown", "exchanged"))
    old, new = (both[f"share_corrected_{side}"].to_numpy(float) for side in SIDES)
    size = np.abs(new - old)
    least = np.minimum(size * shown, exchanges)
    counts = [
        np.array([members[key].get(group, 0) for key, group in zip(keys, both["group"])], float),
        exchanges * (old + new),
    ]
    kept = np.clip(counts, least, 2.0 * exchanges - least)
    variance = (kept * (2.0 * exchanges - kept)).max(axis=0) / np.maximum(2.0 * exchanges - 1.0, 1.0)
    spread = np.hypot(error, np.sqrt(variance) / shown)
    beyond = np.where(exchanges > 0, np.maximum(size - 1.0 / shown, 0.0), 0.0)
    found: FloatArray = np.divide(beyond, spread, out=np.zeros_like(beyond), where=beyond > 0)
    return found


def true_gaps(old: Run, new: Run, labels: Labellers, exchanged: pd.DataFrame, minimum_share: float) -> pd.DataFrame:
    """Each case's largest gap by the true labels in either run, as a share without sign.

    Columns CASE, worst_group_corrected_old and _new, gap_corrected_old and _new, gap_corrected_rise, and
    gap_corrected_margin, what errors of labels may make of it.

    exchanged: QUESTION and items_changed. Where a reference's labeller changed, or what is known of it, gaps are those
    from the mean of both estimates of it, so that what that made of the reference is no rise.
    """
    both = _paired_groups(old, new)
    references = both[[f"share_reference_corrected_{side}" for side in SIDES]].to_numpy(float)
    is_changed = labels.marks_references(both, labels.unlike).to_numpy()[:, None]
    references = np.where(is_changed, references.mean(axis=1, keepdims=True), references)
    for column, side in enumerate(SIDES):
        both[f"gap_{side}"] = both[f"share_corrected_{side}"] - references[:, column]
    both = both[references[:, 1] >= minimum_share]
    largest = [_largest_gaps(both, side) for side in SIDES]
    found = largest[0].merge(largest[1], on=CASE)
    found["gap_corrected_rise"] = found["gap_corrected_new"] - found["gap_corrected_old"]
    found["gap_corrected_margin"] = np.hypot(found["off_old"], found["off_new"]) * _uncancelled_part(
        found, labels.unlike, exchanged
    )
    return found.drop(columns=["off_old", "off_new"])


def true_rises(old: Run, new: Run, unlike: Predicted, exchanged: pd.DataFrame) -> pd.DataFrame:
    """Each case's class whose MPR by the true labels rose most beyond errors: CASE, mpr_corrected_class,
    mpr_corrected_old and _new, mpr_corrected_rise and mpr_corrected_margin. unlike: of `Labellers`; exchanged: as of
    `true_gaps`."""
    keys = [*CASE, CLASS]
    rows = [
        run.results[is_audited(run.results)].reindex(columns=[*keys, *VALUES]).drop_duplicates(keys).dropna()
        for run in (old, new)
    ]
    both = _paired_rows(rows, keys, VALUES)
    both["mpr_corrected_rise"] = both["mpr_corrected_new"] - both["mpr_corrected_old"]
    off = _margin_towards_zero(both, np.ones(len(both)), "mpr_corrected")
    both["mpr_corrected_margin"] = off * _uncancelled_part(both, unlike, exchanged)
    beyond = both["mpr_corrected_rise"] - both["mpr_corrected_margin"]
    order = both.assign(_beyond=beyond).sort_values("_beyond", ascending=False, kind="stable").drop_duplicates(CASE)
    named = order.rename(columns={CLASS: "mpr_corrected_class"})
    columns = ["class", "old", "new", "rise", "margin"]
    return named[[*CASE, *(f"mpr_corrected_{name}" for name in columns)]]


def true_shares(run: Run) -> pd.DataFrame:
    """Corrected shares of the audited selections' groups, of cases that have some."""
    rows = run.groups[is_audited(run.groups)].reindex(columns=[*CASE, "group", *SHARES])
    return rows.drop_duplicates([*CASE, "group"]).dropna()


def _paired_groups(old: Run, new: Run) -> pd.DataFrame:
    return _paired_rows([true_shares(run) for run in (old, new)], [*CASE, "group"], SHARES)


def _paired_rows(rows: Sequence[pd.DataFrame], keys: list[str], values: list[str]) -> pd.DataFrame:
    left, right = (one.astype(dict.fromkeys(values, float)) for one in rows)
    return left.merge(right, on=keys, suffixes=("_old", "_new"))


def _margin_towards_zero(both: pd.DataFrame, sign: FloatArray, name: str) -> FloatArray:
    """What a difference (n,) of two values may be off by towards 0; sign: its own."""
    halves = [_half_width(both, f"{name}{{}}_new", sign), _half_width(both, f"{name}{{}}_old", -sign)]
    found: FloatArray = np.hypot(*halves)
    return found


def _half_width(rows: pd.DataFrame, name: str, sign: FloatArray) -> FloatArray:
    """How far (n,) values may be too large where the sign is 1, and too small where it is -1."""
    value, low, high = (rows[name.format(end)].to_numpy(float) for end in ("", "_low", "_high"))
    found: FloatArray = np.maximum(np.where(sign > 0, value - low, high - value), 0.0)
    return found


def _largest_gaps(both: pd.DataFrame, side: str) -> pd.DataFrame:
    """The largest gap of each case on one side, and what it may be off by: too large in the new run, too small in the
    old one."""
    gap = both[f"gap_{side}"].to_numpy(float)
    sign = np.where(gap >= 0, 1.0, -1.0) * (1.0 if side == "new" else -1.0)
    found = both.assign(
        **{f"gap_corrected_{side}": np.abs(gap), f"off_{side}": _half_width(both, f"share_corrected{{}}_{side}", sign)}
    )
    order = found.sort_values(f"gap_corrected_{side}", ascending=False, kind="stable").drop_duplicates(CASE)
    named = order.rename(columns={"group": f"worst_group_corrected_{side}"})
    return named[[*CASE, f"worst_group_corrected_{side}", f"gap_corrected_{side}", f"off_{side}"]]


def _uncancelled_part(rows: pd.DataFrame, unlike: Predicted, exchanged: pd.DataFrame) -> FloatArray:
    """The part (n,) of errors that does not cancel."""
    items = rows[QUESTION].merge(exchanged[[*QUESTION, "items_changed"]], on=QUESTION, how="left")["items_changed"]
    part = np.sqrt(np.minimum(items.to_numpy(float) / rows["k"].to_numpy(float), 1.0))
    found: FloatArray = np.where(unlike.marks(rows), 1.0, part)
    return found
