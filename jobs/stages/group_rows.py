"""Shares of every named group among the items of selections, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mprlib import Selection
from mprlib.arrays import FloatArray, IntArray, sums_by_row
from mprlib.attention import Attention
from mprlib.cells import cells_of
from mprlib.chance import Chance, chance_of, gap_p_values
from mprlib.function_classes.groups import Groups, GroupsOracle

from ..store.schema import GROUPS
from .case import Case
from .corrected import GROUP_COLUMNS, chosen_by, corrected_columns
from .first_shown import FIRST, equal, exposure_curve, first_shown
from .row_values import number

if TYPE_CHECKING:
    from .solve import Solve

# Columns of shares that follow from the items and their order.
SHOWN = ("share_selected", *(f"share_first_{count}" for count in FIRST), "exposure")
# And those of how likely that is by chance.
BY_CHANCE = ("p_chance", "p_largest")


def group_rows(unit: Solve, case: Case, selections: Sequence[Selection]) -> pa.Table:
    """Shares of every named group in each selection, in the columns of `schema.GROUPS`; none where there is no
    selection."""
    shown = [one for one in selections if one.items.size]
    if not shown:
        return GROUPS.empty_table()
    named = Groups(max_attributes=unit.group_attributes)
    oracle, chance = named.bind(case.problem), chance_of(case.problem, named)
    assert chance is not None
    columns = {
        **_repeated(unit, case, shown, len(oracle.names)),
        "group": pa.DictionaryArray.from_arrays(_each(len(shown), np.arange(len(oracle.names))), list(oracle.names)),
        "attributes": _each(len(shown), np.array(oracle.attribute_counts)),
        **_shares(case, oracle, chance, shown, exposure_curve(unit.attention)),
        **_corrected(case, oracle, named, shown, unit.method.name),
    }
    rows = len(shown) * len(oracle.names)
    return pa.table([_column(columns.get(field.name), field.type, rows) for field in GROUPS], schema=GROUPS)


def _column(values: Any, kind: pa.DataType, rows: int) -> pa.Array:
    if values is None:
        return pa.nulls(rows, kind)
    return (values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)).cast(kind)


def _each(times: int, values: IntArray) -> IntArray:
    """The values of all groups, once for each selection."""
    return np.tile(values, times)


def _repeated(unit: Solve, case: Case, shown: Sequence[Selection], groups: int) -> dict[str, Any]:
    """What is the same for all groups of a selection."""
    rows = len(shown) * groups
    same = {
        "dataset": unit.dataset,
        "reference": unit.reference.name,
        "query": unit.query,
        "k": case.problem.k,
        "method": unit.method.display,
        "target_class": unit.target.display if unit.target else None,
    }
    values = pa.array([number(one.value) for one in shown], pa.float64())
    return {name: pa.repeat(pa.scalar(value, GROUPS.field(name).type), rows) for name, value in same.items()} | {
        "parameter_value": values.take(pa.array(np.repeat(np.arange(len(shown)), groups)))
    }


def _shares(
    case: Case, oracle: GroupsOracle, chance: Chance, shown: Sequence[Selection], curve: Attention
) -> dict[str, FloatArray]:
    """Shares of the groups and how likely they are by chance, selection by selection."""
    columns: dict[str, FloatArray]
    cells, expected = cells_of(case.problem), oracle.totals(oracle.cells.reference_shares)
    sizes = np.array([one.items.size for one in shown])
    columns = {name: np.empty((len(shown), expected.size)) for name in (*SHOWN, *BY_CHANCE)}
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        cell = cells.pool_cell[np.array([shown[place].items for place in own.tolist()])]
        selected = oracle.totals(sums_by_row(cell, equal(size), cells.size))
        by_chance = _by_chance(selected, expected, size, chance)
        for name, values in {"share_selected": selected, **by_chance, **first_shown(oracle, cell, curve)}.items():
            columns[name][own] = values
    shape = len(shown), expected.size
    columns |= {
        "share_reference": np.broadcast_to(expected, shape),
        "largest_gap_chance": np.full(shape, chance.level),
    }
    return {name: values.ravel() for name, values in columns.items()}


def _by_chance(selected: FloatArray, expected: FloatArray, size: int, chance: Chance) -> dict[str, FloatArray]:
    """How likely the gaps of shares (B, groups) of sets of that size from the reference's (groups,) are by chance."""
    # A sweep shows a group as often again and again.
    shown = np.rint(selected * size).astype(np.int64) * expected.size + np.arange(expected.size)
    _, first, place = np.unique(shown, return_index=True, return_inverse=True)
    own, reference = selected.ravel()[first], expected[first % expected.size]
    found = gap_p_values(own, reference, size), chance.p_values(np.abs(own - reference))
    return {name: values[place].reshape(selected.shape) for name, values in zip(BY_CHANCE, found)}


def _corrected(
    case: Case, oracle: GroupsOracle, named: Groups, shown: Sequence[Selection], method: str
) -> dict[str, pa.ChunkedArray]:
    """The same by the true labels, where something is known of errors."""
    if case.problem.label_error is None:
        return {}
    found = list(_corrected_columns(case, oracle, named, shown, method))
    if not any(found):
        return {}
    nothing = pa.nulls(len(oracle.names), pa.float64())
    return {name: pa.chunked_array([one.get(name, nothing) for one in found]) for name in GROUP_COLUMNS}


def _corrected_columns(
    case: Case, oracle: GroupsOracle, named: Groups, shown: Sequence[Selection], method: str
) -> Iterator[dict[str, pa.Array]]:
    """Of each selection; neighbours of a sweep are often the same set."""
    most = named.max_attributes
    for one in shown:
        items = one.items

        def build(items: IntArray = items) -> dict[str, pa.Array]:
            return corrected_columns(case, oracle.names, most, items, method)

        yield case.problem.cached(("groups", chosen_by(method), np.sort(items).tobytes(), named), build)
