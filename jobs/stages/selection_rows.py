"""Rows of selections, in the columns of `result_rows`: each is looked at under every attention and class.

A column that is the same in all rows of a unit, or of a selection, is found once and repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mprlib import Selection, registry
from mprlib.arrays import IntArray
from mprlib.attention import UNIFORM
from mprlib.measurement import p_values

from ..config.entries import ClassEntry
from .case import Case
from .corrected import corrected_of
from .result_rows import COLUMNS_CHOSEN, COLUMNS_OF_THE_UNIT, OTHER_COLUMNS, RESULTS, Column, View
from .row_values import Row, Seen

if TYPE_CHECKING:
    from .solve import Solve


def selection_rows(
    unit: Solve, case: Case, selections: Sequence[Selection], remark: str, views: Sequence[View]
) -> pa.Table:
    """One row a selection, attention and function class; nothing is dropped, whatever the status."""
    rows = list(_rows(unit, case, selections, remark, views))
    if not rows:
        return RESULTS.empty_table()
    found = {
        column.name: pa.repeat(pa.scalar(column.value(rows[0]), column.type), len(rows))
        for column in COLUMNS_OF_THE_UNIT
    }
    once = pa.table({column.name: _column(column, rows[:: len(views)]) for column in COLUMNS_CHOSEN})
    repeated = once.take(pa.array(np.repeat(np.arange(len(selections)), len(views))))
    found |= dict(zip(repeated.column_names, repeated.columns))
    found |= {column.name: _column(column, rows) for column in OTHER_COLUMNS}
    return pa.table([found[name] for name in RESULTS.names], schema=RESULTS)


def _column(column: Column, rows: Sequence[Row]) -> pa.Array:
    return pa.array(list(map(column.value, rows)), column.type)


def _rows(
    unit: Solve, case: Case, selections: Sequence[Selection], remark: str, views: Sequence[View]
) -> Iterator[Row]:
    """Of each selection, under each view."""
    shown = [one.items for one in selections if one.items.size]
    orders, seen = iter(case.in_order(shown)), [iter(_seen(unit, case, shown, *view)) for view in views]
    top_k = [case.measure(entry, case.top_k, attention) for attention, entry in views]
    for selection in selections:
        in_order = next(orders) if selection.items.size else None
        for (attention, entry), most_similar, own in zip(views, top_k, seen):
            yield Row(
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


def _seen(unit: Solve, case: Case, selections: Sequence[IntArray], attention: str, entry: ClassEntry) -> Iterator[Seen]:
    """What a view shows of each selection."""
    measured = case.measure_each(entry, selections, attention)
    is_fitted = registry.METHODS[unit.method.name].reads_reference
    intervals = case.intervals(entry, selections, attention, is_fitted=is_fitted)
    # The same for all: they are of one size.
    level = measured[0].chance_level if measured else None
    # What is known of label errors is known of a set, whose places count alike.
    is_corrected = attention == UNIFORM.name and case.view(entry).label_error is not None
    for items, found, p_value, interval in zip(selections, measured, p_values(measured), intervals):
        yield Seen(
            measured=found,
            p_value=p_value,
            chance_level=level,
            interval=interval,
            corrected=corrected_of(case, entry, items, unit.method.name) if is_corrected else None,
        )
