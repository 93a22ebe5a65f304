"""Rows of selections that an earlier unit made: what they say stays, and only classes that are new are measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mprlib import Selection
from mprlib.selection import Status

from ..store import Store, committed_receipt
from .case import Case
from .result_rows import CHOSEN, RESULTS, result_rows

if TYPE_CHECKING:
    from .solve import Solve


def earlier_rows(unit: Solve, store: Store, table: str) -> list[dict[str, Any]] | None:
    """The rows of the earlier unit; None where it is not there, or not whole."""
    if unit.earlier is None or committed_receipt(store, unit.stage, unit.earlier) is None:
        return None
    try:
        found = store.read_table(unit.file(unit.earlier, table))
    except (OSError, pa.ArrowException):
        return None
    return found.to_pylist() if found.schema.names == RESULTS.names else None


def with_classes(unit: Solve, case: Case, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The earlier rows under the unit's classes, in their order; classes that are new are measured."""
    found: list[dict[str, Any]] = []
    for _, group in groupby(rows, key=lambda row: row["parameter_value"]):
        own = list(group)
        known = {row["function_class"]: row for row in own}
        new = tuple(entry for entry in unit.function_classes if entry.display not in known)
        made = {row["function_class"]: row for row in _measured(unit, case, own[0], new)} if new else {}
        found += [(known | made)[entry.display] for entry in unit.function_classes]
    return found


def _measured(unit: Solve, case: Case, chosen: dict[str, Any], classes: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Rows of a selection under these classes; what does not depend on the class is as it was."""
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
    for row in result_rows(unit, case, selection, "", classes):
        yield row | {name: chosen[name] for name in CHOSEN}
