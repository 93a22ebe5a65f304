"""Two systems side by side, paired by query: gaps, MPR, similarity where it compares, precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mprlib.arrays import FloatArray
from mprlib.statistics import Difference, paired_difference

from ...errors import UsageError
from .comparable import Comparable, comparable
from .sides import Side

# Confidence of the intervals, and one less the level of their tests.
CONFIDENCE = 0.95
# Closer than this, two values of one query are a tie: gaps are printed to a tenth of a point.
TIE = 0.0005
# Measures, with whether a smaller value is better.
GAP, MPR, SIMILARITY, PRECISION = "largest_gap", "mpr", "similarity", "precision"
IS_LESS_BETTER = {GAP: True, MPR: True, SIMILARITY: False, PRECISION: False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One measure over all queries that have it on both sides: B's minus A's.

    wins: cases in which a side has the better value; cases left over are ties. queries: how many the cases are of.
    """

    name: str
    function_class: str | None
    mean_a: float
    mean_b: float
    difference: Difference
    wins_a: int
    wins_b: int
    queries: int

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the difference is more than its test allows by luck."""
        return self.difference.p_value <= 1.0 - CONFIDENCE

    @property
    def better(self) -> str | None:
        """The side that is better beyond chance."""
        if not self.is_beyond_chance:
            return None
        return "b" if (self.difference.mean < 0) == IS_LESS_BETTER[self.name] else "a"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Systems:
    """queries: one row per case that both sides hold, the largest differences of gaps first. remarks: sentences."""

    queries: pd.DataFrame
    groups: pd.DataFrame
    measures: tuple[Measure, ...]
    method_a: str
    method_b: str
    remarks: tuple[str, ...]


def compare_systems(a: Side, b: Side, *, minimum_share: float) -> Systems:
    """The comparison of two sides.

    Raises:  UsageError, one sentence, for sides that share no query or whose references differ.
    """
    shared = comparable(a, b)
    gaps = _largest_gaps(shared, minimum_share)
    if gaps.empty:
        raise UsageError("the systems share no query with group shares: nothing to compare")
    queries = gaps
    for name, values in shared.values.items():
        queries = queries.merge(values, on=shared.keys, how="left")
        queries[f"{name}_difference"] = queries[f"{name}_b"] - queries[f"{name}_a"]
    queries[f"{GAP}_difference"] = queries[f"{GAP}_b"] - queries[f"{GAP}_a"]
    order = queries.assign(_size=queries[f"{GAP}_difference"].abs()).sort_values(
        ["_size", *shared.keys], ascending=[False, *[True] * len(shared.keys)], kind="stable"
    )
    queries = order.drop(columns="_size").reset_index(drop=True)
    overlap = shared.overlap(queries)
    names = [GAP, *shared.values]
    found = [_measure(queries, overlap, name, shared.function_class if name == MPR else None) for name in names]
    return Systems(
        queries=queries,
        groups=_group_means(shared, minimum_share),
        measures=tuple(one for one in found if one is not None),
        method_a=a.method,
        method_b=b.method,
        remarks=shared.remarks,
    )


def _measure(queries: pd.DataFrame, overlap: FloatArray, name: str, function_class: str | None) -> Measure | None:
    """One measure; None where no query has it on both sides."""
    difference = queries[f"{name}_difference"].astype(float)
    known = difference.notna().to_numpy()
    if not known.any():
        return None
    rows = queries[known]
    sign = -1.0 if IS_LESS_BETTER[name] else 1.0
    better = sign * difference[known]
    tie = TIE if name in (GAP, PRECISION) else 0.0
    return Measure(
        name=name,
        function_class=function_class,
        mean_a=float(rows[f"{name}_a"].mean()),
        mean_b=float(rows[f"{name}_b"].mean()),
        difference=paired_difference(
            difference[known].to_numpy(), overlap[np.ix_(known, known)], confidence=CONFIDENCE
        ),
        wins_a=int((better < -tie).sum()),
        wins_b=int((better > tie).sum()),
        queries=rows["query"].nunique(),
    )


def _largest_gaps(shared: Comparable, minimum_share: float) -> pd.DataFrame:
    """Each case's largest gap and its group on both sides, as shares without sign."""
    sides = []
    for side in ("a", "b"):
        rows = shared.shares[shared.shares["share_reference"] >= minimum_share]
        signed = rows[f"share_selected_{side}"] - rows["share_reference"]
        rows = rows.assign(_signed=signed, _size=signed.abs().round(9))
        worst = rows.sort_values(["_size", "attributes", "group"], ascending=[False, True, True], kind="stable")
        worst = worst.drop_duplicates(shared.keys)
        named = {"group": f"worst_group_{side}", "_size": f"{GAP}_{side}", "_signed": f"signed_gap_{side}"}
        sides.append(worst.rename(columns=named)[[*shared.keys, *named.values()]])
    return sides[0].merge(sides[1], on=shared.keys)


def _group_means(shared: Comparable, minimum_share: float) -> pd.DataFrame:
    """Each group's mean share on both sides and in the reference, the largest mean difference first."""
    rows = shared.shares[shared.shares["share_reference"] >= minimum_share]
    columns = ["share_selected_a", "share_selected_b", "share_reference"]
    table = rows.groupby(["group", "attributes"])[columns].mean().reset_index()
    table["difference"] = table["share_selected_b"] - table["share_selected_a"]
    order = table.assign(_size=table["difference"].abs()).sort_values(["_size", "group"], ascending=[False, True])
    return order.drop(columns="_size").reset_index(drop=True)
