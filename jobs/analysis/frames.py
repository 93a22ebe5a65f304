"""Rows and groups of data frames as plain values, with the types that pandas leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pandas as pd


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row as its values by column name."""
    return cast("list[dict[str, Any]]", rows.to_dict("records"))


def grouped(
    rows: pd.DataFrame, keys: list[str], *, sort: bool = False, dropna: bool = True
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of each combination of values in the key columns, with those values."""
    for values, own in rows.groupby(keys, sort=sort, dropna=dropna):
        yield cast("tuple[Any, ...]", values), own
