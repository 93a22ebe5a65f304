"""Vectors that a table holds already."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import UsageError
from ..store.chunks import in_one
from .block import Dataset
from .columns import VECTOR_SETTING, column
from .values import holds_lists

# Vectors looked at together, so that it takes little memory.
CHECKED_ROWS = 65_536


def vectors(block: Dataset, source: pa.Table, name: str, ids: pa.Array) -> pa.Array:
    """Vectors as lists of one length, in float16 where they are stored so, else in float32.

    Raises:  UsageError naming the item for one that is missing, not finite, or zero.
    """
    found = _lists(column(block, source, name, VECTOR_SETTING))
    where = f"column {name!r} of {block.path}"
    if found is None:
        raise UsageError(f"{where} holds {source[name].type}: lists of numbers are expected")
    if found.null_count:
        row = int(pc.index(pc.is_null(found), True).as_py())
        raise UsageError(f"{where} has no vector for item {ids[row].as_py()!r}")
    lengths = pc.unique(pc.list_value_length(found))
    if len(lengths) != 1:
        raise UsageError(f"{where} holds vectors of different lengths: {sorted(lengths.to_pylist())[:5]}")
    width = lengths[0].as_py()
    if width == 0:
        raise UsageError(f"{where} holds empty vectors")
    try:
        numbers = found.flatten()
        if not pa.types.is_float16(numbers.type):
            numbers = numbers.cast(pa.float32(), safe=False)
        flat = numbers.to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise UsageError(f"{where} does not hold numbers") from None
    matrix = flat.reshape(-1, width)
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise UsageError(f"{where} holds a value that is not finite, in the vector of item {ids[row].as_py()!r}")
    empty = ~matrix.any(axis=1)
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        raise UsageError(f"{where} holds only zeros in the vector of item {ids[row].as_py()!r}: it has no direction")
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), width)


def lengths_of(vectors: np.ndarray) -> tuple[float, float] | None:
    """Lengths of the shortest and the longest of some vectors (n, d) that have a direction; None where none has."""
    squares = [np.empty(0)]
    for start in range(0, len(vectors), CHECKED_ROWS):
        rows = vectors[start : start + CHECKED_ROWS].astype(np.float64)
        squares.append(np.einsum("ij,ij->i", rows, rows))
    lengths = np.sqrt(np.concatenate(squares))
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    return (float(lengths.min()), float(lengths.max())) if lengths.size else None


def _lists(column: pa.ChunkedArray) -> pa.Array | None:
    """The column as one array of lists; None where it holds something else."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):  # such as Arrow's tensors of a fixed shape
        kind = kind.storage_type
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)
    if not holds_lists(kind):
        return None
    if not pa.types.is_fixed_size_list(kind):
        # Together, the numbers of all chunks may be more than a list's own offsets can count.
        column = column.cast(pa.large_list(kind.value_type))
    return in_one(column)
