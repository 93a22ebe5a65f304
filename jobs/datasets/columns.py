"""A source table's columns, checked and named in errors by setting, column and file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.config.datasets import Dataset
from jobs.datasets.template import template_columns
from jobs.errors import UsageError


def column(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.ChunkedArray:
    """A column by its name; `setting` is the key that names it.

    Raises:  UsageError when the table lacks it.
    """
    if name not in source.column_names:
        raise UsageError(
            f"dataset {block.name}: {setting} names column {name!r}, which {block.path} lacks; "
            f"it has {', '.join(source.column_names)}"
        )
    return source[name]


def named_columns(block: Dataset) -> list[str]:
    """Columns that a data set's settings name, beside its id."""
    names = [block.image, block.relevance, block.weight]
    names += template_columns(block) if block.text is not None else []
    names += [attribute.column or name for name, attribute in block.attributes.items()]
    return list(dict.fromkeys(name for name in names if name is not None))


def strings(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.Array:
    """A column's values as text; whole floats without a point, NaN as null.

    Raises:  UsageError for a column that is missing or holds neither text nor numbers.
    """
    found = column(block, source, name, setting).combine_chunks()
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_floating(found.type):
        values = found.to_numpy(zero_copy_only=False)
        return pa.array([None if value != value else f"{value:.15g}" for value in values], pa.string())
    try:
        return found.cast(pa.string())
    except pa.ArrowException:
        raise UsageError(
            f"dataset {block.name}: {setting} names column {name!r} of {block.path}, which holds {found.type}: "
            "text or numbers are expected"
        ) from None


def numbers(block: Dataset, column: pa.ChunkedArray, name: str) -> np.ndarray:
    """A column's values (n,) as float64, NaN where there is none.

    Raises:  UsageError for values that are no numbers.
    """
    try:
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError):
        raise UsageError(f"dataset {block.name}: column {name!r} of {block.path} does not hold numbers") from None
