"""A run's tables in parts of some cases each, so that nobody needs to hold all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.arrays import FloatArray

from ..errors import UsageError
from ..stages.result_rows import RESULTS
from ..store import Store, schema
from .cases import CASE, SELECTION, repaired_rows, top_k_rows
from .chance import values_of_queries
from .load import Chosen, Run, described, of_first_attention, read_all, tables_of

# Cases that are looked at together: enough that reading a row group serves several; more where there are more parts
# than processes will share, as looking at a part costs a second whatever is in it, and no more than memory holds.
CASES_PER_PART, MOST_CASES_PER_PART, ENOUGH_PARTS = 16, 64, 16
# What decides which selections are top-k's and the repaired ones.
REPAIRED_BY = [
    *SELECTION, "target_attention", "function_class", "attention", "status", "rho", "mpr", "chi", "mpr_chance", "p_rho",
]  # fmt: skip
# No report shows a row's witness: its groups have a table of their own.
UNREAD = ("witness",)

Case = tuple[str, str, str, int]
# A file below the root and one of its row groups.
RowGroup = tuple[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Some cases, and the row groups in which their results and their groups are."""

    cases: tuple[Case, ...]
    results: tuple[RowGroup, ...]
    groups: tuple[RowGroup, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What a run's tables hold as a whole: their parts, and names in order of first appearance, groups' in theirs.

    series: every method with the class that it constrained.
    """

    parts: tuple[Part, ...]
    classes: tuple[str, ...]
    series: tuple[tuple[str, str | None], ...]
    groups: tuple[str, ...]

    @property
    def cases(self) -> list[Case]:
        """All cases."""
        return [case for part in self.parts for case in part.cases]


@dataclass(slots=True)
class _Found:
    """Row groups by case, and the distinct values of other columns, in order of first appearance."""

    places: dict[Case, dict[RowGroup, None]] = field(default_factory=dict)
    values: dict[tuple[Any, ...], None] = field(default_factory=dict)

    def add(self, place: RowGroup, rows: pa.Table, columns: Sequence[str]) -> None:
        for case in _distinct(rows, CASE):
            self.places.setdefault(case, {})[place] = None
        self.values.update(dict.fromkeys(_distinct(rows, columns)))


def survey(store: Store) -> Survey:
    """Look through a run's results and groups; only the columns that name things are read.

    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    with tables_of(store):
        results = _looked_through(store, "results", ["function_class", "method", "target_class"])
        groups = _looked_through(store, "groups", ["group"])
    if not results.places:
        raise UsageError(f"{store.root} holds no rows under results/: `run` writes them, a report only reads them")
    cases = list(results.places)
    together = max(CASES_PER_PART, min(-(-len(cases) // ENOUGH_PARTS), MOST_CASES_PER_PART))
    parts = [cases[start : start + together] for start in range(0, len(cases), together)]
    return Survey(
        parts=tuple(
            Part(cases=tuple(few), results=_places(results, few), groups=_places(groups, few)) for few in parts
        ),
        classes=tuple(dict.fromkeys(name for name, _, _ in results.values if name is not None)),
        series=tuple(dict.fromkeys((method, target) for _, method, target in results.values)),
        groups=tuple(sorted(name for (name,) in groups.values)),
    )


def chance_of_queries(store: Store, parts: Iterable[Part]) -> dict[str, FloatArray]:
    """The p values of all queries' top-k and repaired selections; few columns are read, a part at a time."""
    found: dict[str, list[FloatArray]] = {"top_k": [], "repaired": []}
    with tables_of(store):
        for part in parts:
            table = _rows_of(store, part.results, _only(RESULTS, REPAIRED_BY), part.cases)
            results = of_first_attention(table).to_pandas()
            groups = _rows_of(store, part.groups, _only(schema.GROUPS, [*SELECTION, "p_largest"]), part.cases)
            smallest = groups.group_by(SELECTION).aggregate([("p_largest", "min")])
            by_set = smallest.rename_columns([name.removesuffix("_min") for name in smallest.column_names]).to_pandas()
            for name, rows in (("top_k", top_k_rows(results)), ("repaired", repaired_rows(results))):
                found[name].append(values_of_queries(rows, by_set))
    return {name: np.sort(np.concatenate([*values, np.empty(0)])) for name, values in found.items()}


def read_part(store: Store, part: Part, ids: Sequence[str], manifest: Any) -> Run:
    """The run of a part's cases, without descriptions of items. ids: those that codes of chosen items refer to.

    Raises:  UsageError for tables that cannot be read, or do not belong together.
    """
    with tables_of(store):
        results = of_first_attention(_rows_of(store, part.results, RESULTS, part.cases))
        groups = _rows_of(store, part.groups, schema.GROUPS, part.cases)
        chosen = Chosen.of(results["item_ids"]).among(ids)
    return Run(
        results=results.drop_columns(["item_ids", *UNREAD]).to_pandas(),
        chosen=chosen,
        groups=groups.to_pandas(),
        items=described(schema.ITEMS.empty_table()),
        manifest=manifest,
    )


def item_ids(store: Store) -> list[str]:
    """Ids of all items that some selection holds, each once."""
    with tables_of(store):
        found = read_all(store, "items", schema.ITEMS, ["item_id"])["item_id"]
    return sorted(pc.unique(found).to_pylist())


def _looked_through(store: Store, folder: str, columns: list[str]) -> _Found:
    found = _Found()
    for name in (name for name in store.list(folder) if name.endswith(".parquet")):
        file = store.parquet(name)
        for group in range(file.num_row_groups):
            found.add((name, group), file.read_row_group(group, columns=[*CASE, *columns]), columns)
    return found


def _distinct(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Combinations of values, in order of first appearance."""
    distinct = rows.select(list(columns)).group_by(list(columns), use_threads=False).aggregate([])
    return zip(*(distinct[name].to_pylist() for name in columns))


def _only(columns: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([columns.field(name) for name in names])


def _places(found: _Found, cases: Iterable[Case]) -> tuple[RowGroup, ...]:
    return tuple(dict.fromkeys(place for case in cases for place in found.places.get(case, ())))


def _rows_of(store: Store, places: Sequence[RowGroup], columns: pa.Schema, cases: Sequence[Case]) -> pa.Table:
    """The rows of some cases, in the columns of a schema; those that a file lacks are null."""
    wanted = pa.Table.from_pandas(pd.DataFrame(cases, columns=CASE), preserve_index=False)
    wanted = wanted.cast(pa.schema([columns.field(name) for name in CASE]).remove_metadata())
    known = set(zip(*(wanted[name].to_pylist() for name in CASE)))
    tables = [columns.empty_table()]
    for name, group in places:
        file = store.parquet(name)
        there = [column for column in file.schema_arrow.names if column in columns.names and column not in UNREAD]
        rows = file.read_row_group(group, columns=there)
        if not set(_distinct(rows, CASE)) <= known:
            is_wanted = pd.MultiIndex.from_frame(rows.select(CASE).to_pandas()).isin(list(known))
            rows = rows.filter(pa.array(is_wanted))
        tables.append(_conformed(rows, columns))
    return pa.concat_tables(tables)


def _conformed(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    present = set(rows.column_names)
    arrays = [
        rows[one.name].cast(one.type) if one.name in present else pa.nulls(rows.num_rows, one.type) for one in columns
    ]
    return pa.Table.from_arrays(arrays, schema=columns)
