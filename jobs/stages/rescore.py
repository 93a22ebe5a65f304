"""Merged candidates to canonical scores, in the shards where they are, with what is known of each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..search.canonical import best, exact_scores
from ..store import Store
from .candidates import COPIES, Candidates
from .catalogue import attribute_names, read_rows
from .embed import open_shard
from .queries import read_query_vectors
from .unit import Cost, Tables, Unit, outside_key, reads
from .vectors import BYTES_PER_NUMBER, Shard, edges

# Mapped: every pool looks for its own query in the tables of all parts.
FOUND, KNOWN = "found.arrow", "known.arrow"
# Products of two numbers that one core makes a second while it computes exact scores
# (`python -m tests.benchmarks.prefilter` prints them; this is cautious).
PRODUCTS_PER_SECOND = 0.5e9
# Items of which one core reads what is known of them a second; bytes of that, and of a found row and its score.
KNOWN_PER_SECOND, KNOWN_BYTES, FOUND_BYTES = 4e6, 80, 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Rescore(Unit):
    """Each query's best items of some neighbouring shards, at most `top`: one row a query.

    Columns: prompt, rows (of the catalogue, ascending) and scores (float64). What is known of the items that any
    query found, their ids, relevance, weights and levels of attributes, is in a second table, once each, by row. The
    shards' first vector is of row `start` of the catalogue. found: the merged candidates. For the estimate, rows
    are those of the shards, and expected_rows and width how many vectors will be scored, of how many numbers.
    """

    stage: ClassVar[str] = "rescore"
    version: ClassVar[int] = 4
    seconds: ClassVar[float] = 0.2
    is_intermediate: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        "mprlib.arrays",
        "mprlib.pool_order",
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
    rows: int = outside_key(0)
    width: int = outside_key()

    def run(self, store: Store) -> Tables:
        queries = read_query_vectors(store, self.queries)
        shards = [open_shard(store, key, queries.shape[1], self.storage) for key in self.vectors]
        cuts = edges(shards, self.start)
        first, last = int(cuts[0]), int(cuts[-1])
        asked = [np.sort(rows[(rows >= first) & (rows < last)]) for rows in self.found.rows(store)]
        looked_at = np.unique(np.concatenate(asked))
        known = _item_columns(store, self.catalogue, looked_at)
        is_found = np.zeros(looked_at.size, dtype=bool)
        found_rows, found_scores = [], []
        for query, rows in zip(queries, asked):
            scores, places = _scores(shards, cuts, query, rows), np.searchsorted(looked_at, rows)
            if rows.size > self.top:
                ids = known["item_id"].take(pa.array(places))
                chosen = np.sort(best(ids_of(ids), scores, self.top))
                scores, places = scores[chosen], places[chosen]
            is_found[places] = True
            found_rows.append(looked_at[places])
            found_scores.append(scores)
        columns = [
            pa.array(self.prompts, pa.string()),
            _lists(found_rows, pa.int64()),
            _lists(found_scores, pa.float64()),
        ]
        return {
            FOUND: pa.Table.from_arrays(columns, ["prompt", "rows", "scores"]),
            KNOWN: known.filter(pa.array(is_found)).add_column(0, "row", pa.array(looked_at[is_found])),
        }

    def cost(self) -> Cost:
        numbers = self.expected_rows * self.width
        seconds = numbers / PRODUCTS_PER_SECOND + self.rows / KNOWN_PER_SECOND
        return Cost(
            seconds=seconds,
            search_seconds=seconds,
            read_bytes=numbers * BYTES_PER_NUMBER[self.storage],
            memory_bytes=min(self.expected_rows, self.rows) * KNOWN_BYTES + COPIES * self.expected_rows * FOUND_BYTES,
            disk_bytes=min(self.expected_rows, self.rows) * KNOWN_BYTES + self.expected_rows * FOUND_BYTES,
        )


def items_of(store: Store, key: str, prompt: str) -> pa.Table:
    """A prompt's items of one unit, row and score first; only what is of the prompt is read of the unit's tables."""
    found = store.map_table(Rescore.file(key, FOUND))
    position = pc.index(found["prompt"], prompt).as_py()
    rows, scores = (found[name][position].values for name in ("rows", "scores"))
    known = store.map_table(Rescore.file(key, KNOWN))
    places = np.searchsorted(known["row"].to_numpy(), rows.to_numpy())
    items = known.drop_columns("row").take(pa.array(places))
    return items.add_column(0, "row", rows).add_column(1, "score", scores)


def ids_of(ids: pa.ChunkedArray) -> np.ndarray:
    """Ids as an array of texts, which compare as their code points do."""
    found: np.ndarray = ids.to_numpy(zero_copy_only=False)
    return found.astype(str)


def _item_columns(store: Store, catalogue: str, rows: np.ndarray) -> pa.Table:
    """What a pool says of its items besides their scores: of ascending rows of the catalogue."""
    attributes = attribute_names(store, catalogue)
    known = read_rows(store, catalogue, rows, ["item_id", "relevance", "weight", *attributes])
    for name in attributes:
        # Of the few items that queries find, texts are as small as codes and their dictionary.
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


def _lists(arrays: Sequence[np.ndarray], kind: pa.DataType) -> pa.Array:
    """A column of lists."""
    ends = np.cumsum([0] + [array.size for array in arrays])
    values = pa.array(np.concatenate(arrays) if arrays else [], kind)
    # Lists of 64-bit places: all queries' items of a unit may be more than 2^31.
    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)
