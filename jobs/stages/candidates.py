"""Tables of candidates: rows of a catalogue among which each query's best items are.

A table has one row and one row group a query: rows of the catalogue, the kernel's float32 scores, and the margin by
which these may be off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..store import Store, unit_file
from ..store.chunks import in_one
from .unit import Unit, reads

TABLE = "candidates"
ROWS_PER_GROUP = 1
# Rows ascend, scores hardly repeat.
ENCODINGS = {"rows.list.element": "DELTA_BINARY_PACKED", "scores.list.element": "BYTE_STREAM_SPLIT"}
# Bytes of a candidate, its row and score, in memory and compressed on disk; copies of all until they are written.
HELD_BYTES, STORED_BYTES, COPIES = 12, 8.7, 3
# Candidates that one core merges a second.
MERGED_PER_SECOND = 12e6
CANDIDATES = pa.schema(
    [
        ("prompt", pa.string()),
        ("rows", pa.list_(pa.int64())),
        ("scores", pa.list_(pa.float32())),
        ("margin", pa.float64()),
    ]
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """Units that have written candidates of neighbouring rows: the stage and the key of each."""

    stages: tuple[str, ...]
    keys: tuple[str, ...] = reads()

    @classmethod
    def of(cls, units: Sequence[Unit]) -> Self:
        """The candidates of these units."""
        return cls(stages=tuple(unit.stage for unit in units), keys=tuple(unit.key for unit in units))

    def open(self, store: Store) -> list[pq.ParquetFile]:
        """Their tables, to be read in parts."""
        return [store.parquet(unit_file(stage, key, TABLE)) for stage, key in zip(self.stages, self.keys)]

    def rows(self, store: Store) -> Iterator[np.ndarray]:
        """Rows of the catalogue that one query after the other may have in its pool; of one unit."""
        [file] = self.open(store)
        for place in range(file.num_row_groups):
            yield in_one(file.read_row_group(place, columns=["rows"])["rows"]).flatten().to_numpy()


def candidate_table(
    prompts: Sequence[str], rows: Sequence[np.ndarray], scores: Sequence[np.ndarray], allowed: np.ndarray
) -> pa.Table:
    """Candidates of all queries; allowed (q,) are the margins."""
    columns = [
        pa.array(prompts, pa.string()),
        pa.array(rows, pa.list_(pa.int64())),
        pa.array(scores, pa.list_(pa.float32())),
        pa.array(allowed, pa.float64()),
    ]
    return pa.Table.from_arrays(columns, schema=CANDIDATES)
