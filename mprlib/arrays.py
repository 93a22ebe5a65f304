"""Arguments as read-only arrays of finite numbers, and the message for an argument that cannot be one."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mprlib.errors import InputError
from mprlib.frames import matching

FloatArray = NDArray[np.floating]
IntArray = NDArray[np.integer]
BoolArray = NDArray[np.bool_]

LARGEST = float(np.finfo(float).max)
# Numbers from which on a product of them is faster than a look at each.
MANY_NUMBERS = 10_000
# Kinds of numpy types that are numbers: floating point, whole, unsigned, truth values.
NUMBERS = "fiub"
OTHER_KINDS = {"U": "text", "S": "text", "M": "dates", "m": "durations", "c": "complex numbers", "V": "records"}


def finite(
    name: str, value: Any, *, ndim: int, columns: list[int] | None = None, dtype: Any = np.float64
) -> FloatArray:
    """A read-only float array of that many dimensions; embeddings (dtype None) keep their own float type.

    columns: of a frame, which ones and in which order; by default all in their own order.
    Raises:  InputError naming the argument, and a frame's column.
    """
    is_array = type(value) is np.ndarray or matching.column_names(value) is None
    given = numeric(name, value) if is_array else _columns(name, value, columns)
    array = given.astype(np.float64, copy=False) if dtype is not None or given.dtype.kind != "f" else given
    if array.ndim != ndim:
        raise InputError(f"{name} has shape {array.shape}: {ndim} dimension{'s' * (ndim > 1)} expected")
    _expect_finite(name, array)
    if array is given:
        # The caller keeps its own array writeable; what the problem holds must not change under it.
        array = array.copy() if dtype is not None else array.view()
    array.flags.writeable = False
    return array


def numeric(name: str, value: Any) -> NDArray[Any]:
    """The value as an array of numbers, of whatever type; text that looks like a number is none.

    Raises:  InputError naming the argument.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be read as numbers: {error}") from None
    kind = array.dtype.kind
    if kind in NUMBERS:
        return array
    if kind != "O":
        shown = f" ({array.flat[0].item()!r})" if array.size else ""
        what = f"{OTHER_KINDS.get(kind, array.dtype)}{shown}"
        raise InputError(f"{name} holds {what}: numbers are expected{_advice(kind)}")
    for element in array.flat:
        if not isinstance(element, (Real, Decimal, np.bool_)):
            raise InputError(f"{name} {_refused(element)}")
    try:
        return array.astype(np.float64)
    except (OverflowError, ValueError) as error:
        raise InputError(f"{name} holds a number that does not fit into 64 bits: {error}") from None


def sums_by(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sums (count,) of values (n,) that belong to the same one of some groups (n,)."""
    # numpy's own types forget that bincount sums numbers where it is given any.
    sums: Any = np.bincount(groups, weights=values, minlength=count)
    found: FloatArray = sums
    return found


def sums_by_row(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sums (B, count) of values (k,) or (B, k) by the groups (B, k) of each row."""
    rows, columns = groups.shape
    codes = groups + np.arange(0, count * rows, count)[:, None]
    return sums_by(codes.ravel(), np.broadcast_to(values, (rows, columns)).ravel(), count * rows).reshape(rows, count)


def summable(values: FloatArray) -> FloatArray:
    """The values; divided by a power of two, which is exact, where sums or differences of them could overflow."""
    power = _summing_power(values)
    return np.ldexp(values, -power) if power else values


def mean_of(values: FloatArray, weights: FloatArray | None = None) -> float:
    """The mean of numbers, by weights that sum to 1 where there are any, however large the numbers are."""
    power = _summing_power(values)
    small = np.ldexp(values, -power) if power else values
    # What numpy's own mean is, in half the time for the few items of a selection.
    mean = float(np.add.reduce(small) / small.size if weights is None else weights @ small)
    # Rounding must not take a mean of the largest numbers beyond them.
    return float(np.ldexp(np.clip(mean, small.min(), small.max()), power)) if power else mean


def distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct rows (G, l) and, for each row, the position of its like; exact equality.

    A fixed random combination of the columns orders the rows, which is twenty times faster than
    sorting whole rows; should two different rows ever meet in one number, whole rows decide.
    The order of the cells does not depend on the order of the rows.
    """
    coefficients = _coefficients(rows.shape[1])
    # Column by column: BLAS may round equal rows differently, element-wise sums may not.
    key = np.zeros(rows.shape[0])
    for column, coefficient in enumerate(coefficients):
        key += rows[:, column] * coefficient
    first, cell = _distinct(key)
    labels = rows[first]
    if np.array_equal(labels.take(cell, axis=0), rows):
        return labels, cell
    labels, cell = np.unique(rows, axis=0, return_inverse=True)
    return labels, cell.reshape(-1)


def _distinct(values: FloatArray) -> tuple[IntArray, IntArray]:
    """The first row of each distinct value, rising, and the place (n,) of each row's own among them.

    What np.unique gives, in half the time for the few rows of a request.
    """
    order = np.argsort(values, kind="stable")
    rising = values[order]
    if rising.size and np.isnan(rising[-1]):
        # Of rows of the largest numbers.
        _, first, own = np.unique(values, return_index=True, return_inverse=True)
        return first, own
    is_first = np.ones(values.size, dtype=bool)
    np.not_equal(rising[1:], rising[:-1], out=is_first[1:])
    place = np.empty(values.size, dtype=np.intp)
    place[order] = np.cumsum(is_first) - 1
    return order[is_first], place


@lru_cache(maxsize=256)
def _coefficients(columns: int) -> FloatArray:
    return np.random.default_rng(20240711).standard_normal((columns,))


def checked_weights(name: str, weights: Any, rows: int) -> FloatArray:
    """Weights (rows,) as they are, non-negative with a positive, finite sum.

    Raises:  InputError naming the argument.
    """
    array = finite(name, weights, ndim=1)
    expect_length(name, array, rows, "reference has that many rows")
    if (array < 0).any():
        raise InputError(f"{name} holds {array.min()}: weights cannot be negative")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not (np.isfinite(total) and total > 0):
        raise InputError(f"{name} sum to {total}: a positive finite sum is expected")
    return array


def expect_length(name: str, array: NDArray[Any], length: int, because: str) -> None:
    """Raises:  InputError where the array has another number of rows."""
    if array.shape[0] != length:
        raise InputError(f"{name} has {array.shape[0]} entries, {length} expected: {because}")


def _summing_power(values: FloatArray) -> int:
    if not values.size or np.abs(values).max() < LARGEST / (2 * values.size):
        return 0
    return int(np.frexp(values.size)[1]) + 1


def _columns(name: str, frame: Any, order: list[int] | None) -> FloatArray:
    names = matching.column_names(frame) or ()
    places = range(len(names)) if order is None else order
    if not names:
        return np.empty((len(frame), 0))
    try:
        columns = [matching.column(frame, place) for place in places]
    except TypeError as error:
        raise InputError(f"{name} cannot be read by columns, collect it into a table first: {error}") from None
    arrays = [numeric(f"{name}, column {names[place]!r},", one) for place, one in zip(places, columns)]
    for place, array in zip(places, arrays):
        _expect_finite(f"{name}, column {names[place]!r},", array)
    return np.column_stack(arrays)


def _expect_finite(name: str, array: NDArray[Any]) -> None:
    if not _is_finite(array):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{name} holds {array[place]} at {place if array.ndim > 1 else place[0]}: finite numbers are expected"
        )


def _is_finite(array: NDArray[Any]) -> bool:
    """Whether all numbers are finite; of many the sum of squares says so in half the time, unless it overflows."""
    if array.size >= MANY_NUMBERS and array.dtype.kind == "f" and array.flags.c_contiguous:
        numbers = array.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(numbers @ numbers):
                return True
    return bool(np.isfinite(array).all())


def _refused(element: Any) -> str:
    if isinstance(element, (str, bytes)):
        return f"holds text ({element!r}): numbers are expected{_advice('U')}"
    if element is None or type(element).__name__ in ("NAType", "NaTType"):
        return "holds a missing value: finite numbers are expected"
    return f"cannot be read as numbers: it holds a {type(element).__name__}"


def _advice(kind: str) -> str:
    return ", Problem.from_frames takes columns of levels" if kind in "US" else ""
