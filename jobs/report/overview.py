"""The drawing at the top of the page: the distribution of MPR over queries.

The geometry is computed here, the template only writes it: positions are in the drawing's own units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.cases import AS_SHOWN, CASE, registered
from ..analysis.frames import records
from ..analysis.wording import is_missing, number

# Units of the drawing; the page scales it to the column's width.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900.0, 300.0, 44.0, 16.0, 14.0, 40.0
TICKS = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """One query's MPR; positions, and an interval where there is one."""

    value: float
    x: float
    y: float
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """MPR over queries, sorted, under one class: before and after the repair. audited: what was there before. chance:
    how far a lottery comes, as a position and in words; None and "no value" where that is not known."""

    function_class: str
    audited: str
    top_k: tuple[Mark, ...]
    repaired: tuple[Mark, ...]
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[tuple[str, str, str, str, str], ...]
    has_intervals: bool
    chance: float | None
    chance_value: str


def distribution(
    top: pd.DataFrame, repaired: pd.DataFrame, results: pd.DataFrame, labels: Mapping[tuple[Any, ...], str]
) -> Distribution | None:
    """The drawing's geometry, or None where no query has an MPR.

    top and repaired hold one row per case; the class is the one that most cases are measured under,
    since values under two classes do not share an axis. labels: names of cases.
    """
    known = top.dropna(subset=["mpr"])
    if known.empty:
        return None
    name = known["function_class"].value_counts(sort=True).index[0]
    before = known[known["function_class"] == name]
    keys = [*CASE, "method", "parameter_value", "target_class"]
    after = results[results["function_class"] == name].merge(
        repaired[keys].astype({"parameter_value": float}), on=keys, how="inner"
    )
    after = after.drop_duplicates(CASE).dropna(subset=["mpr"])
    audited = "as shown" if (before["method"].map(registered) == AS_SHOWN).any() else "top-k"
    largest = max(_largest(before), _largest(after), 1e-12)
    # Levels differ between queries by their pools alone.
    level = None if before["mpr_chance"].isna().all() else float(before["mpr_chance"].astype(float).median())
    step = _tick_step(largest)
    end = step * np.ceil(largest / step - 1e-9)
    return Distribution(
        function_class=name,
        audited=audited,
        top_k=_marks(before, end, labels),
        repaired=_marks(after, end, labels),
        ticks=tuple((_x_position(value, end), f"{value:.6g}") for value in np.arange(0, end + step / 2, step)),
        rows=tuple(_row(label, rows) for label, rows in ((audited, before), ("repaired", after)) if not rows.empty),
        has_intervals=bool(before["mpr_low"].notna().any()),
        chance=None if level is None else _x_position(min(level, end), end),
        chance_value=number(level),
    )


def _largest(rows: pd.DataFrame) -> float:
    return float(np.nanmax([0.0, *rows["mpr"].astype(float), *rows["mpr_high"].astype(float)]))


def _tick_step(largest: float) -> float:
    """A round distance of ticks: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(largest / TICKS))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= largest / TICKS))


def _x_position(value: float, end: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * float(value) / float(end), 1)


def _marks(rows: pd.DataFrame, end: float, labels: Mapping[tuple[Any, ...], str]) -> tuple[Mark, ...]:
    """Sorted by value, spread evenly over the height: the curve of the distribution function."""
    rows = rows.sort_values(["mpr", *CASE], kind="stable")
    height = HEIGHT - TOP - BOTTOM
    return tuple(
        Mark(
            value=float(row["mpr"]),
            x=_x_position(row["mpr"], end),
            y=round(HEIGHT - BOTTOM - height * (place + 0.5) / len(rows), 1),
            low=None if is_missing(row["mpr_low"]) else _x_position(row["mpr_low"], end),
            high=None if is_missing(row["mpr_high"]) else _x_position(row["mpr_high"], end),
            title=f"{labels[tuple(row[key] for key in CASE)]}: MPR {number(row['mpr'])}",
        )
        for place, row in enumerate(records(rows))
    )


def _row(label: str, rows: pd.DataFrame) -> tuple[str, str, str, str, str]:
    values = rows["mpr"].astype(float)
    return label, str(len(rows)), number(values.min()), number(values.median()), number(values.max())
