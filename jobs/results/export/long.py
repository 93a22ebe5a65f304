"""One row per selected item, with its selection and its labels: the form that pandas and DuckDB group by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ...errors import UsageError
from ...store import Store
from ...store.chunks import in_one
from .selections import read_items, read_selections

# Attributes' columns begin with it, so that an attribute named `query` hides nothing.
LABEL = "label_"
# Between data set and item id in a joined key; no id holds it.
BETWEEN = "\x00"
KEPT = [
    "run_id",
    "dataset",
    "reference",
    "query",
    "k",
    "method",
    "parameter",
    "parameter_value",
    "target_class",
    "status",
]


def export_long(store: Store, output: str) -> list[str]:
    """Write the long table to a .parquet or .csv file.

    Raises:  UsageError for another ending.
    """
    folder, _, name = output.rpartition("/")
    suffix = Path(name).suffix
    if suffix not in (".parquet", ".csv"):
        raise UsageError(f"--output {output}: a file that ends in .parquet or .csv is expected for --format long")
    table, beside = long_table(store), Store(folder or (output[:1] if output.startswith("/") else "."))
    if suffix == ".parquet":
        beside.write_table(name, table)
    else:
        sink = pa.BufferOutputStream()
        pyarrow.csv.write_csv(table, sink)
        beside.write(name, memoryview(sink.getvalue()))
    return [output]


def long_table(store: Store) -> pa.Table:
    """One row per (selection, item), best first.

    Returns: KEPT, rank (from 1), item_id, text, image and one column `label_NAME` per attribute, null
             where a data set lacks it.
    """
    selections = read_selections(store)
    lists = in_one(selections["item_ids"])
    parents = pc.list_parent_indices(lists)
    table = selections.select(KEPT).take(parents)
    ids = pc.list_flatten(lists)
    table = table.append_column("rank", pa.array(_ranks(parents.to_numpy())))
    table = table.append_column("item_id", ids)
    items = read_items(store)
    place = pc.index_in(_key(table["dataset"], table["item_id"]), value_set=_key(items["dataset"], items["item_id"]))
    for name in ("text", "image"):
        table = table.append_column(name, items[name].take(place))
    for name, levels in _labels(items).items():
        table = table.append_column(f"{LABEL}{name}", levels.take(place))
    return table


def _ranks(parents: np.ndarray) -> np.ndarray:
    """1, 2, ... within each run of equal parents."""
    if parents.size == 0:
        return np.empty(0, dtype=np.int64)
    is_first = np.r_[True, parents[1:] != parents[:-1]]
    starts = np.flatnonzero(is_first)
    return np.arange(parents.size) - np.repeat(starts, np.diff(np.r_[starts, parents.size])) + 1


def _key(datasets: pa.ChunkedArray, ids: pa.ChunkedArray) -> pa.Array:
    joined = pc.binary_join_element_wise(datasets, ids, BETWEEN)
    return in_one(joined)


def _labels(items: pa.Table) -> dict[str, pa.Array]:
    """Each attribute's level (items,) in order of first appearance."""
    rows = [dict(labels or ()) for labels in items["labels"].to_pylist()]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
