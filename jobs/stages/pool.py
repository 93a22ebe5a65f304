"""A query's pool: its best items over all shards in canonical order, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..search.canonical import best
from ..store import Store
from ..store.chunks import table_in_one
from .embed import open_shard
from .rescore import ids_of, items_of
from .unit import Cost, Tables, Unit, outside_key, reads

TABLE = "pool"
# Bytes of an item in a pool, compressed: its id, row, score and levels.
ITEM_BYTES = 11
# Bytes of an item while the best of all parts are chosen.
HELD_BYTES = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool(Unit):
    """One query's best items over all shards, by (-score, item id).

    Columns: row (of the catalogue), score (cosine, float64), item_id, relevance, the levels of attributes, and weight
    where the pool is somebody's reference. Vectors are not repeated in every pool that holds their item: `pool_vectors`
    gathers them from the shards.

    The key names what decides the pool (vectors, the prompt and its encoder or given vector, depth, the versions of
    the search's code), not the searches that find it: a new query, another backend or sharding of the search leave
    the pools of the others as they are. vectors is a digest of the keys of all shards: thousands of keys, in each of
    hundreds of pools, would be most of a plan. items: of the catalogue, for the estimate.

    A list that an engine showed is a pool as well, whose table came with reading the list: `encoder` is then the
    list's hash, there are no vectors, and a column `place` says where in the list each item is.
    """

    stage: ClassVar[str] = "pool"
    version: ClassVar[int] = 4
    seconds: ClassVar[float] = 0.01
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        "mprlib.arrays",
        "mprlib.pool_order",
        "jobs.search.canonical",
        "jobs.search.survivors",
        "jobs.stages.vectors",
    )
    encodings: ClassVar[Mapping[str, str]] = {
        "row": "DELTA_BINARY_PACKED",
        "score": "BYTE_STREAM_SPLIT",
        "item_id": "DELTA_BYTE_ARRAY",
        "weight": "BYTE_STREAM_SPLIT",
    }

    catalogue: str = reads()
    vectors: str
    encoder: Mapping[str, Any] | str
    search: tuple[int, ...]
    prompt: str
    top: int
    scored: tuple[str, ...] = reads(in_key=False, default=())
    with_weights: bool = False
    items: int = outside_key(0)

    def run(self, store: Store) -> Tables:
        found = pa.concat_tables(items_of(store, key, self.prompt) for key in self.scored)
        chosen = best(ids_of(found["item_id"]), found["score"].to_numpy(), self.top)
        pool = table_in_one(found.take(pa.array(chosen)))
        return {TABLE: pool if self.with_weights else pool.drop_columns("weight")}

    def cost(self) -> Cost:
        items = min(self.top, self.items)
        return Cost(disk_bytes=items * ITEM_BYTES, memory_bytes=items * HELD_BYTES)


def read_pool(
    store: Store, key: str, columns: Sequence[str] | None = None, dictionaries: Sequence[str] = ()
) -> pa.Table:
    """A pool, best item first.

    columns: those to read where it has them; by default all. dictionaries: columns of text to read as dictionaries.
    """
    chosen = None if columns is None else list(columns)
    return store.read_table(Pool.file(key, TABLE), columns=chosen, dictionaries=dictionaries)


def people_weights(pool: pa.Table) -> np.ndarray:
    """How much each item (n,) of a pool counts as one of the people of a reference."""
    # An engine showed items, not those whom they stand for in a sample: each of a list counts once.
    if "place" in pool.column_names or "weight" not in pool.column_names:
        return np.ones(len(pool))
    weights: np.ndarray = pool["weight"].to_numpy()
    return weights


def pool_vectors(store: Store, shards: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """Vectors (n, d) float32 of rows of the catalogue that shards hold; only the pages that hold them are read.

    shards: keys of all embed units of the catalogue, in order. Each row must have a vector.
    """
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
