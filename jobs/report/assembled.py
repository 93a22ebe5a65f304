"""The described cases of a run, put together for the page and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from ..analysis.cases import CASE
from ..analysis.worst import worst_first
from .described import Described
from .overview import Distribution, distribution
from .shared import Shared


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Assembled:
    """A whole run.

    cases are those of `Described`, in any order, and order sorts them; ids are those that the blocks' items refer to,
    items their descriptions by (dataset, item_id), and thumbnails their pictures. pairs are all worst pairs, worst
    first; shown is the distribution of MPR, None without values; unmet counts selections by method and status.
    """

    shared: Shared
    manifest: Mapping[str, Any]
    cases: pa.Table
    order: Sequence[int]
    headers: Mapping[str, bytes]
    ids: Sequence[str]
    items: pd.DataFrame
    thumbnails: Mapping[tuple[str, str], bytes]
    pairs: pd.DataFrame
    top: pd.DataFrame
    shown: Distribution | None
    unmet: pd.DataFrame

    @property
    def names(self) -> list[tuple[Any, ...]]:
        """The cases, sorted."""
        columns = [self.cases[name].to_pylist() for name in CASE]
        return [tuple(column[place] for column in columns) for place in self.order]

    def column(self, name: str) -> Iterator[Any]:
        """A column of the cases, in their order, a value at a time."""
        values = self.cases[name]
        return (values[place].as_py() for place in self.order)

    def csv(self, name: str) -> Iterator[bytes]:
        """The lines of a table of all cases, case by case."""
        yield self.headers[name]
        yield from self.column(name)


def assembled(
    parts: Sequence[Described],
    shared: Shared,
    *,
    manifest: Mapping[str, Any],
    ids: Sequence[str],
    items: pd.DataFrame,
    thumbnails: Mapping[tuple[str, str], bytes],
) -> Assembled:
    """The parts of a run as one."""
    cases = pa.concat_tables(part.cases for part in parts)
    names = list(zip(*(cases[name].to_pylist() for name in CASE)))
    top, repaired, measured = (
        _concat([getattr(part, name) for part in parts]) for name in ("top", "repaired", "measured")
    )
    counted = _concat([part.unmet for part in parts]).groupby(["method", "status"], sort=True)["count"]
    return Assembled(
        shared=shared,
        manifest=manifest,
        cases=cases,
        order=sorted(range(len(names)), key=names.__getitem__),
        headers=parts[0].headers,
        ids=ids,
        items=items,
        thumbnails=thumbnails,
        pairs=worst_first(_concat([part.pairs for part in parts])),
        top=top,
        shown=distribution(top, repaired, measured),
        unmet=counted.sum().reset_index(),
    )


def _concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table; those without rows would only blur the types of the others."""
    return pd.concat([table for table in tables if len(table)] or [tables[0]], ignore_index=True)
