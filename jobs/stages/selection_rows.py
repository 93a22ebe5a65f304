"""Rows of selections, in the columns of `result_rows`: each is looked at under every attention and class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mprlib import Selection, registry
from mprlib.arrays import IntArray
from mprlib.attention import UNIFORM
from mprlib.measurement import p_values

from ..config.entries import ClassEntry
from .case import Case
from .corrected import corrected_of
from .result_rows import COLUMNS, COLUMNS_CHOSEN, COLUMNS_OF_THE_UNIT, OTHER_COLUMNS, Column, View
from .row_values import Row, Seen

if TYPE_CHECKING:
    from .solve import Solve

NAMES = dict.fromkeys(column.name for column in COLUMNS)


def selection_rows(
    unit: Solve, case: Case, selections: Sequence[Selection], remark: str, views: Sequence[View]
) -> Iterator[dict[str, Any]]:
    """One row a selection, attention and function class; nothing is dropped, whatever the status."""
    shown = [one.items for one in selections if one.items.size]
    orders, seen = iter(case.in_order(shown)), [iter(_seen(unit, case, shown, *view)) for view in views]
    top_k = [case.measure(entry, case.top_k, attention) for attention, entry in views]
    same: dict[str, Any] = {}
    for selection in selections:
        in_order, chosen = next(orders) if selection.items.size else None, NAMES
        for (attention, entry), most_similar, own in zip(views, top_k, seen):
            row = Row(
                unit=unit,
                case=case,
                selection=selection,
                remark=remark,
                entry=entry,
                attention=attention,
                top_k=most_similar,
                seen=next(own) if selection.items.size else Seen(),
                in_order=in_order,
            )
            same = same or _values(row, COLUMNS_OF_THE_UNIT)
            chosen = {**NAMES, **same, **_values(row, COLUMNS_CHOSEN)} if chosen is NAMES else chosen
            yield {**chosen, **_values(row, OTHER_COLUMNS)}


def _values(row: Row, columns: Sequence[Column]) -> dict[str, Any]:
    return {column.name: column.value(row) for column in columns}


def _seen(unit: Solve, case: Case, selections: Sequence[IntArray], attention: str, entry: ClassEntry) -> Iterator[Seen]:
    """What a view shows of each selection."""
    measured = case.measure_each(entry, selections, attention)
    is_fitted = registry.METHODS[unit.method.name].reads_reference
    intervals = case.intervals(entry, selections, attention, is_fitted=is_fitted)
    for items, found, p_value, interval in zip(selections, measured, p_values(measured), intervals):
        # What is known of label errors is known of a set, whose places count alike.
        is_set = attention == UNIFORM.name
        corrected = corrected_of(case, entry, items, unit.method.name) if is_set else None
        yield Seen(measured=found, p_value=p_value, interval=interval, corrected=corrected)
