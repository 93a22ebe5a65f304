"""Merged candidates to canonical scores, in the shards where they are, with what is known of each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.search.canonical import best, exact_scores
from jobs.stages.candidates import Candidates
from jobs.stages.catalogue import attribute_names, read_range
from jobs.stages.embed import open_shard
from jobs.stages.queries import read_query_vectors
from jobs.stages.unit import Cost, Tables, Unit, outside_key, reads
from jobs.stages.vectors import BYTES_PER_NUMBER, Shard, edges
from jobs.store import Store

TABLE = "items"
# Products of two numbers that one core makes a second while it computes exact scores
# (`python -m tests.benchmarks.prefilter` prints them; this is cautious).
PRODUCTS_PER_SECOND = 0.5e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Rescore(Unit):
    """Each query's best items of some neighbouring shards, at most `top`: one row and row group a query.

    Columns: prompt and items, a list of structs with item_id, row (of the catalogue), score (float64),
    relevance, weight and the levels of attributes. The shards' first vector is of row `start` of the catalogue.
    found: the merged candidates. expected_rows and width: how many vectors will be scored, of how many numbers, for
    the estimate.
    """

    stage: ClassVar[str] = "rescore"
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 0.2
    rows_per_group: ClassVar[int] = 1
    numeric_code: ClassVar[tuple[str, ...]] = (
        "jobs.search.canonical",
        "jobs.search.survivors",
        "jobs.stages.candidates",
        "jobs.stages.vectors",
    )

    catalogue: str = reads()
    found: Candidates
    queries: str = reads()
    prompts: tuple[str, ...]
    start: int
    storage: str
    top: int
    vectors: tuple[str, ...] = reads()
    expected_rows: float = outside_key()
    width: int = outside_key()

    def run(self, store: Store) -> Tables:
        queries = read_query_vectors(store, self.queries)
        shards = [open_shard(store, key, queries.shape[1], self.storage) for key in self.vectors]
        cuts = edges(shards, self.start)
        first, last = int(cuts[0]), int(cuts[-1])
        known = _known(store, self.catalogue, first, last)
        tables = []
        for query, rows in zip(queries, self.found.rows(store)):
            inside = np.sort(rows[(rows >= first) & (rows < last)])
            scores = _scores(shards, cuts, query, inside)
            items = known.take(pa.array(inside - first))
            if inside.size > self.top:
                chosen = np.sort(best(_ids(items), scores, self.top))
                inside, scores, items = inside[chosen], scores[chosen], items.take(pa.array(chosen))
            columns = {"item_id": items["item_id"], "row": pa.array(inside), "score": pa.array(scores)}
            tables.append(pa.table(columns | {name: items[name] for name in known.column_names if name not in columns}))
        lengths = np.cumsum([0] + [table.num_rows for table in tables])
        items = pa.concat_tables(tables).combine_chunks().to_struct_array().combine_chunks()
        column = pa.ListArray.from_arrays(pa.array(lengths, pa.int32()), items)
        return {TABLE: pa.table({"prompt": pa.array(self.prompts, pa.string()), "items": column})}

    def cost(self) -> Cost:
        numbers = self.expected_rows * self.width
        seconds = numbers / PRODUCTS_PER_SECOND
        return Cost(seconds=seconds, search_seconds=seconds, read_bytes=numbers * BYTES_PER_NUMBER[self.storage])


def items_of(store: Store, key: str, prompt: str) -> pa.Table:
    """A prompt's items of one unit; only its row group is read."""
    file = store.parquet(Rescore.file(key, TABLE))
    position = pc.index(file.read(columns=["prompt"])["prompt"], prompt).as_py()
    items = file.read_row_group(position, columns=["items"])["items"]
    return pa.Table.from_struct_array(items.combine_chunks().flatten())


def _known(store: Store, catalogue: str, start: int, stop: int) -> pa.Table:
    """What a pool says of its items besides their scores."""
    attributes = attribute_names(store, catalogue)
    known = read_range(store, catalogue, start, stop, ["item_id", "relevance", "weight", *attributes])
    for name in attributes:
        # Within lists, Parquet has no dictionaries.
        known = known.set_column(known.column_names.index(name), name, known[name].cast(pa.string()))
    return known


def _scores(shards: Sequence[Shard], cuts: np.ndarray, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Exact scores of ascending rows of the catalogue, shard by shard."""
    ends = np.searchsorted(rows, cuts)
    parts = [
        exact_scores(shard.vectors, query, shard.positions_of(rows[low:high] - cut))
        for shard, cut, low, high in zip(shards, cuts, ends, ends[1:])
        if high > low
    ]
    return np.concatenate(parts or [np.empty(0)])


def _ids(items: pa.Table) -> np.ndarray:
    ids: np.ndarray = items["item_id"].to_numpy(zero_copy_only=False)
    return ids.astype(str)
