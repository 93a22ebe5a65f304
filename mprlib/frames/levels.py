"""Values of a column as levels of an attribute: the text that a person would write, or the range of numbers it is in.

    missing (None, NaN, an empty text)    no level here; who encodes it gives it a name, `unknown`
    truth values                          true, false
    numbers                               without a point where they are whole; 34.5
    numbers with bins [30, 50]            under 30, 30 to under 50, 50 and over

>>> coded("people", "age", [17, 30, 80, None], (30, 50))
Coded(codes=array([ 2,  0,  1, -1]), levels=('30 to under 50', '50 and over', 'under 30'))
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mprlib.errors import InputError, shown
from mprlib.frames.columns import Distinct, distinct_values, is_missing, own_value
from mprlib.level_names import UNKNOWN, bin_names, decimal_name

# Zeros that end a fraction of a second, the point that they leave, and the hours and minutes of a zone.
FRACTION_ZEROS, BARE_POINT = re.compile(r"(\.\d*?)0+(?=$|[Z+-])"), re.compile(r"\.(?=$|[Z+-])")
ZONE = re.compile(r"([+-]\d\d):(\d\d)$")
# Numbers of more different values than this are measurements: nobody reads a table of as many groups.
MOST_NUMBERS = 20


class Coded(NamedTuple):
    """A column's levels, in the order of their names, and the place (n,) of every row's among them; -1 for none."""

    codes: np.ndarray
    levels: tuple[str, ...]


def coded(argument: str, name: str, column: Any, bins: tuple[float, ...] | None = None) -> Coded:
    """A column as levels.

    Raises:  InputError for lists and mappings, for numbers of many values without bins, and for bins of text.
    """
    try:
        distinct = distinct_values(column)
    except TypeError:
        raise InputError(
            f"{argument}, column {name!r}, holds lists or mappings: names of levels are expected"
        ) from None
    texts = _texts(argument, name, distinct) if bins is None else _ranges(argument, name, distinct, bins)
    levels = sorted({text for text in texts if text is not None})
    place = {level: code for code, level in enumerate(levels)}
    codes = np.array([-1 if text is None else place[text] for text in texts], dtype=np.intp)
    return Coded(codes=codes[distinct.places], levels=tuple(levels))


def coded_as(column: Any, levels: tuple[str, ...]) -> Coded | None:
    """An array or a list of some known levels; None for any other: a fast way for what was seen before."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "U" and column.ndim == 1:
        # Whoever comes here solves next, and has the compiler loaded.
        from mprlib.frames.text_kernel import places

        codes = np.empty(column.size, dtype=np.intp)
        return Coded(codes=codes, levels=levels) if places(_letters(column), _known(levels), codes) else None
    values = column.tolist() if isinstance(column, np.ndarray) and column.ndim == 1 else column
    if not isinstance(values, (list, tuple)):
        return None
    place_of = {level: place for place, level in enumerate(levels)}
    try:
        codes = np.array([place_of.get(value, -1) for value in values], dtype=np.intp)
    except TypeError:  # lists, which no dictionary holds: said where they are read
        return None
    return Coded(codes=codes, levels=levels) if codes.min(initial=0) >= 0 else None


@lru_cache(maxsize=256)
def _known(levels: tuple[str, ...]) -> np.ndarray:
    """The letters of levels."""
    return _letters(np.array(levels))


def _letters(texts: np.ndarray) -> np.ndarray:
    """The numbers of the letters (n, w) of texts; zeros behind shorter ones."""
    given = texts
    if not (texts.dtype.isnative and texts.flags.c_contiguous):
        given = np.ascontiguousarray(texts, dtype=texts.dtype.newbyteorder("="))
    width = given.dtype.itemsize // np.dtype(np.uint32).itemsize
    return given.view(np.uint32).reshape(given.size, width) if width else np.zeros((given.size, 1), np.uint32)


def level_of(value: Any, missing: str = UNKNOWN) -> str:
    """The level that a value names wherever it stands: in a column, as the key of a table, in a list of levels.

    >>> level_of(True), level_of(1.0), level_of("woman"), level_of(None)
    ('true', '1', 'woman', 'unknown')
    """
    text = None if is_missing(value) else _text("levels", str(value), own_value(value))
    return missing if text is None else text


def levels_of(values: Any) -> np.ndarray:
    """The levels (n,) that values name, as texts."""
    if _is_text(values):
        return np.asarray(values)
    # As objects, since numpy writes what stands among texts as texts of its own.
    given = np.asarray(values, dtype=object)
    return np.array([level_of(value) for value in given.ravel().tolist()], dtype=str).reshape(given.shape)


def stated_levels(what: str, values: Any) -> np.ndarray:
    """The levels (n,) that values name, where everybody has one.

    Raises:  InputError for a missing value, which would read as a level of that name.

    >>> stated_levels("labels", [True, 1, 1.0, Decimal("1.0"), "woman"]).tolist()
    ['true', '1', '1', '1', 'woman']
    """
    given = values if _is_text(values) else np.asarray(values, dtype=object)
    is_lacking = given == "" if _is_text(given) else [is_missing(one) or one == "" for one in given.ravel().tolist()]
    if np.any(is_lacking):
        raise InputError(f"{what} has a missing value: name a level for such rows, or drop them")
    return levels_of(given)


def checked_bins(bins: Any, attributes: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Cuts by attribute.

    Raises:  InputError for an attribute that is none, and for cuts that are no rising numbers.
    """
    if bins is not None and not isinstance(bins, Mapping):
        raise InputError(f"bins is {shown(bins)}: a mapping is expected, as in bins={{'age': [30, 50]}}")
    checked = {}
    for name, cuts in (bins or {}).items():
        if name not in attributes:
            raise InputError(f"bins names {name!r}, which is none of the attributes: {', '.join(attributes)}")
        is_array = isinstance(cuts, np.ndarray) and cuts.ndim > 0
        is_list = is_array or (isinstance(cuts, Sequence) and not isinstance(cuts, (str, bytes)))
        numbers = list(cuts) if is_list else []
        if not numbers or not all(_is_number(one) and np.isfinite(_near(one)) for one in numbers):
            raise InputError(f"bins[{name!r}] is {shown(cuts)}: a list of numbers is expected, as in [30, 50]")
        if any(low >= high for low, high in pairwise(numbers)):
            raise InputError(f"bins[{name!r}] is {cuts!r}: cuts in rising order are expected")
        checked[str(name)] = tuple(map(float, numbers))
    return checked


def _texts(argument: str, name: str, distinct: Distinct) -> list[str | None]:
    found = [one for one in distinct.values if _is_number(one)]
    if len(found) > MOST_NUMBERS:
        numbers = sorted(map(_near, found))
        cuts = [f"{cut:.3g}" for cut in np.quantile(numbers, [1 / 3, 2 / 3])]
        raise InputError(
            f"{argument}, column {name!r}, holds {len(numbers):,} different numbers, from {numbers[0]:g} to "
            f"{numbers[-1]:g}: state where they are cut, as in bins={{{name!r}: [{', '.join(cuts)}]}}, or turn them "
            "into text where each is a group's name"
        )
    return [_text(argument, name, value) for value in distinct.values]


def _text(argument: str, name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value in (None, "") else str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        return decimal_name(value)
    if _is_number(value):
        number = float(value)
        return str(int(value)) if number.is_integer() else str(number)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (date, datetime, time)):
        return _moment(value)
    if isinstance(value, tuple):
        raise InputError(f"{argument}, column {name!r}, holds lists: names of levels are expected")
    return str(value)


def _moment(value: date | datetime | time) -> str:
    """A date or a time without zeros that say nothing, its zone as an audit's tables have it."""
    written = str(value).removesuffix(" 00:00:00")
    if isinstance(value, (datetime, time)) and value.tzinfo is not None:
        is_utc = str(value.tzinfo) == "UTC"
        written = f"{written.removesuffix('+00:00')}Z" if is_utc else ZONE.sub(r"\1\2", written)
    return BARE_POINT.sub("", FRACTION_ZEROS.sub(r"\1", written))


def _ranges(argument: str, name: str, distinct: Distinct, bins: tuple[float, ...]) -> list[str | None]:
    names = bin_names(bins)
    texts = []
    for value in distinct.values:
        if value is not None and not _is_number(value):
            raise InputError(
                f"{argument}, column {name!r}, holds {value!r}, and bins are stated for it: numbers are expected"
            )
        # Whole and decimal numbers of any length are compared as they are, and not as the nearest of 64 bits.
        texts.append(None if value is None else names[bisect_right(bins, value)])
    return texts


def _near(value: Any) -> float:
    """The number of 64 bits that is nearest."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _is_text(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "U"


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_))
