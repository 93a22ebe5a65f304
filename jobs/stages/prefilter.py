"""Vectors to pools: each shard is read once for all queries, each query's best items are merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.search import kernel
from jobs.search.canonical import best, candidates
from jobs.stages.vectors import read_vectors, to_column
from jobs.store import Store, unit_file

CANDIDATES = pa.schema([("prompt", pa.string()), ("rows", pa.list_(pa.int64())), ("scores", pa.list_(pa.float64()))])


def prefilter(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Candidates of every query in one shard, as rows of the catalogue, one row group a query.

    Raises:  ValueError when queries and items have vectors of different lengths.
    """
    vectors = read_vectors(store, "embed", spec["vectors"])
    queries = read_vectors(store, "queries", spec["queries"])
    if queries.shape[1] != vectors.shape[1]:
        raise ValueError(f"query vectors have {queries.shape[1]} numbers, item vectors {vectors.shape[1]}")
    found = candidates(kernel(spec["backend"]), vectors, queries, spec["top"])
    columns = [
        pa.array(spec["prompts"], pa.string()),
        pa.array([positions + spec["start"] for positions, _ in found], pa.list_(pa.int64())),
        pa.array([scores for _, scores in found], pa.list_(pa.float64())),
    ]
    return {"candidates": pa.Table.from_arrays(columns, schema=CANDIDATES)}


def pool(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """One query's best items over all shards, by (-score, item id), with vectors when asked for.

    Columns: item_id, row (of the catalogue), score (cosine, float64) and perhaps vector.
    """
    rows, scores = [], []
    for search in spec["searches"]:
        part = _candidates_of(store, search, spec["prompt"])
        rows.append(part["rows"].combine_chunks().flatten().to_numpy())
        scores.append(part["scores"].combine_chunks().flatten().to_numpy())
    row, score = np.concatenate(rows), np.concatenate(scores)
    ids = store.read_table(unit_file("catalogue", spec["catalogue"], "items"), columns=["item_id"])["item_id"]
    chosen = best(ids.take(pa.array(row)).to_numpy(zero_copy_only=False).astype(str), score, spec["top"])
    columns = {
        "item_id": ids.take(pa.array(row[chosen])).combine_chunks(),
        "row": pa.array(row[chosen]),
        "score": pa.array(score[chosen]),
    }
    if spec["with_vectors"]:
        columns["vector"] = to_column(_gather(store, spec["vectors"], row[chosen]))
    return {"pool": pa.table(columns)}


def _candidates_of(store: Store, search: str, prompt: str) -> pa.Table:
    """The row of a prompt; only its row group is read."""
    file = store.parquet(unit_file("prefilter", search, "candidates"))
    position = pc.index(file.read(columns=["prompt"])["prompt"], prompt).as_py()
    return file.read_row_group(position, columns=["rows", "scores"])


def _gather(store: Store, shards: list[str], rows: np.ndarray) -> np.ndarray:
    """Vectors of catalogue rows, shard by shard, so that one shard is in memory at a time."""
    gathered: np.ndarray | None = None
    start = 0
    for key in shards:
        vectors = read_vectors(store, "embed", key)
        if gathered is None:
            gathered = np.empty((rows.size, vectors.shape[1]), dtype=np.float32)
        inside = (rows >= start) & (rows < start + len(vectors))
        gathered[inside] = vectors[rows[inside] - start]
        start += len(vectors)
    return gathered
