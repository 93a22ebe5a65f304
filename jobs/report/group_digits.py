"""The shares of a case's named groups, of each selection of its curves, as digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mprlib.arrays import FloatArray, IntArray

from ..analysis.tables import places_by_case
from ..stages.first_shown import FIRST
from .packed import digits, digits_for, rounded, rounded_values

# Shares that are no multiples of 1/k are kept to this fraction of 1: three digits, 0.0004 points.
FINEST_SHARE = 64**3 - 1
# Shares of attention are kept to this fraction of 1: two digits, 0.02 points.
EXPOSURE_UNIT = 64**2 - 1
# Columns of shares by the true labels, and the parts of 1 in which they are shown.
CORRECTED = ("share_corrected", "share_corrected_low", "share_corrected_high")
OF_REFERENCE_CORRECTED = "share_reference_corrected"
CORRECTED_UNIT = 1_000
# Above this deviation from a whole number, k * share is no count of items.
COUNT_TOLERANCE = 1e-6
# Columns of the groups that a block is made of.
OF_GROUPS = [
    "attributes", "share_reference", "share_selected", "largest_gap_chance",
    *(f"share_first_{first}" for first in FIRST), "exposure", *CORRECTED, OF_REFERENCE_CORRECTED,
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Shares:
    """A case's rows of groups: numbers by column, the selection of each, as in the curves, and its group, a position in
    `names`."""

    rows: Mapping[str, FloatArray]
    selection: IntArray
    group: IntArray
    names: list[str]


def shares_by_case(groups: pd.DataFrame, selection: IntArray) -> dict[tuple[Any, ...], Shares]:
    """The rows of groups by case. selection: each row's, as in the curves."""
    of_all, names = pd.factorize(groups["group"])
    columns = {name: groups[name].to_numpy(dtype=float) for name in OF_GROUPS if name in groups}
    found = {}
    for case, places in places_by_case(groups):
        own, distinct = pd.factorize(of_all[places])
        found[case] = Shares(
            rows={name: values[places] for name, values in columns.items()},
            selection=selection[places],
            group=own,
            names=[str(names[one]) for one in distinct.tolist()],
        )
    return found


def group_digits(shares: Shares | None, selections: list[int], k: int) -> tuple[dict[str, Any], list[str]]:
    """Shares of the named groups: the reference's once, each selection's as digits, "" where unknown; and the groups.

    selections: those of the case's points, in their order.
    """
    if shares is None:
        empty = {"attributes": [], "reference_shares": [], "unit": 1, "group_width": 1, "chance_gap": None}
        return empty | {"shares": [""] * len(selections), "first": {}, "exposure": []}, []
    place = np.full(int(max(*selections, shares.selection.max())) + 1, -1)
    place[selections] = np.arange(len(selections))
    places = place[shares.selection]
    is_here, shape = places >= 0, (len(selections), len(shares.names))

    def of_all(name: str) -> FloatArray:
        values = np.full(shape, np.nan)
        if name in shares.rows:
            values[places[is_here], shares.group[is_here]] = shares.rows[name][is_here]
        return values

    values = of_all("share_selected")
    counts = values[~np.isnan(values).any(axis=1)] * k
    unit = k if np.all(np.abs(counts - np.rint(counts)) < COUNT_TOLERANCE) else FINEST_SHARE
    known = np.unique(shares.group, return_index=True)[1]
    return {
        "attributes": shares.rows["attributes"][known].astype(int).tolist(),
        "reference_shares": rounded_values(shares.rows["share_reference"][known].tolist()),
        "unit": unit,
        "group_width": digits_for(unit),
        "shares": _share_digits(values, unit),
        "first": {str(first): _share_digits(of_all(f"share_first_{first}"), min(first, k)) for first in FIRST},
        "exposure": _share_digits(of_all("exposure"), EXPOSURE_UNIT),
        "exposure_unit": EXPOSURE_UNIT,
        **_corrected_digits(shares.rows, known, of_all),
        "chance_gap": _chance_gap(shares.rows),
    }, shares.names


def _corrected_digits(
    rows: Mapping[str, FloatArray], known: IntArray, of_all: Callable[[str], FloatArray]
) -> dict[str, Any]:
    """Shares by the true labels with the ends of their intervals, as thousandths; nothing where labels are right.

    known: a row of each group.
    """
    shares, low, high = (of_all(name) for name in CORRECTED)
    if np.isnan(shares).all():
        return {}
    return {
        "corrected": [_share_digits(values, CORRECTED_UNIT) for values in (shares, low, high)],
        "corrected_width": digits_for(CORRECTED_UNIT),
        "corrected_unit": CORRECTED_UNIT,
        "corrected_reference": rounded_values(rows[OF_REFERENCE_CORRECTED][known].tolist()),
    }


def _chance_gap(rows: Mapping[str, FloatArray]) -> float | None:
    """The share within which the largest gap of 95% of lotteries stays."""
    values = rows.get("largest_gap_chance", np.empty(0))
    known = values[~np.isnan(values)]
    return rounded(known[0]) if known.size else None


def _share_digits(values: FloatArray, unit: int) -> list[str]:
    """Shares (selections, groups) as whole multiples of 1 / unit; "" for a selection that lacks one."""
    is_known = np.asarray(~np.isnan(values).any(axis=1), dtype=bool)
    width = digits_for(unit)
    packed = digits(np.rint(values[is_known] * unit).ravel(), width)
    length, found = width * values.shape[1], []
    for number, known in zip(np.cumsum(is_known).tolist(), is_known.tolist()):
        found.append(packed[length * (number - 1) : length * number] if known else "")
    return found
