"""Vectors to candidates: each shard is read once for all queries, then candidates merge in a tree.

A table of candidates has one row and one row group a query: rows of the catalogue, the kernel's float32
scores, and the margin by which these may be off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.search import kernel
from jobs.search.canonical import margins, proposals, within_margin
from jobs.search.survivors import NotFiniteError
from jobs.stages.reading.vectors import Shard, open_shard, read_vectors, rows_with_vectors
from jobs.store import Store, unit_file

CANDIDATES = pa.schema(
    [
        ("prompt", pa.string()),
        ("rows", pa.list_(pa.int64())),
        ("scores", pa.list_(pa.float32())),
        ("margin", pa.float64()),
    ]
)


def prefilter(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Candidates of every query in some neighbouring shards, which start at row `start` of the catalogue.

    Raises:  ValueError when a shard's vectors differ from the queries in length, from the configuration in
             dtype, or are not finite; it names the shard, and the row within it.
    """
    queries = read_vectors(store, "queries", spec["queries"])
    shards = [open_shard(store, key, queries.shape[1], spec["storage"]) for key in spec["vectors"]]
    longest = max((shard.largest_length for shard in shards), default=0.0)
    try:
        arrays = (shard.vectors for shard in shards)
        found = proposals(kernel(spec["backend"]), arrays, queries, spec["top"], longest)
    except NotFiniteError as error:
        raise ValueError(_place(shards, error)) from None
    known = rows_with_vectors(shards, spec["start"])
    rows = [known[positions] for positions, _ in found]
    return {"candidates": _table(spec["prompts"], rows, [scores for _, scores in found], margins(queries, longest))}


def merge(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Candidates of every query over a few tables of candidates; one query is looked at at a time.

    A row that is among the best `top` of all is so in its own table too, by exact scores; so what lies
    within the largest margin of the merged cut holds all of them.
    """
    files = [store.parquet(unit_file(stage, key, "candidates")) for stage, key in spec["found"]]
    rows, scores, allowed = [], [], []
    for place in range(len(spec["prompts"])):
        parts = pa.concat_tables(file.read_row_group(place) for file in files)
        row, score = (parts[name].combine_chunks().flatten().to_numpy() for name in ("rows", "scores"))
        margin = max(parts["margin"].to_pylist())
        is_kept = within_margin(score, spec["top"], margin)
        rows.append(row[is_kept])
        scores.append(score[is_kept])
        allowed.append(margin)
    return {"candidates": _table(spec["prompts"], rows, scores, np.array(allowed))}


def candidate_rows(store: Store, stage: str, key: str) -> Iterator[np.ndarray]:
    """Rows of the catalogue that one query after the other may hold in its pool."""
    file = store.parquet(unit_file(stage, key, "candidates"))
    for place in range(file.num_row_groups):
        yield file.read_row_group(place, columns=["rows"])["rows"].combine_chunks().flatten().to_numpy()


def _table(
    prompts: Sequence[str], rows: Sequence[np.ndarray], scores: Sequence[np.ndarray], allowed: np.ndarray
) -> pa.Table:
    columns = [
        pa.array(prompts, pa.string()),
        pa.array(rows, pa.list_(pa.int64())),
        pa.array(scores, pa.list_(pa.float32())),
        pa.array(allowed, pa.float64()),
    ]
    return pa.Table.from_arrays(columns, schema=CANDIDATES)


def _place(shards: Sequence[Shard], error: NotFiniteError) -> str:
    """The error in terms of the shard that holds the row."""
    ends = np.cumsum([len(shard.vectors) for shard in shards])
    at = int(np.searchsorted(ends, error.row, side="right"))
    row = error.row - int(ends[at]) + len(shards[at].vectors)
    return f"shard {shards[at].key}, item {shards[at].ids[row].as_py()!r:.200}: {NotFiniteError(row)}"
