"""Columns of whatever has named columns, and the distinct values of one.

A frame is a data frame of pandas, polars, pyarrow and what else narwhals knows, a mapping of names to arrays or lists,
or any object that names its columns and gives one by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from mprlib.errors import InputError, shown
from mprlib.frames.matching import column, column_names, listed, names_of
from mprlib.spelling import nearest

# Kinds of numpy types whose values sort: truth values, whole numbers, floating point, text.
SORTABLE = "biufU"
# What libraries of frames call numbers of fewer than 64 bits, which they give out as 64.
FEW_BITS: dict[str, type[np.floating]] = {
    "Float32": np.float32, "float": np.float32, "Float16": np.float16, "halffloat": np.float16
}  # fmt: skip


class Distinct(NamedTuple):
    """The distinct values of a column, None for a missing one, and the place (n,) of every row's among them."""

    values: list[Any]
    places: np.ndarray


def is_frame(value: Any) -> bool:
    """Whether columns can be taken from it by name."""
    return isinstance(value, Mapping) or _is_lazy(value) or column_names(value) is not None


def _is_lazy(value: Any) -> bool:
    """Whether a frame has no rows before it is collected."""
    return hasattr(value, "collect") and hasattr(value, "select")


def columns_of(argument: str, frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Columns of a frame by name, all of one length.

    Raises:  InputError for what is no frame, for a lazy one, for a name that it does not have once, and for columns of
             several lengths.
    """
    if type(frame) is dict and all(type(key) is str for key in (*frame, *names)):
        # Columns of such names are there once, and nothing of them has to be asked of a library.
        found = {name: frame[name] for name in names if isinstance(frame.get(name), np.ndarray) and frame[name].ndim}
        if len(found) == len(names) and len({values.shape[0] for values in found.values()}) == 1:
            return found
    found = {str(name): column_called(argument, frame, str(name)) for name in names}
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise InputError(f"{argument} has columns of several lengths: {told} rows")
    return found


def column_called(argument: str, frame: Any, name: str) -> Any:
    """The column of that name.

    Raises:  InputError as `columns_of`.
    """
    [name] = names_of("name of a column", [name])
    if not is_frame(frame):
        raise InputError(f"{argument} is a {type(frame).__name__}: a data frame is expected")
    _refuse_lazy(argument, frame)
    names = tuple(map(str, frame)) if isinstance(frame, Mapping) else column_names(frame) or ()
    if names.count(name) != 1:
        found = f"several columns called {name!r}" if names.count(name) else f"no column {name!r}"
        raise InputError(f"{argument} has {found}: it has {listed(names)}{_hint(frame, names, name)}")
    values = frame[list(frame)[names.index(name)]] if isinstance(frame, Mapping) else column(frame, names.index(name))
    return _with_length(f"{argument}, column {name!r},", values)


def _with_length(said: str, values: Any) -> Any:
    """The values of a column, of which there is a number."""
    try:
        if not isinstance(values, (str, bytes)):
            counted = values if hasattr(values, "__len__") else list(values)
            len(counted)  # an array of no dimension has the method, and no number
            return counted
    except TypeError:
        pass
    raise InputError(f"{said} is {shown(values)}: a list of values, one for each row, is expected")


def distinct_values(column: Any) -> Distinct:
    """The distinct values of a column: a frame's series, an array or a list.

    Raises:  TypeError for values that are lists or mappings.
    """
    values = _plain_values(column)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "Mm":
        values = list(values)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in SORTABLE:
        found, places = np.unique(values, return_inverse=True)
        return Distinct([None if one != one else own_value(one) for one in found], places)
    code: dict[Any, int] = {}
    listed_values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    # By type as well: True equals 1, and would be called by the name of whichever comes first.
    keys = ((type(one), one) for one in (None if is_missing(one) else one for one in listed_values))
    places = np.fromiter((code.setdefault(key, len(code)) for key in keys), np.intp, len(listed_values))
    return Distinct([own_value(one) for _, one in code], places)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN of whatever type, or a library's own."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value))
    )


def own_value(value: Any) -> Any:
    """A value of numpy's as Python has it: a number of few bits by the digits that it is written with, a date as one.

    >>> own_value(np.float32(0.1)), str(own_value(np.datetime64("2020-01-01T00:00:00.000000000")))
    (0.1, '2020-01-01 00:00:00')
    """
    if isinstance(value, np.floating):
        # Whole numbers of few bits have all their digits; 0.1 is the number whose nearest neighbour it is.
        number = float(value)
        return number if number.is_integer() else float(str(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        whole = value.astype(f"{type(value).__name__[:-2]}64[us]")
        # Parts of a microsecond, which Python's own dates cannot hold, stay in the text.
        return whole.item() if whole == value else str(value).replace("T", " ")
    return value.item() if isinstance(value, np.generic) else value


def native_frame(argument: str, frame: Any) -> Any:
    """The frame as narwhals has it.

    Raises:  InputError for what narwhals does not know, and for a lazy frame.
    """
    import narwhals.stable.v2 as narwhals

    try:
        return narwhals.from_native(frame, eager_only=True)
    except TypeError:
        _refuse_lazy(argument, frame)
        kind = type(frame).__name__
        raise InputError(f"{argument} is a {kind}: a data frame of pandas, polars or pyarrow is expected") from None


def _plain_values(column: Any) -> Any:
    """A column as an array, or as a list of Python's own values."""
    if isinstance(column, (np.ndarray, list, tuple)):
        return column
    if type(column).__module__.partition(".")[0] == "pyarrow" and hasattr(column, "to_pylist"):
        return _in_few_bits(column.to_pylist(), FEW_BITS.get(str(column.type)))
    import narwhals.stable.v2 as narwhals

    series = narwhals.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, narwhals.Series):
        return series if isinstance(series, Sequence) else np.asarray(series)
    if series.dtype.is_numeric() and not series.is_null().any():
        return series.to_numpy()
    return _in_few_bits(series.to_list(), FEW_BITS.get(str(series.dtype)))


def _in_few_bits(values: list[Any], kind: type[np.floating] | None) -> list[Any]:
    """Numbers that a library widened to 64 bits in those that they had; as they are where kind is None."""
    return values if kind is None else [None if one is None else kind(one) for one in values]


def _refuse_lazy(argument: str, frame: Any) -> None:
    if _is_lazy(frame):
        raise InputError(f"{argument} is a lazy frame ({type(frame).__name__}): collect it first, {argument}.collect()")


def _hint(frame: Any, names: Iterable[str], wanted: str) -> str:
    """What may have been meant by a name that is no column."""
    names = list(names)
    close = nearest(wanted, names)
    if close is not None:
        return f"; did you mean {close!r}?"
    for name in names:
        try:
            values = distinct_values(frame[name]).values
        except (TypeError, KeyError):
            continue
        if wanted in values:
            return f"; {wanted!r} is a value of its column {name!r}"
    return ""
