"""Vectors in Parquet: fixed-size lists of float32."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.store import Store, unit_file


def to_column(vectors: np.ndarray) -> pa.Array:
    """A column of rows (n, d) float32."""
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def to_matrix(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Rows (n, d) float32 of a column, without a copy where it is one chunk."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if len(array) == 0:
        return np.empty((0, array.type.list_size), dtype=np.float32)
    return array.flatten().to_numpy().reshape(len(array), -1)


def read_vectors(store: Store, stage: str, key: str) -> np.ndarray:
    """The vectors (n, d) that a unit wrote."""
    return to_matrix(store.read_table(unit_file(stage, key, "vectors"), columns=["vector"])["vector"])
