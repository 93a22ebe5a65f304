"""Rows and groups of data frames as plain values, with the types that pandas leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from mprlib.arrays import IntArray


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row as its values by column name."""
    return cast("list[dict[str, Any]]", rows.to_dict("records"))


def grouped(
    rows: pd.DataFrame, keys: list[str], *, sort: bool = False, dropna: bool = True
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of each combination of values in the key columns, with those values."""
    for values, own in rows.groupby(keys, sort=sort, dropna=dropna):
        yield cast("tuple[Any, ...]", values), own


def numbered(rows: pd.DataFrame, keys: Sequence[str], other: pd.DataFrame | None = None) -> IntArray:
    """Combinations of values in the key columns as numbers in order of first appearance; a null is a value, too.

    other: a table whose rows follow, so that equal combinations of both have equal numbers.
    """
    numbers = np.zeros(len(rows) + (0 if other is None else len(other)), dtype=np.int64)
    for key in keys:
        values = rows[key] if other is None else pd.concat([rows[key], other[key]], ignore_index=True)
        found, distinct = pd.factorize(values)
        numbers = pd.factorize(numbers * (len(distinct) + 1) + found + 1)[0]
    return numbers


def places_of(numbers: IntArray) -> list[IntArray]:
    """The positions of each number, 0 first."""
    order, ends = np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))
    return np.split(order, ends[:-1]) if numbers.size else []
