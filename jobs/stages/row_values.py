"""A result row before it is a row: a selection under one class, and what columns take of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mprlib import Measurement, Selection, metrics
from mprlib.arrays import FloatArray
from mprlib.assumptions import assumption
from mprlib.attention import UNIFORM
from mprlib.label_errors import Corrected
from mprlib.statistics import Interval

from ..config.entries import ClassEntry
from .case import Case

if TYPE_CHECKING:
    from .solve import Solve


class Seen(NamedTuple):
    """What one view shows of a selection, all None where there is none: measured, with the p value of that and the
    95% point of chance, its interval where the reference is a sample, and by the true labels where something is known
    of errors."""

    measured: Measurement | None = None
    p_value: float | None = None
    chance_level: float | None = None
    interval: Interval | None = None
    corrected: Corrected | None = None


class Row(NamedTuple):
    """A selection under one function class. top_k: the k most similar items, measured. remark: on the values.
    attention: the name of that under which the row measures.
    in_order: what the order of its items shows, whatever the class; None where there is no selection."""

    unit: Solve
    case: Case
    selection: Selection
    remark: str
    entry: ClassEntry
    attention: str
    top_k: Measurement
    seen: Seen
    in_order: metrics.WorstAttribute | None


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def message(row: Row) -> str:
    weak = "" if row.seen.corrected is None else row.seen.corrected.remark
    parts = dict.fromkeys((row.selection.message, row.remark, assumption(row.case.problem), weak))
    return "; ".join(part for part in parts if part)


def of_gains(value: Callable[[FloatArray, FloatArray], Any]) -> Callable[[Row], Any]:
    """A measure of the gains (k,) of the items, in order, and of the pool's (n,); null where none are known."""

    def measure(row: Row) -> Any:
        gains, items = row.case.gains, row.selection.items
        return None if gains is None or not items.size else value(gains[items], gains)

    return measure


def of_measured(value: Callable[[Measurement], Any]) -> Callable[[Row], Any]:
    return lambda row: None if row.seen.measured is None else value(row.seen.measured)


def of_corrected(value: Callable[[Corrected], float | None]) -> Callable[[Row], Any]:
    return lambda row: None if row.seen.corrected is None else value(row.seen.corrected)


def of_order(value: Callable[[metrics.WorstAttribute], float]) -> Callable[[Row], Any]:
    return lambda row: None if row.in_order is None else value(row.in_order)


def similarity_of_items(row: Row) -> float | None:
    """Of all items alike, whichever weights their places had in choosing them."""
    items = row.selection.items
    if row.unit.target_attention in (None, UNIFORM.name) or not items.size:
        return row.selection.similarity
    return float(np.mean(row.case.problem.scores[row.case.problem.ranked(items)]))
