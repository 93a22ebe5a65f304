"""Finished units to the tables that people read: results, groups, items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from jobs import interruption
from jobs.datasets.catalogue import ATTRIBUTE
from jobs.run.skipped import write_skipped
from jobs.stages.catalogue import attribute_names, read_parts
from jobs.stages.labels import with_predicted
from jobs.stages.result_rows import RESULTS
from jobs.stages.solve import RESULTS_TABLE, Solve
from jobs.store import FileReceipt, Store
from jobs.store.schema import GROUPS, ITEMS

# Result rows of one output file: a part is written when this many are together.
ROWS_PER_PART = 100_000
TABLES = ("results", "groups", "items", "skipped")


def collect(store: Store, solved: Sequence[Solve], run_id: str, skipped: pa.Table) -> dict[str, FileReceipt]:
    """Write the tables of these units in their order, and the list of skipped items; files of an earlier run go.

    Returns: what each file holds, by its name below the root.
    """
    written = {
        **_parts(store, "results", _with_run(store, solved, "results", RESULTS, run_id)),
        **_parts(store, "groups", _with_run(store, solved, "groups", GROUPS, None)),
        **_parts(store, "items", iter([_items(store, solved)])),
        **write_skipped(store, skipped),
    }
    for table in TABLES:
        for name in store.list(table):
            if name not in written:
                store.delete(name)
    return written


def _parts(store: Store, table: str, tables: Iterator[pa.Table]) -> dict[str, FileReceipt]:
    """Part files by name."""
    written: dict[str, FileReceipt] = {}
    batch: list[pa.Table] = []

    def flush() -> None:
        name = f"{table}/part-{len(written):05d}.parquet"
        written[name] = store.write_table(name, pa.concat_tables(batch))
        batch.clear()

    for part in tables:
        interruption.check()
        batch.append(part)
        if sum(one.num_rows for one in batch) >= ROWS_PER_PART:
            flush()
    if batch:
        flush()
    return written


def _with_run(
    store: Store, solved: Sequence[Solve], table: str, schema: pa.Schema, run_id: str | None
) -> Iterator[pa.Table]:
    """A table of each unit, with the unit's key and the run's id filled in."""
    filled = {"run_id": run_id} if run_id is not None else {}
    for unit in solved:
        rows = store.read_table(Solve.file(unit.key, table))
        for name, value in (filled | {"unit": unit.key}).items():
            constant = pa.repeat(pa.scalar(value, pa.string()), rows.num_rows)
            rows = rows.set_column(rows.schema.get_field_index(name), schema.field(name), constant)
        yield rows.cast(schema)


def _items(store: Store, solved: Sequence[Solve]) -> pa.Table:
    """Every item that some selection holds, by data set, in the catalogue's order."""
    chosen: dict[tuple[str, str], set[str]] = {}
    predicted: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}
    for unit in solved:
        ids = store.read_table(Solve.file(unit.key, RESULTS_TABLE), columns=["item_ids"])["item_ids"]
        source = unit.dataset, unit.catalogue
        chosen.setdefault(source, set()).update(pc.list_flatten(ids).to_pylist())
        predicted[source] = unit.predicted
    tables = [ITEMS.empty_table()]
    for (dataset, catalogue), ids in chosen.items():
        read = ["item_id", "text", "image", *attribute_names(store, catalogue)]
        wanted = pa.array(sorted(ids), pa.string())
        parts = read_parts(store, catalogue, read)
        items = pa.concat_tables(part.filter(pc.is_in(part["item_id"], value_set=wanted)) for part in parts)
        items = with_predicted(items, predicted[dataset, catalogue], store)
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
            "labels": pa.array(labels, ITEMS.field("labels").type),
        }
        tables.append(pa.table(columns).cast(ITEMS))
    return pa.concat_tables(tables)
