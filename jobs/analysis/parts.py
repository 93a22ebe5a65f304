"""A run's tables in parts of some cases each, so that no process holds all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import UsageError
from ..stages.result_rows import RESULTS
from ..store import Store, schema
from .cases import CASE
from .load import Chosen, Run, described, of_first_attention, read_all, tables_of

# Cases that are looked at together: enough that reading a row group serves several; more where there are more parts
# than processes will share, as looking at a part costs a second whatever is in it, and no more than memory holds.
CASES_PER_PART, MOST_CASES_PER_PART, ENOUGH_PARTS = 16, 64, 16
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
    """What a run's results hold as a whole, in order of first appearance.

    places: the row groups in which each case's results are; units: the keys of the units that made them. series: every
    method with the class that it constrained.
    """

    places: Mapping[Case, tuple[RowGroup, ...]]
    units: Mapping[Case, tuple[str, ...]]
    classes: tuple[str, ...]
    series: tuple[tuple[str, str | None], ...]

    @property
    def cases(self) -> list[Case]:
        """All cases."""
        return list(self.places)

    def parts(self, cases: Sequence[Case] | None = None) -> list[Part]:
        """Some cases, all by default, in parts, without the places of their groups."""
        cases = self.cases if cases is None else cases
        together = max(CASES_PER_PART, min(-(-len(cases) // ENOUGH_PARTS), MOST_CASES_PER_PART))
        few = (tuple(cases[start : start + together]) for start in range(0, len(cases), together))
        return [Part(cases=own, results=_places(self.places, own), groups=()) for own in few]


def survey(store: Store) -> Survey:
    """Look through a run's results; only the columns that name things are read.

    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    places: dict[Case, dict[RowGroup, None]] = {}
    units: dict[Case, dict[str, None]] = {}
    series: dict[tuple[str, str | None], None] = {}
    classes: dict[str, None] = {}
    with tables_of(store):
        for place, row in _looked_through(
            store, "results", [*CASE, "unit", "function_class", "method", "target_class"]
        ):
            case, (unit, function_class, method, target) = row[:4], row[4:]
            places.setdefault(case, {})[place] = None
            units.setdefault(case, {})[unit] = None
            series[method, target] = None
            if function_class is not None:
                classes[function_class] = None
    if not places:
        raise UsageError(f"{store.root} holds no rows under results/: `run` writes them, a report only reads them")
    return Survey(
        places={case: tuple(own) for case, own in places.items()},
        units={case: tuple(own) for case, own in units.items()},
        classes=tuple(classes),
        series=tuple(series),
    )


def with_groups(store: Store, parts: Sequence[Part]) -> list[Part]:
    """The parts, with the places of their groups.

    Raises:  UsageError for tables that cannot be read.
    """
    places: dict[Case, dict[RowGroup, None]] = {}
    with tables_of(store):
        for place, case in _looked_through(store, "groups", CASE) if parts else ():
            places.setdefault(case, {})[place] = None
    return [replace(part, groups=_places(places, part.cases)) for part in parts]


def read_part(store: Store, part: Part, ids: Sequence[str] | None = None) -> Run:
    """The run of a part's cases, without manifest and descriptions of items.

    ids: those that codes of chosen items refer to, by default the part's own.

    Raises:  UsageError for tables that cannot be read, or do not belong together.
    """
    with tables_of(store):
        results = of_first_attention(_rows_of(store, part.results, RESULTS, part.cases))
        groups = _rows_of(store, part.groups, schema.GROUPS, part.cases)
        chosen = Chosen.of(results["item_ids"])
    return Run(
        results=results.drop_columns(["item_ids", *UNREAD]).to_pandas(),
        chosen=chosen if ids is None else chosen.among(ids),
        groups=groups.to_pandas(),
        items=described(schema.ITEMS.empty_table()),
        manifest={},
    )


def item_ids(store: Store) -> list[str]:
    """Ids of all items that some selection holds, each once."""
    with tables_of(store):
        found = read_all(store, "items", schema.ITEMS, ["item_id"])["item_id"]
    return sorted(pc.unique(found).to_pylist())


def _looked_through(store: Store, folder: str, columns: Sequence[str]) -> Iterator[tuple[RowGroup, tuple[Any, ...]]]:
    """Each row group's distinct combinations of values, in order of first appearance."""
    for name in (name for name in store.list(folder) if name.endswith(".parquet")):
        file = store.parquet(name)
        for group in range(file.num_row_groups):
            for row in _distinct(file.read_row_group(group, columns=list(columns)), columns):
                yield (name, group), row


def _distinct(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Combinations of values, in order of first appearance."""
    distinct = rows.select(list(columns)).group_by(list(columns), use_threads=False).aggregate([])
    return zip(*(distinct[name].to_pylist() for name in columns))


def _places(found: Mapping[Case, Iterable[RowGroup]], cases: Iterable[Case]) -> tuple[RowGroup, ...]:
    return tuple(dict.fromkeys(place for case in cases for place in found.get(case, ())))


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
