"""Finished units to the tables that people read: results, groups, items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from .. import interruption
from ..datasets.catalogue import ATTRIBUTE
from ..run.skipped import write_skipped
from ..stages.catalogue import attribute_names, read_parts
from ..stages.labels import with_predicted
from ..stages.result_rows import RESULTS
from ..stages.solve import GROUPS_TABLE, RESULTS_TABLE, Solve
from ..store import FileReceipt, Store
from ..store.growing import GrowingTable
from ..store.schema import GROUPS, ITEMS

# Result rows of one output file, and of one of its row groups, which is what a report reads at a time. A file is
# written group by group, and a group holds whole cases.
ROWS_PER_FILE = 100_000
ROWS_PER_GROUP = 2_000
TABLES = ("results", "groups", "items", "skipped")


def collect(store: Store, solved: Sequence[Solve], run_id: str, skipped: pa.Table) -> dict[str, FileReceipt]:
    """Write the tables of these units in their order, and the list of skipped items; files of an earlier run go.

    Returns: what each file holds, by its name below the root.
    """
    chosen = _Chosen()
    with (
        GrowingTable(store, "results", RESULTS, ROWS_PER_FILE) as results,
        GrowingTable(store, "groups", GROUPS, ROWS_PER_FILE) as groups,
    ):
        for units, tables in _of_whole_cases(store, solved):
            interruption.check()
            for unit, table in zip(units, tables):
                chosen.add(unit, table)
            results.add(_concatenated(units, tables, RESULTS, {"run_id": run_id}))
            shares = [store.read_table(Solve.file(unit.key, GROUPS_TABLE)) for unit in units]
            groups.add(_concatenated(units, shares, GROUPS, {}))
        results.finish()
        groups.finish()
    written = {**results.files, **groups.files, **_write_items(store, chosen), **write_skipped(store, skipped)}
    for table in TABLES:
        for name in store.list(table):
            if name not in written:
                store.delete(name)
    return written


def _of_whole_cases(store: Store, solved: Sequence[Solve]) -> Iterator[tuple[list[Solve], list[pa.Table]]]:
    """Units with their result rows, a row group's at a time; neighbours of one case stay together."""
    units: list[Solve] = []
    tables: list[pa.Table] = []
    for unit in solved:
        if units and _case(unit) != _case(units[-1]) and sum(table.num_rows for table in tables) >= ROWS_PER_GROUP:
            yield units, tables
            units, tables = [], []
        units.append(unit)
        tables.append(store.read_table(Solve.file(unit.key, RESULTS_TABLE)))
    if units:
        yield units, tables


def _case(unit: Solve) -> tuple[str, str, str, int]:
    return unit.dataset, unit.reference.name, unit.query, unit.k


def _concatenated(
    units: Sequence[Solve], tables: Sequence[pa.Table], schema: pa.Schema, filled: Mapping[str, str]
) -> pa.Table:
    """One table of several units', with each unit's key and what else is the same for all filled in."""
    own = pa.schema([one.remove_metadata() for one in schema if one.name not in {*filled, "unit"}])
    chosen = (rows.select(own.names) for rows in tables)
    together = pa.concat_tables(rows if rows.schema.equals(own) else rows.cast(own) for rows in chosen)
    keys = pa.chunked_array([pa.repeat(unit.key, rows.num_rows) for unit, rows in zip(units, tables)], pa.string())
    constants = {name: pa.repeat(pa.scalar(value, pa.string()), len(keys)) for name, value in filled.items()}
    columns = constants | {"unit": keys}
    found = [columns[name] if name in columns else together[name] for name in schema.names]
    return pa.Table.from_arrays(found, schema=schema)


class _Chosen:
    """The items that some selection holds, by data set and catalogue, each once."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, str], set[str]] = {}
        self.predicted: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}

    def add(self, unit: Solve, rows: pa.Table) -> None:
        """The items of a unit's rows."""
        source = unit.dataset, unit.catalogue
        self.ids.setdefault(source, set()).update(pc.unique(pc.list_flatten(rows["item_ids"])).to_pylist())
        self.predicted[source] = unit.predicted


def _write_items(store: Store, chosen: _Chosen) -> dict[str, FileReceipt]:
    """Every chosen item, by data set, in the catalogue's order."""
    tables = [ITEMS.empty_table()]
    for (dataset, catalogue), ids in chosen.ids.items():
        read = ["item_id", "text", "image", "relevance", *attribute_names(store, catalogue)]
        wanted = pa.array(sorted(ids), pa.string())
        parts = read_parts(store, catalogue, read)
        items = pa.concat_tables(part.filter(pc.is_in(part["item_id"], value_set=wanted)) for part in parts)
        items = with_predicted(items, chosen.predicted[dataset, catalogue], store)
        names = [name for name in items.column_names if name.startswith(ATTRIBUTE)]
        labels = [
            [(name.removeprefix(ATTRIBUTE), level) for name, level in zip(names, levels)]
            for levels in zip(*(items[name].to_pylist() for name in names))
        ]
        columns = {
            "dataset": pa.repeat(pa.scalar(dataset), items.num_rows),
            "item_id": items["item_id"],
            "text": items["text"],
            "image": items["image"],
            "relevance": items["relevance"],
            "labels": pa.array(labels, ITEMS.field("labels").type),
        }
        tables.append(pa.table(columns).cast(ITEMS))
    name = "items/part-00000.parquet"
    return {name: store.write_table(name, pa.concat_tables(tables))}
