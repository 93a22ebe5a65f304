"""A query's pool: its best items over all shards in canonical order, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from jobs.search.canonical import best
from jobs.stages.embed import open_shard
from jobs.stages.rescore import items_of
from jobs.stages.unit import Cost, Tables, Unit, outside_key, reads
from jobs.stages.vectors import BYTES_PER_NUMBER, to_column
from jobs.store import Store

TABLE = "pool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool(Unit):
    """One query's best items over all shards, by (-score, item id), with vectors when asked for.

    Columns: item_id, row (of the catalogue), score (cosine, float64), relevance, weight, the levels of
    attributes, and perhaps vector.

    The key names what decides the pool (vectors, the prompt and its encoder or given vector, depth, the versions of
    the search's code), not the searches that find it: a new query, another backend or sharding of the search leave
    the pools of the others as they are. width: numbers of a vector, for the estimate.

    A list that an engine showed is a pool as well, whose table came with reading the list: `encoder` is then the
    list's hash, there are no vectors, and a column `place` says where in the list each item is.
    """

    stage: ClassVar[str] = "pool"
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 0.1
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.search.canonical", "jobs.search.survivors", "jobs.stages.vectors")

    catalogue: str = reads()
    vectors: tuple[str, ...] = reads()
    encoder: Mapping[str, Any] | str
    search: tuple[int, ...]
    prompt: str
    top: int
    with_vectors: bool
    scored: tuple[str, ...] = reads(in_key=False, default=())
    width: int = outside_key()

    def run(self, store: Store) -> Tables:
        found = pa.concat_tables(items_of(store, key, self.prompt) for key in self.scored)
        ids = found["item_id"].to_numpy(zero_copy_only=False).astype(str)
        items = found.take(pa.array(best(ids, found["score"].to_numpy(), self.top))).combine_chunks()
        if self.with_vectors:
            items = items.append_column("vector", to_column(_gather(store, self.vectors, items["row"].to_numpy())))
        return {TABLE: items}

    def cost(self) -> Cost:
        # Pools hold float32 whatever is stored.
        return Cost(disk_bytes=self.top * self.width * BYTES_PER_NUMBER["float32"] if self.with_vectors else 0.0)


def read_pool(store: Store, key: str, *, with_vectors: bool = False) -> pa.Table:
    """A pool; with its vectors, most of its bytes, only where they are asked for."""
    file = Pool.file(key, TABLE)
    if with_vectors:
        return store.read_table(file)
    return store.read_table(file, columns=[name for name in store.parquet(file).schema_arrow.names if name != "vector"])


def _gather(store: Store, shards: Sequence[str], rows: np.ndarray) -> np.ndarray:
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
    assert gathered is not None
    return gathered
