"""Every named group of a selection: its shares, the gap with an interval, and how likely chance shows as much."""

from __future__ import annotations

from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.chance import chance_of, gap_p_values
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.groups import Groups, GroupsOracle
from mprlib.intervals import share_limits
from mprlib.problem import Problem

CONFIDENCE = 0.95


def group_table(problem: Problem, items: IntArray, function_class: FunctionClass) -> dict[str, Any]:
    """Columns of a table with one row for each group, the largest gap first.

    group, attributes (how many it intersects), selected (how many items), share_selected (of the attention, where
    places do not count alike), share_reference, gap (the difference), gap_low and gap_high (the reference's sampling
    error, 95%; the gap itself where shares were stated), p_value (of the group's own gap), p_largest (of any group's).

    Groups are those of the class `groups`; for others, levels and intersections of two attributes.
    Raises:  InputError where labels are no levels.
    """
    named = function_class if isinstance(function_class, Groups) else Groups()
    oracle = named.bind(problem)
    selected, expected = oracle.shares_of(problem, items)
    gap = selected - expected
    low, high = _expected_limits(problem, expected)
    counts = np.array(oracle.attribute_counts)
    order = np.lexsort((np.arange(gap.size), counts, -np.abs(gap).round(12)))
    columns: dict[str, Any] = {
        "group": np.array(oracle.names, dtype=object),
        "attributes": counts,
        "selected": _members(oracle, items),
        "share_selected": selected,
        "share_reference": expected,
        "gap": gap,
        "gap_low": selected - high,
        "gap_high": selected - low,
        "p_value": _p_values(problem, selected, expected, len(items)),
        "p_largest": _of_largest(problem, named, np.abs(gap) * (2.0 if named.signed else 1.0)),
    }
    return {name: values[order].tolist() for name, values in columns.items()}


def _members(oracle: GroupsOracle, items: IntArray) -> IntArray:
    """How many of the items (groups,) each group has."""
    counts = np.bincount(oracle.cells.pool_cell[items], minlength=oracle.cells.size)
    return np.rint(oracle.totals(counts.astype(float))).astype(np.int64)


def _p_values(problem: Problem, selected: FloatArray, expected: FloatArray, k: int) -> FloatArray:
    """Of each group's own gap; not known where places do not count alike."""
    if problem.place_weights is not None:
        return np.full(selected.size, np.nan)
    return gap_p_values(selected, expected, k)


def _expected_limits(problem: Problem, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    population = problem.population
    if not population.is_sample:
        return expected, expected
    # Sums of shares may pass 1 by rounding.
    return share_limits(np.clip(expected, 0.0, 1.0), population.effective_size, CONFIDENCE)


def _of_largest(problem: Problem, named: Groups, gaps: FloatArray) -> FloatArray:
    chance = chance_of(problem, named)
    assert chance is not None
    # Groups of the same gap are as likely: a few sizes of a gap among many groups.
    distinct, place = np.unique(gaps, return_inverse=True)
    return np.array([chance.p_value(gap) for gap in distinct.tolist()])[place]
