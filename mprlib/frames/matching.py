"""Columns and rows of data frames by their names, without importing the library that made them.

pandas, polars and pyarrow agree on little: a frame is whatever names its columns and gives one by its
name. Two frames are matched by column names, never by position. pandas names rows too: where two
arguments with the same rows name them differently, their order is in doubt, and they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mprlib.errors import InputError, shown

# Names that one message lists.
LARGEST_LIST = 5


class Names(tuple[str, ...]):
    """Names of the columns of what is matched like a frame and is none."""


def names_of(argument: str, given: Any, name_of: Callable[[Any], str] = str) -> tuple[str, ...]:
    """Names that a caller gave, as text.

    Raises:  InputError for a single name, and for what is no list.
    """
    try:
        if not isinstance(given, (str, bytes)):
            return tuple(map(name_of, given))
    except (TypeError, ValueError):  # no list, and whole numbers of thousands of digits
        pass
    raise InputError(f"{argument} is {shown(given)}: a list of names is expected")


def column_names(value: Any) -> tuple[str, ...] | None:
    """Names of a frame's columns as text; None for what is no frame."""
    names = _raw_names(value)
    return None if names is None else tuple(map(str, names))


def column(frame: Any, position: int) -> Any:
    """The column at that position."""
    names = _raw_names(frame) or []
    return frame[names[position]]


def matched(
    labels: Any, reference: Any, label_names: Sequence[str] | None
) -> tuple[list[int] | None, list[int] | None, Sequence[str] | None]:
    """The order in which to read the columns of both, None for their own order; and the names of the columns.

    Names that a library invents for columns without any (0, 1, ...) count as none, unless both frames have
    them in different orders.
    Raises:  InputError where two frames have other columns, or a frame's names contradict label_names.
    """
    if label_names is not None:
        label_names = names_of("label_names", label_names)
    own, others = (_names(name, value) for name, value in (("labels", labels), ("reference", reference)))
    is_reordered = own is not None and others is not None and own != others and set(own) == set(others)
    if not is_reordered:
        own, others = _without_invented(own), _without_invented(others)
    names = own or others
    if names is None:
        return None, None, label_names
    if own is not None and others is not None:
        _expect_same("reference", others, "labels", own)
    wanted = names if label_names is None else tuple(label_names)
    if wanted != names:
        given = "reference" if own is None else "labels"
        _expect_same(given, names, "label_names", wanted)
        if (own is None or others is None) and not isinstance(reference, Names):
            raise InputError(
                f"label_names and the columns of {given} are in another order ({listed(wanted)}; {listed(names)}): "
                "one order is expected, or no label_names"
            )
    return _order(own, wanted), _order(others, wanted), wanted


def expect_same_rows(arguments: Mapping[str, Any]) -> None:
    """Refuse arguments of the same rows whose indexes differ; those without an index go by position.

    Raises:  InputError naming the two.
    """
    indexed = {name: value.index for name, value in arguments.items() if _has_index(value)}
    for name, index in list(indexed.items())[1:]:
        first = next(iter(indexed))
        if len(index) == len(indexed[first]) and not index.equals(indexed[first]):
            raise InputError(
                f"{name} has another index than {first} ({listed(index)}; {listed(indexed[first])}): bring both into "
                f"one order of rows, e.g. {name}.loc[{first}.index], or pass {name}.to_numpy() where they are in one"
            )


def _raw_names(value: Any) -> list[Any] | None:
    # pyarrow's tables have their data in `columns`.
    names = getattr(value, "column_names", None)
    if names is None:
        names = getattr(value, "columns", None)
    if names is None or isinstance(names, str) or not hasattr(value, "__getitem__"):
        return None
    return list(names)


def _names(argument: str, value: Any) -> tuple[str, ...] | None:
    names = value if isinstance(value, Names) else column_names(value) or ()
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{argument} has two columns called {repeated!r}: each needs its own name")
    return names or None


def _without_invented(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names, unless they are those that pandas or polars gives to columns without any."""
    if names is None:
        return None
    places = range(len(names))
    is_invented = names in (tuple(map(str, places)), tuple(f"column_{place}" for place in places))
    return None if is_invented else names


def _expect_same(argument: str, names: Sequence[str], other: str, expected: Sequence[str]) -> None:
    missing = [name for name in expected if name not in names]
    unknown = [name for name in names if name not in expected]
    if missing or unknown:
        parts = [f"lacks {listed(missing)}"] if missing else []
        parts += [f"has {listed(unknown)} besides"] if unknown else []
        raise InputError(
            f"{argument} {' and '.join(parts)}, compared with {other}: columns are matched by name, so that both need "
            "the same names"
        )


def _order(names: tuple[str, ...] | None, wanted: Sequence[str]) -> list[int] | None:
    return None if names is None else [names.index(name) for name in wanted]


def _has_index(value: Any) -> bool:
    return hasattr(value, "iloc") and hasattr(getattr(value, "index", None), "equals")


def listed(names: Sequence[Any]) -> str:
    """The first of some names, quoted."""
    shown = ", ".join(repr(name) for name in list(names)[:LARGEST_LIST])
    return f"{shown}, ..." if len(names) > LARGEST_LIST else shown
