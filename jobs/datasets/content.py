"""Digests of columns and hashes of ids: what a part of a data set holds, in a few bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = "pa.ChunkedArray | pa.Array"


def digest_of(columns: Sequence[Column], *others: str) -> str:
    """SHA-256 of the values of columns, whatever their chunks, encodings, and what is under their nulls."""
    digest = hashlib.sha256("\0".join(others).encode())
    for column in columns:
        digest.update(f"{len(column)}:".encode())
        for values in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            for array in _arrays(values):
                digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def id_hashes(ids: pa.Array) -> np.ndarray:
    """64 bits of each id (n,), the same in every process; different ids may share them."""
    return pd.util.hash_array(ids.to_numpy(zero_copy_only=False).astype(object), categorize=False)


def _arrays(values: pa.Array) -> list[np.ndarray]:
    """Numbers that tell an array's values from others of its type."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type):
        lengths: Any = pc.fill_null(pc.binary_length(values), -1)
        return [lengths.to_numpy(), _bytes(values.fill_null("") if values.null_count else values)]
    flat = values.flatten() if pa.types.is_fixed_size_list(values.type) else values
    return [flat.to_numpy(zero_copy_only=False)]


def _bytes(texts: pa.Array) -> np.ndarray:
    """All bytes of texts, one after the other."""
    _, offsets, data = texts.buffers()
    if data is None:
        return np.empty(0, dtype=np.uint8)
    edges = np.frombuffer(offsets, dtype=np.int32, count=len(texts) + 1, offset=4 * texts.offset)
    return np.frombuffer(data, dtype=np.uint8)[edges[0] : edges[-1]]
