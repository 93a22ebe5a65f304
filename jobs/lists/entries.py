"""Entries of a result list as its file has them: query, item, and the rank or score that orders them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..datasets.source import Stretch
from ..datasets.values import BadValue, first_ambiguous_id, numbers_of, texts_of
from ..errors import UsageError


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Entries:
    """One row an item that was shown for a query.

    Shapes:  queries and items (n,), texts; ranks and scores (n,) finite, None where the list has none.
    columns: the file's name of `rank` and `score`, for messages. parts: the files that the rows are from, in order.
    """

    path: str
    queries: pa.Array
    items: pa.Array
    ranks: np.ndarray | None
    scores: np.ndarray | None
    columns: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Stretch, ...] = ()
    remarks: tuple[str, ...] = ()

    def place_of(self, row: int) -> str:
        """Where a row (from 0) is, for a message."""
        return place_of(row, self.parts, self.path)


def place_of(row: int, parts: Sequence[Stretch], path: str) -> str:
    """Where a row (from 0) of some files is: "row 3 of list.csv"."""
    for part in parts:
        if row < part.rows:
            return f"row {row + 1} of {part.file}"
        row -= part.rows
    return f"row {row + 1} of {path}"


def texts(table: pa.Table, name: str, setting: str, parts: Sequence[Stretch], path: str) -> pa.Array:
    """A column of names (n,).

    Raises:  UsageError for a value that is missing, or no text.
    """
    where = f"{setting}: column {name!r}"
    try:
        found = texts_of(table[name])
    except BadValue as bad:
        raise UsageError(
            f"{where} holds {bad.value!r:.80}, which is no text, in {place_of(bad.row, parts, path)}"
        ) from None
    except (TypeError, pa.ArrowException):
        raise UsageError(f"{where} of {path} holds {table[name].type}: text or numbers are expected") from None
    ambiguous = first_ambiguous_id(table[name])
    if ambiguous is not None:
        raise UsageError(
            f"{where} holds {ambiguous.value:.0f} as a float in {place_of(ambiguous.row, parts, path)}, too large to "
            "tell it from its neighbours: store ids as text or whole numbers"
        )
    absent = pc.index(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(found), ""), True), True).as_py()
    if absent >= 0:
        raise UsageError(f"{where} has no value in {place_of(absent, parts, path)}")
    return found


def numbers(table: pa.Table, name: str, setting: str, parts: Sequence[Stretch], path: str) -> np.ndarray:
    """A column of finite numbers (n,).

    Raises:  UsageError for a value that is missing, or no number.
    """
    where = f"{setting}: column {name!r}"
    try:
        found = numbers_of(table[name])
    except BadValue as bad:
        place = place_of(bad.row, parts, path)
        raise UsageError(f"{where} holds {bad.value!r:.80} in {place}: a number is expected") from None
    except (TypeError, pa.ArrowException):
        raise UsageError(f"{where} of {path} holds {table[name].type}: numbers are expected") from None
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        what = "no value" if np.isnan(found[wrong[0]]) else f"{found[wrong[0]]}"
        raise UsageError(f"{where} has {what} in {place_of(int(wrong[0]), parts, path)}: a number is expected")
    return found
