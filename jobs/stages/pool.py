"""A query's pool: its best items over all shards in canonical order, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.search.canonical import best
from jobs.stages.reading.vectors import open_shard, to_column
from jobs.store import Store, unit_file


def pool(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """One query's best items over all shards, by (-score, item id), with vectors when asked for.

    Columns: item_id, row (of the catalogue), score (cosine, float64), relevance, weight, the levels of
    attributes, and perhaps vector.
    """
    found = pa.concat_tables(_items_of(store, key, spec["prompt"]) for key in spec["scored"])
    ids = found["item_id"].to_numpy(zero_copy_only=False).astype(str)
    items = found.take(pa.array(best(ids, found["score"].to_numpy(), spec["top"]))).combine_chunks()
    if spec["with_vectors"]:
        items = items.append_column("vector", to_column(_gather(store, spec["vectors"], items["row"].to_numpy())))
    return {"pool": items}


def _items_of(store: Store, scored: str, prompt: str) -> pa.Table:
    """A prompt's items of one unit; only its row group is read."""
    file = store.parquet(unit_file("rescore", scored, "items"))
    position = pc.index(file.read(columns=["prompt"])["prompt"], prompt).as_py()
    items = file.read_row_group(position, columns=["items"])["items"]
    return pa.Table.from_struct_array(items.combine_chunks().flatten())


def _gather(store: Store, shards: list[str], rows: np.ndarray) -> np.ndarray:
    """Vectors (n, d) float32 of catalogue rows; of a local shard only the pages that hold them are read."""
    gathered: np.ndarray | None = None
    start = 0
    for key in shards:
        shard = open_shard(store, key)
        if gathered is None:
            gathered = np.empty((rows.size, shard.vectors.shape[1]), dtype=np.float32)
        inside = (rows >= start) & (rows < start + shard.extent)
        gathered[inside] = shard.vectors[shard.positions_of(rows[inside] - start)]
        start += shard.extent
    return gathered
