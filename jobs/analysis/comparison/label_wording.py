"""Sentences of a comparison on predicted labels: beside the numbers that come from them, and at its beginning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..cases import QUESTION
from ..wording import is_missing, number, percent

if TYPE_CHECKING:
    from .compare import Comparison


def predicted_clause(found: Comparison) -> str:
    """What the summary adds of queries that are worse off by predicted labels alone."""
    rows = found.cases[found.cases["may_be_labels"].astype(bool)]
    count = len(rows.drop_duplicates(QUESTION))
    if not count:
        return ""
    return f"; {count} {'is' if count == 1 else 'are'} so by predicted labels, which errors of the labels may explain"


def label_notes(found: Comparison) -> Iterator[str]:
    """Whose labels are another labeller's, what follows, and what counts where labels are predicted."""
    yield from found.labels.said
    differ, predicted = found.cases["do_labels_differ"].astype(bool), found.cases["is_predicted"].astype(bool)
    is_known = found.cases["gap_corrected_rise"].notna() | found.cases["mpr_corrected_rise"].notna()
    if (differ & is_known).any():
        yield (
            "by how much predicted labels differ is then not the engine's: what counts are shares and MPR by the true "
            "labels, and changes beyond the intervals of both"
        )
    are_items = found.cases["dataset"].isin(found.labels.changed.datasets)
    if (differ & ~is_known & ~are_items).any():
        yield (
            "where the labels of a reference alone are another labeller's, largest gaps are compared from the mean of "
            "both references, and MPR is not"
        )
    if (differ & ~is_known & are_items).any():
        yield (
            "by how much predicted labels differ is then not the engine's, and values by the true labels are not known "
            "in both runs: nothing counts as moved or worse; say the same of the labels in OLD and run it again"
        )
    if (found.labels.unlike.marks(found.cases) & ~differ).any():
        yield (
            "where only what is known of the errors differs, the labels are the same, and queries move by their items; "
            "values by the true labels differ by what is known, too"
        )
    if (predicted & ~differ).any():
        follows = ": a query is worse off where it is by the true labels too, beyond their errors"
        yield "labels are predicted, by the same labeller in both runs" + (follows if is_known.any() else "")


def share_clause(row: Mapping[str, Any]) -> str:
    """A group's shares by the true labels, before and now."""
    if not row.get("is_predicted"):
        return ""
    if any(is_missing(row.get(f"share_corrected_{side}")) for side in ("old", "new")):
        return ", by predicted labels"
    before, now = (
        f"{percent(row[f'share_corrected_{side}'])} ({percent(row[f'share_corrected_low_{side}'])} to "
        f"{percent(row[f'share_corrected_high_{side}'])})"
        for side in ("old", "new")
    )
    return f", by predicted labels; by the true ones {before} before, {now} now"


def gap_clause(row: Mapping[str, Any]) -> str:
    """A case's largest gap and MPR by the true labels, before and now."""
    if not row.get("is_predicted"):
        return ""
    said = []
    if not is_missing(row.get("gap_corrected_rise")):
        before, now, margin = (100 * row[f"gap_corrected_{name}"] for name in ("old", "new", "margin"))
        said.append(f"largest gap {before:.1f} points before, {now:.1f} now, \u00b1 {margin:.1f}")
    if not is_missing(row.get("mpr_corrected_rise")):
        before, now, margin = (number(row[f"mpr_corrected_{name}"]) for name in ("old", "new", "margin"))
        said.append(f"MPR under {row['mpr_corrected_class']} {before} before, {now} now, \u00b1 {margin}")
    return ", by predicted labels" + (f"; by the true ones {'; '.join(said)}" if said else "")
