"""Columns to the levels of attributes, in reading order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from jobs.config.datasets import Attribute, Dataset
from jobs.datasets.columns import column, numbers, strings
from jobs.errors import UsageError

UNKNOWN = "unknown"


def attributes(
    block: Dataset, source: pa.Table, orders_of_columns: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]], np.ndarray]:
    """Each attribute's level a row, its levels in reading order, and which rows stay.

    Raises:  UsageError for a column that is missing or does not fit its setting, and an attribute with one value.
    """
    columns: dict[str, np.ndarray] = {}
    orders: dict[str, list[str]] = {}
    is_kept = np.ones(source.num_rows, dtype=bool)
    for name, attribute in block.attributes.items():
        if attribute.probe is not None:
            continue  # known once the items are embedded
        source_name = attribute.column or name
        usual = orders_of_columns.get(source_name, ())
        levels, order = _levels(block, attribute, source, source_name, f"attributes.{name}", usual)
        if block.missing == "drop":
            is_kept &= levels != UNKNOWN
        columns[name], orders[name] = levels, order
    found = {}
    for name, levels in columns.items():
        present = set(np.unique(levels[is_kept]).tolist())
        found[name] = tuple(level for level in orders[name] if level in present)
        if len(found[name]) < 2:
            only = f"has one value, {found[name][0]!r}" if found[name] else "has no value"
            raise UsageError(
                f"dataset {block.name}: attribute {name!r} {only}, in {block.path}: "
                "at least two are needed to compare shares"
            )
    return columns, found, is_kept


def _levels(
    block: Dataset, attribute: Attribute, source: pa.Table, name: str, setting: str, usual: tuple[str, ...]
) -> tuple[np.ndarray, list[str]]:
    """A level a row, and all levels in reading order, `unknown` last."""
    if attribute.bins is None:
        found = strings(block, source, name, setting).to_pylist()
        absent = sorted(set(attribute.map) - set(found) - {None})
        if absent:
            raise UsageError(
                f"dataset {block.name}: {setting}.map renames {absent[0]!r}, "
                f"which column {name!r} of {block.path} lacks"
            )
        values = (attribute.map.get(value, value) for value in found)
        levels = np.array([UNKNOWN if value is None or value == "" else value for value in values])
        ordered = attribute.order or tuple(attribute.map.get(value, value) for value in usual)
        return levels, [*dict.fromkeys([*ordered, *sorted(set(levels.tolist()) - {UNKNOWN})]), UNKNOWN]
    values = numbers(block, column(block, source, name, setting), name)
    names = bin_names(attribute.bins)
    position = np.searchsorted(attribute.bins, values, side="right")
    levels = np.where(np.isnan(values), UNKNOWN, np.array(names)[np.minimum(position, len(names) - 1)])
    return levels, [*names, UNKNOWN]


def bin_names(bins: tuple[float, ...]) -> list[str]:
    """Names of (-inf, a), [a, b), ..., [z, inf): "under 30", "30 to under 45", "45 and over"."""
    between = [f"{low:.15g} to under {high:.15g}" for low, high in zip(bins, bins[1:])]
    return [f"under {bins[0]:.15g}", *between, f"{bins[-1]:.15g} and over"]
