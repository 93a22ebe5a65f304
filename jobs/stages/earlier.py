"""Rows of selections that an earlier unit made: what they say stays, and only what is new is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mprlib import Selection
from mprlib.selection import Status

from ..store import Store, committed_receipt
from ..store.schema import GROUPS
from .case import Case
from .label_errors import LabelErrors
from .result_rows import CHOSEN, RESULTS, View
from .selection_rows import selection_rows

if TYPE_CHECKING:
    from .solve import Solve


def earlier_tables(unit: Solve, store: Store, results: str, groups: str) -> tuple[pa.Table, pa.Table] | None:
    """The results and groups of the earlier unit, by their names; None where they are not there, or not whole, or have
    other columns."""
    # Where labels may be wrong, a row's message depends on its class.
    if unit.earlier is None or unit.label_errors != LabelErrors():
        return None
    if committed_receipt(store, unit.stage, unit.earlier) is None:
        return None
    try:
        found = [store.read_table(unit.file(unit.earlier, table)) for table in (results, groups)]
    except (OSError, pa.ArrowException):
        return None
    is_same = found[0].schema.names == RESULTS.names and found[1].schema.names == GROUPS.names
    return (found[0], found[1].cast(GROUPS)) if is_same else None


def with_views(unit: Solve, case: Case, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The earlier rows under the unit's attentions and classes, in their order; those that are new are measured."""
    found: list[dict[str, Any]] = []
    for _, group in groupby(rows, key=lambda row: row["parameter_value"]):
        own = list(group)
        known = {_view_of(row): row for row in own}
        new = [view for view in unit.views if _view_name(view) not in known]
        known |= {_view_of(row): row for row in _rows_under_views(unit, case, own[0], new)} if new else {}
        found += [known[_view_name(view)] for view in unit.views]
    return found


def _view_of(row: dict[str, Any]) -> tuple[str, str]:
    return row["attention"], row["function_class"]


def _view_name(view: View) -> tuple[str, str]:
    attention, entry = view
    return attention, entry.display


def _rows_under_views(
    unit: Solve, case: Case, chosen: dict[str, Any], views: Sequence[View]
) -> Iterator[dict[str, Any]]:
    """Rows of a selection under these; what does not depend on them is as it was."""
    place = {name: at for at, name in enumerate(case.ids_of(np.arange(case.problem.n)))}
    selection = Selection(
        items=np.array([place[item] for item in chosen["item_ids"]], dtype=np.int64),
        status=Status(chosen["status"]),
        method=unit.method.name,
        value=chosen["parameter_value"],
        similarity=chosen["similarity"],
        mpr=None,
        mpr_upper_bound=None,
    )
    for row in selection_rows(unit, case, [selection], "", views).to_pylist():
        yield row | {name: chosen[name] for name in CHOSEN}
