"""Vectors to candidates: each shard is read once for all queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..search import kernel
from ..search.canonical import margins, proposals
from ..search.survivors import NotFiniteError
from ..store import Store
from .candidates import (
    COPIES,
    ENCODINGS,
    HELD_BYTES,
    ROWS_PER_GROUP,
    STORED_BYTES,
    TABLE,
    candidate_table,
)
from .embed import open_shard
from .queries import read_query_vectors
from .unit import Cost, Tables, Unit, outside_key, reads
from .vectors import BYTES_PER_NUMBER, Shard, rows_at

# Products of two numbers that one core makes a second while it scores shards
# (`python -m tests.benchmarks.prefilter` prints them; this is cautious).
PRODUCTS_PER_SECOND = 20e9
# Bytes of vectors that it reads a second, however few queries there are.
BYTES_PER_SECOND = 1e9
# Memory of torch and its blocks of scores.
KERNEL_BYTES = 150e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefilter(Unit):
    """Candidates of every query in some neighbouring shards, the first at row `start` of the catalogue.

    rows and width: how many vectors the shards hold, of how many numbers, for the estimate. A unit fails when a
    shard's vectors differ from the queries in length, from the configuration in dtype, or are not finite; it names
    the shard, and the item.
    """

    stage: ClassVar[str] = "prefilter"
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 0.2
    is_intermediate: ClassVar[bool] = True
    rows_per_group: ClassVar[int] = ROWS_PER_GROUP
    encodings: ClassVar[Mapping[str, str]] = ENCODINGS
    numeric_code: ClassVar[tuple[str, ...]] = (
        "jobs.search",
        "jobs.stages.candidates",
        "jobs.stages.vectors",
    )

    vectors: tuple[str, ...] = reads()
    start: int
    queries: str = reads()
    prompts: tuple[str, ...]
    top: int
    backend: str
    storage: str
    rows: int = outside_key()
    width: int = outside_key()

    def run(self, store: Store) -> Tables:
        queries = read_query_vectors(store, self.queries)
        shards = [open_shard(store, key, queries.shape[1], self.storage) for key in self.vectors]
        longest = max((shard.largest_length for shard in shards), default=0.0)
        try:
            arrays = (shard.vectors for shard in shards)
            found = proposals(kernel(self.backend), arrays, queries, self.top, longest)
        except NotFiniteError as error:
            raise ValueError(_error_in_shard(shards, error)) from None
        rows = [rows_at(shards, positions, self.start) for positions, _ in found]
        scores = [scores for _, scores in found]
        return {TABLE: candidate_table(self.prompts, rows, scores, margins(queries, longest))}

    def cost(self) -> Cost:
        numbers = self.rows * self.width
        read_bytes = numbers * BYTES_PER_NUMBER[self.storage]
        seconds = numbers * len(self.prompts) / PRODUCTS_PER_SECOND + read_bytes / BYTES_PER_SECOND
        candidates = len(self.prompts) * min(self.top, self.rows)
        return Cost(
            seconds=seconds,
            search_seconds=seconds,
            read_bytes=read_bytes,
            memory_bytes=KERNEL_BYTES + COPIES * candidates * HELD_BYTES,
            disk_bytes=candidates * STORED_BYTES,
        )


def _error_in_shard(shards: Sequence[Shard], error: NotFiniteError) -> str:
    """The error in terms of the shard that holds the row."""
    ends = np.cumsum([len(shard.vectors) for shard in shards])
    at = int(np.searchsorted(ends, error.row, side="right"))
    row = error.row - int(ends[at]) + len(shards[at].vectors)
    return f"shard {shards[at].key}, item {shards[at].ids[row].as_py()!r:.200}: {NotFiniteError(row)}"
