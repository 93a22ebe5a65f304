"""Vectors in columns of fixed-size lists: float32 in Parquet, or a shard's own file to be mapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..store.chunks import in_one

BYTES_PER_NUMBER = {"float32": 4, "float16": 2}
# Keys of the schema's metadata: the length of a shard's longest vector, and how many items it is for.
LARGEST_LENGTH = b"largest_length"
EXTENT = b"extent"
# Vectors looked at together, so that checking a shard takes little memory.
CHECKED_ROWS = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """One embed unit's items: ids (n,) and vectors (n, d), read-only and mapped where the store is local.

    A shard is for `extent` neighbouring rows of its catalogue. Those whose pictures could not be read have
    no vector; places (n,) int64 ascending, from 0 to extent - 1, say which the others are.
    """

    key: str
    ids: pa.ChunkedArray
    vectors: np.ndarray
    places: np.ndarray
    extent: int
    largest_length: float

    def positions_of(self, places: np.ndarray) -> np.ndarray:
        """Positions of the vectors of some places; each must have one."""
        return np.searchsorted(self.places, places)


def to_column(vectors: np.ndarray, storage: str = "float32") -> pa.Array:
    """A column of rows (n, d) in float32 or float16."""
    # What float16 cannot hold becomes infinite, and is refused where a shard is written.
    with np.errstate(over="ignore"):
        flat = pa.array(np.ascontiguousarray(vectors, dtype=storage).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def to_matrix(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Rows (n, d) of a column in its own dtype, without a copy where it is one chunk."""
    array = in_one(column)
    if len(array) == 0:
        return np.empty((0, array.type.list_size), dtype=array.type.value_type.to_pandas_dtype())
    flat: np.ndarray = array.flatten().to_numpy()
    return flat.reshape(len(array), -1)


def shard_table(
    ids: pa.ChunkedArray, vectors: np.ndarray, storage: str, places: np.ndarray | None = None, extent: int | None = None
) -> pa.Table:
    """What an embed unit writes: ids and vectors in one table, so that they cannot part.

    places and extent as in `Shard`; by default every item has a vector.
    Raises:  ValueError naming the item whose vector is not finite in the storage's numbers.
    """
    places = np.arange(len(vectors)) if places is None else places
    extent = len(vectors) if extent is None else extent
    columns = {"item_id": ids, "vector": to_column(vectors, storage), "place": pa.array(places, pa.int64())}
    table = pa.table(columns)
    stored, largest = to_matrix(table["vector"]), 0.0
    for start in range(0, len(stored), CHECKED_ROWS):
        rows = stored[start : start + CHECKED_ROWS].astype(np.float64)
        squares = np.einsum("ij,ij->i", rows, rows)
        if not np.isfinite(squares).all():
            row = start + int(np.flatnonzero(~np.isfinite(squares))[0])
            item = ids[row].as_py()
            raise ValueError(f"the vector of item {item!r:.200} holds a value that is not finite in {storage}")
        largest = max(largest, float(np.sqrt(squares.max())))
    return table.replace_schema_metadata({LARGEST_LENGTH: repr(largest), EXTENT: str(extent)})


def edges(shards: Sequence[Shard], start: int = 0) -> np.ndarray:
    """Rows of the catalogue at which neighbouring shards begin, and the one after the last."""
    return start + np.cumsum([0] + [shard.extent for shard in shards])


def rows_at(shards: Sequence[Shard], positions: np.ndarray, start: int = 0) -> np.ndarray:
    """Rows of the catalogue (n,) of some vectors of neighbouring shards, the first at row `start`.

    positions (n,) ascending, counted through the vectors of all.
    """
    begins, begin_rows = np.cumsum([0] + [len(shard.vectors) for shard in shards]), edges(shards, start)
    ends = np.searchsorted(positions, begins)
    rows: np.ndarray = positions + np.repeat(begin_rows[:-1] - begins[:-1], np.diff(ends))
    for shard, low, high, begin, row in zip(shards, ends, ends[1:], begins, begin_rows):
        if len(shard.vectors) < shard.extent:
            rows[low:high] = row + shard.places[positions[low:high] - begin]
    return rows


def rows_with_vectors(shards: Sequence[Shard], start: int = 0) -> np.ndarray:
    """Rows of the catalogue (n,), ascending, of all vectors of neighbouring shards, the first at row `start`."""
    return np.concatenate([edge + shard.places for edge, shard in zip(edges(shards, start), shards)])
