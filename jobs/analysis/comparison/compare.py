"""Two runs to one comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ...errors import UsageError
from ..cases import CASE, QUESTION, is_audited
from ..load import Run
from .labellers import SAME, Labellers, labellers
from .limits import LEVEL, THRESHOLD
from .movement import movement
from .pairing import groups_with
from .references import moved_by_reference
from .sameness import refusal, remarks
from .sizes import with_comparable_mpr
from .true_labels import SHARES, true_shares
from .verdicts import verdicts


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Comparison:
    """cases as `verdicts` returns them, groups as `movement` does with gaps added; sentences to the reader.

    only_old and only_new are (dataset, reference, query, k) that one run alone holds. changes: by data set, items
    before and now, and how many entered and left, where the folders tell; groups then have the columns due_to_items,
    due_to_scores and due_to_labels, shares that sum to the change; null where a labeller changed. labels: whose labels
    are predicted, and whose are another labeller's in the later run.
    """

    cases: pd.DataFrame
    groups: pd.DataFrame
    only_old: list[tuple[str, str, str, int]]
    only_new: list[tuple[str, str, str, int]]
    remarks: list[str]
    level: float
    threshold: float
    mpr_threshold: float
    labels: Labellers = SAME
    changes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def has_regression(self) -> bool:
        """Whether some case is worse off beyond threshold and chance."""
        return bool(self.cases["is_regression"].any())


def compare(
    old: Run, new: Run, *, threshold: float = THRESHOLD, mpr_threshold: float | None = None, level: float = LEVEL
) -> Comparison:
    """The comparison of two runs; mpr_threshold is `threshold` where it is not given.

    Raises:  UsageError, one sentence, for runs whose values do not compare or that share no query.
    """
    mpr_threshold = threshold if mpr_threshold is None else mpr_threshold
    labels = labellers(old, new)
    why = refusal(old, new, labels)
    if why is not None:
        raise UsageError(why)
    held = [set(run.results[CASE].itertuples(index=False, name=None)) for run in (old, new)]
    if not held[0] & held[1]:
        raise UsageError(_nothing_shared(*held))
    queries, groups = movement(old, new, level, labels.changed)
    cases = verdicts(
        *with_comparable_mpr(old, new), queries, threshold=threshold, mpr_threshold=mpr_threshold, labels=labels
    )
    return Comparison(
        cases=cases,
        groups=_with_gaps(groups, old, new, labels),
        only_old=sorted(held[0] - held[1]),
        only_new=sorted(held[1] - held[0]),
        remarks=[*_without_items(old, new, queries), *remarks(old, new, labels), *moved_by_reference(cases)],
        level=level,
        threshold=threshold,
        mpr_threshold=mpr_threshold,
        labels=labels,
    )


def _nothing_shared(old: set[tuple[str, str, str, int]], new: set[tuple[str, str, str, int]]) -> str:
    """Why there is nothing to compare: whole lists of another length are cases of another k."""
    before, after = ({case[:3]: case[3] for case in sorted(one)} for one in (old, new))
    shared = sorted(before.keys() & after.keys())
    if not shared:
        return "the runs share no query: nothing to compare"
    k, other = before[shared[0]], after[shared[0]]
    return (
        f"the runs share no query at one k ({shared[0][2]!r} has k = {k} in OLD and {other} in NEW): nothing to "
        f"compare; add a number to k beside all, such as {min(k, other)}, and run both again"
    )


def _with_gaps(groups: pd.DataFrame, old: Run, new: Run, labels: Labellers) -> pd.DataFrame:
    """Shares shown before and after, and the reference's, for each reference, also by the true labels where they are
    known; the largest change first."""
    shares = [
        run.groups[is_audited(run.groups)].drop_duplicates([*CASE, "group"])[
            [*CASE, "group", "share_selected", "share_reference"]
        ]
        for run in (old, new)
    ]
    both = (
        shares[0]
        .merge(shares[1], on=[*CASE, "group"], how="outer", suffixes=("_old", "_new"))
        .fillna({f"share_{what}_{side}": 0.0 for what in ("selected", "reference") for side in ("old", "new")})
    )
    table = groups.merge(both, on=[*QUESTION, "group"])
    for side, run in (("old", old), ("new", new)):
        named = {name: f"{name}_{side}" for name in SHARES}
        table = table.merge(true_shares(run).rename(columns=named), on=[*CASE, "group"], how="left")
    predicted = groups_with(old, new, labels.attributes)
    keys = zip(table["dataset"], table["group"])
    table["is_predicted"] = np.array([key in predicted for key in keys], dtype=bool)
    table["do_labels_differ"] = labels.changed.marks(table)
    order = table.assign(_size=table["change_share"].abs(), _follows=~table["is_found"].astype(bool))
    order = order.sort_values(["_follows", "_size", *CASE], ascending=[True, False, *[True] * 4], kind="stable")
    return order.drop(columns=["_size", "_follows"]).reset_index(drop=True)


def _without_items(old: Run, new: Run, queries: pd.DataFrame) -> list[str]:
    """Queries that both runs hold and one of them found nothing for."""
    asked = [set(run.results[QUESTION].itertuples(index=False, name=None)) for run in (old, new)]
    compared = set(queries[QUESTION].itertuples(index=False, name=None))
    return [
        f"{query!r} (k = {k}) is not compared: its top-k selection holds no items in OLD or NEW"
        for _, query, k in sorted((asked[0] & asked[1]) - compared)
    ]
