"""Values of every Arrow type as the text that a person would write, and texts as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.level_names import decimal_name

from ..store.chunks import in_one

Column: TypeAlias = "pa.ChunkedArray | pa.Array"

# What a text must be to count as a number: digits with a point, perhaps a sign and an exponent.
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
# Zeros of times that say nothing: those that end a fraction of a second, and midnight where there is no time zone.
FRACTION_ZEROS = (r"(\.[0-9]*?)0+(Z|[+-][0-9]{4})?$", r"\1\2")
BARE_POINT = (r"\.(Z|[+-][0-9]{4})?$", r"\1")
MIDNIGHT = (r" 00:00:00$", "")


class BadValue(ValueError):
    """A value that is not what its column is asked for."""

    def __init__(self, row: int, value: object) -> None:
        super().__init__(f"row {row}: {value!r}")
        self.row = row
        self.value = value


def texts_of(column: Column) -> pa.Array:
    """Each value as text (n,); null where there is none.

    Whole floats have no point, other floats the fewest digits that give them back, NaN is no value. Decimals are
    written alike, whatever their scale. Times lose zeros that say nothing, bytes are read as UTF-8.
    Raises:  TypeError for a type that has no text, such as lists; BadValue for bytes that are none.
    """
    values = _plain(column)
    kind = values.type
    if pa.types.is_floating(kind):
        return _float_texts(values)
    if pa.types.is_decimal(kind):
        return _by_distinct(values, decimal_name)
    if pa.types.is_nested(kind):
        raise TypeError(f"{kind} has no text")
    try:
        texts = values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise TypeError(f"{kind} has no text") from None
    except pa.ArrowInvalid as error:
        raise _first_bad_bytes(values) or TypeError(f"{kind} has no text: {error}") from None
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        for pattern, replacement in (FRACTION_ZEROS, BARE_POINT, MIDNIGHT):
            texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def numbers_of(column: Column) -> np.ndarray:
    """Each value as a number (n,) float64; NaN where there is none.

    Raises:  TypeError for a type that holds no numbers; BadValue for a text that is none.
    """
    values = _plain(column)
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers: np.ndarray = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return numbers
    if not (holds_texts(kind) or pa.types.is_null(kind)):
        raise TypeError(f"{kind} holds no numbers")
    texts = pc.utf8_trim_whitespace(texts_of(values))
    is_number = pc.match_substring_regex(texts, NUMBER)
    is_wrong = pc.and_(pc.invert(is_number), pc.not_equal(texts, ""))
    row = pc.index(is_wrong, True).as_py()
    if row >= 0:
        raise BadValue(row, texts_of(values)[row].as_py())
    found = pc.if_else(is_number, texts, None).fill_null("nan")
    written: np.ndarray = found.to_numpy(zero_copy_only=False)
    return written.astype(np.float64)


def first_ambiguous_id(column: Column) -> BadValue | None:
    """The first float that several whole numbers round to: beyond its digits, neighbours are one value."""
    values = _plain(column)
    if not pa.types.is_floating(values.type):
        return None
    numbers = values.to_numpy(zero_copy_only=False)
    largest = 2.0 ** (np.finfo(numbers.dtype).nmant + 1)
    rows = np.flatnonzero(np.abs(numbers) >= largest)
    return BadValue(int(rows[0]), float(numbers[rows[0]])) if rows.size else None


def holds_lists(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's lists."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def holds_texts(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's texts, or bytes that may be one."""
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
            pa.types.is_fixed_size_binary,
        )
    )


def _plain(column: Column) -> pa.Array:
    """The values themselves, however they are encoded."""
    values = in_one(column)
    if isinstance(values.type, getattr(pa, "UuidType", ())):
        return pa.array([None if one is None else str(one) for one in values.to_pylist()], pa.string())
    if isinstance(values.type, pa.BaseExtensionType):
        return _plain(values.storage)
    if pa.types.is_dictionary(values.type):
        return _plain(values.dictionary_decode())
    if pa.types.is_run_end_encoded(values.type):
        return _plain(pc.run_end_decode(values))
    return values


def _float_texts(values: pa.Array) -> pa.Array:
    distinct, codes = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)
    texts = [None if np.isnan(one) else str(int(one)) if float(one).is_integer() else str(one) for one in distinct]
    return pa.array(texts, pa.string()).take(pa.array(codes.reshape(-1)))


def _by_distinct(values: pa.Array, text_of: Callable[[Any], str]) -> pa.Array:
    encoded = values.dictionary_encode()
    texts = [None if one is None else text_of(one) for one in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _first_bad_bytes(values: pa.Array) -> BadValue | None:
    for row, value in enumerate(values.to_pylist() if holds_texts(values.type) else ()):
        try:
            _ = value.decode("utf-8") if isinstance(value, bytes) else None
        except UnicodeDecodeError:
            return BadValue(row, value)
    return None
