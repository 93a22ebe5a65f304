"""Shares of every named group among the items of a selection, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mprlib import Selection
from mprlib.cells import selection_weights
from mprlib.chance import chance_of, gap_p_values
from mprlib.function_classes.groups import Groups

from ..store.schema import GROUPS
from .case import Case
from .corrected import corrected_columns
from .first_shown import first_shown
from .row_values import number

if TYPE_CHECKING:
    from .solve import Solve


def group_rows(unit: Solve, case: Case, selection: Selection) -> pa.Table:
    """Shares of every named group, in the columns of `schema.GROUPS`; none where there is no selection."""
    if not selection.items.size:
        return GROUPS.empty_table()
    named = Groups(max_attributes=unit.group_attributes)
    of_groups = _group_columns(case, named, selection, unit.method.name)
    of_groups |= first_shown(case.problem, named, selection.items)
    same = {
        "dataset": unit.dataset,
        "reference": unit.reference.name,
        "query": unit.query,
        "k": case.problem.k,
        "method": unit.method.display,
        "parameter_value": number(selection.value),
        "target_class": unit.target.display if unit.target else None,
    }
    rows = len(of_groups["group"])
    return pa.Table.from_arrays(
        [
            of_groups.get(field.name, pa.repeat(pa.scalar(same.get(field.name), field.type), rows)).cast(field.type)
            for field in GROUPS
        ],
        schema=GROUPS,
    )


def _group_columns(case: Case, named: Groups, selection: Selection, method: str) -> dict[str, pa.Array]:
    """What a set of items shows of every named group; neighbours of a sweep are often the same set."""

    def build() -> dict[str, pa.Array]:
        oracle, chance = named.bind(case.problem), chance_of(case.problem, named)
        assert chance is not None
        selected, expected = oracle.shares(selection_weights(case.problem, selection.items))
        gaps = np.abs(selected - expected)
        # Groups of the same gap are as likely: a few sizes of a gap among many groups.
        distinct, place = np.unique(gaps, return_inverse=True)
        return {
            "group": pa.array(oracle.names),
            "attributes": pa.array(oracle.attribute_counts),
            "share_selected": pa.array(selected),
            "share_reference": pa.array(expected),
            "p_chance": pa.array(gap_p_values(selected, expected, selection.items.size)),
            "p_largest": pa.array(np.array([chance.p_value(gap) for gap in distinct.tolist()])[place]),
            "largest_gap_chance": pa.repeat(pa.scalar(chance.level), gaps.size),
            **corrected_columns(case, oracle.names, named.max_attributes, selection.items, method),
        }

    return case.problem.cached(("groups", np.sort(selection.items).tobytes(), named), build)
