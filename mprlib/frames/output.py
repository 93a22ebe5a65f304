"""Tables as data frames: of the kind that came in, else of the first library that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from mprlib.errors import InputError, shown
from mprlib.frames.columns import native_frame
from mprlib.spelling import numbered

# In the order in which they are looked for.
KINDS = ("pandas", "polars", "pyarrow")


def made(columns: Mapping[str, Sequence[Any] | Any], kind: str | None = None) -> Any:
    """A data frame of these columns, of that kind; by default of pandas where it is installed, else polars, pyarrow.

    Raises:  InputError for an unknown kind, and where no library of frames is installed.
    """
    import narwhals.stable.v2 as narwhals

    return narwhals.from_dict(dict(columns), backend=_checked_kind(kind)).to_native()


def kind_of(frame: Any) -> str | None:
    """The kind of a frame, None for what is of none: tables that come out are like those that went in."""
    module = type(frame).__module__.partition(".")[0]
    return module if module in KINDS else None


def rows_of(argument: str, frame: Any, places: Sequence[int], added: Mapping[str, Sequence[Any]]) -> Any:
    """Rows of a frame in an order, with columns before its own.

    Raises:  InputError for what is no frame, one that is too short, and one that has such a column.
    """
    import narwhals.stable.v2 as narwhals

    table = native_frame(argument, frame)
    if places and max(places) >= len(table):
        raise InputError(
            f"{argument} has {numbered(len(table), 'row')}, and the selection has position {max(places)}: the frame "
            "that the problem was made of is expected"
        )
    taken = [name for name in added if name in table.columns]
    if taken:
        raise InputError(f"{argument} has a column {taken[0]!r} already: rename it, or leave it out")
    rows = table[list(places)]
    columns = [narwhals.new_series(name, list(values), backend=table.implementation) for name, values in added.items()]
    if kind_of(frame) == "pandas":
        columns = [
            narwhals.from_native(one.to_native().set_axis(rows.to_native().index), series_only=True) for one in columns
        ]
    return rows.with_columns(*columns).select(*added, *table.columns).to_native()


def _checked_kind(kind: str | None) -> Any:
    if kind is None:
        installed = next((name for name in KINDS if find_spec(name)), None)
        if installed is None:
            raise InputError("no library of data frames is installed: pip install pandas, or polars, or pyarrow")
        return installed
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"kind is {shown(kind)}: one of {', '.join(KINDS)} is expected")
    if not find_spec(kind):
        raise InputError(f"kind is {kind!r}, which is not installed: pip install {kind}")
    return kind
