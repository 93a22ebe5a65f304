"""A source table's columns, checked and named in errors by setting, column and file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from .block import Dataset
from .source import Source
from .template import template_columns
from .values import BadValue, numbers_of, texts_of

# The setting that names a column of vectors.
VECTOR_SETTING = "encoder.column"
# Columns that a message lists: some tables have hundreds.
SHOWN_NAMES = 30
# What programs write where there is no value. As labels these are texts (NA is Namibia).
MISSING_WORDS = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "?")


def column(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.ChunkedArray:
    """A column by its name; `setting` is the key that names it.

    Raises:  UsageError when the table lacks it.
    """
    if name not in source.column_names:
        raise UsageError(
            f"{setting} names column {name!r}, which {block.path} lacks; it has {shown(source.column_names)}"
        )
    return source[name]


def shown(names: Sequence[str]) -> str:
    """Names of columns for a message; those that would mislead the eye in quotes."""
    plain = [name if name.isprintable() and name == name.strip() != "" else repr(name) for name in names[:SHOWN_NAMES]]
    return ", ".join(plain) + (f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else "")


def named_columns(block: Dataset) -> dict[str, str]:
    """Columns that a data set's settings name, beside its id, each with the first setting that names it."""
    names = [*block.item_columns().items(), (block.relevance, "relevance"), (block.weight, "weight")]
    names += [(name, "text") for name in (template_columns(block) if block.text is not None else [])]
    names += [
        (attribute.column or name, f"attributes.{name}")
        for name, attribute in block.attributes.items()
        if attribute.probe is None
    ]
    names += [
        (column, f"attributes.{name}.probabilities.{level}")
        for name, attribute in block.attributes.items()
        for level, column in (attribute.probabilities or {}).items()
    ]
    found: dict[str, str] = {}
    for name, setting in names:
        if name is not None:
            found.setdefault(name, setting)
    return found


def strings(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.Array:
    """A column's values as text (n,), null where there is none; see `values.texts_of`.

    Raises:  UsageError for a column that is missing or holds neither text nor numbers.
    """
    found = column(block, source, name, setting)
    where = f"{setting} names column {name!r} of {block.path}, which holds"
    try:
        return texts_of(found)
    except BadValue as bad:
        raise UsageError(f"{where} bytes that are no UTF-8 text in row {bad.row + 1}: {bad.value!r:.80}") from None
    except (TypeError, pa.ArrowException):
        raise UsageError(f"{where} {found.type}: text or numbers are expected") from None


def numbers(block: Dataset, source: Source, name: str, setting: str) -> np.ndarray:
    """A column's values (n,) as float64, NaN where there is none.

    Raises:  UsageError for a column that is missing, and for values that are no numbers, with the row.
    """
    found = column(block, source.table, name, setting)
    try:
        return numbers_of(found)
    except BadValue as bad:
        hint = ": leave the field empty where there is no number" if bad.value in MISSING_WORDS else ""
        raise UsageError(
            f"{setting} needs numbers, but column {name!r} holds {bad.value!r:.80} in "
            f"{source.place_of(bad.row, block.path)}{hint}"
        ) from None
    except (TypeError, pa.ArrowException):
        raise UsageError(f"{setting} needs numbers, but column {name!r} of {block.path} holds {found.type}") from None
