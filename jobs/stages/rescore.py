"""Merged candidates to canonical scores, in the shards where they lie, with what is known of each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.datasets.catalogue import ATTRIBUTE
from jobs.search.canonical import best, exact_scores
from jobs.stages.prefilter import candidate_rows
from jobs.stages.reading.vectors import Shard, edges, open_shard, read_vectors
from jobs.store import Store, unit_file


def rescore(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Each query's best items of some neighbouring shards, at most `top`: one row and row group a query.

    Columns: prompt and items, a list of structs with item_id, row (of the catalogue), score (float64),
    relevance, weight and the levels of attributes.
    """
    queries = read_vectors(store, "queries", spec["queries"])
    shards = [open_shard(store, key, queries.shape[1], spec["storage"]) for key in spec["vectors"]]
    cuts = edges(shards, spec["start"])
    first, last = int(cuts[0]), int(cuts[-1])
    known = _known(store, spec["catalogue"], first, last)
    tables = []
    for query, rows in zip(queries, candidate_rows(store, *spec["found"])):
        inside = np.sort(rows[(rows >= first) & (rows < last)])
        scores = _scores(shards, cuts, query, inside)
        items = known.take(pa.array(inside - first))
        if inside.size > spec["top"]:
            chosen = np.sort(best(_ids(items), scores, spec["top"]))
            inside, scores, items = inside[chosen], scores[chosen], items.take(pa.array(chosen))
        columns = {"item_id": items["item_id"], "row": pa.array(inside), "score": pa.array(scores)}
        tables.append(pa.table(columns | {name: items[name] for name in known.column_names if name not in columns}))
    lengths = np.cumsum([0] + [table.num_rows for table in tables])
    items = pa.concat_tables(tables).combine_chunks().to_struct_array().combine_chunks()
    column = pa.ListArray.from_arrays(pa.array(lengths, pa.int32()), items)
    return {"items": pa.table({"prompt": pa.array(spec["prompts"], pa.string()), "items": column})}


def _known(store: Store, catalogue: str, start: int, stop: int) -> pa.Table:
    """What a pool says of its items besides their scores."""
    name = unit_file("catalogue", catalogue, "items")
    attributes = [column for column in store.parquet(name).schema_arrow.names if column.startswith(ATTRIBUTE)]
    return store.read_rows(name, start, stop, ["item_id", "relevance", "weight", *attributes])


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
    return items["item_id"].to_numpy(zero_copy_only=False).astype(str)
