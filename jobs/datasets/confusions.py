"""What a configuration says of wrong labels, as the library takes it: a table in the file, or one beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from mprlib import Confusion, InputError
from mprlib.confusion import SUM_TOLERANCE, Amounts

from ..errors import UsageError
from . import table_files
from .block import Attribute
from .table_folder import table_files as files_at
from .values import BadValue, numbers_of, texts_of

# The columns of a table of pairs of levels, and what it may hold of each.
TRUE, PREDICTED = "true", "predicted"
AMOUNTS: tuple[Amounts, ...] = ("count", "share")


def confusion_of(attribute: Attribute, folder: Path) -> Confusion | None:
    """How often an attribute's labels are wrong; None where nothing is said of it.

    folder: where relative paths start from.
    Raises:  UsageError for a file or numbers that say nothing of the kind.
    """
    given = attribute.confusion
    if given is None:
        return None
    amounts, table = read_confusion(given, folder) if isinstance(given, str) else (None, given)
    try:
        return Confusion.from_table(table, amounts)
    except InputError as error:
        # The setting, which is named before it, is called so already.
        said = str(error).removeprefix("confusion").lstrip(": ")
        raise UsageError(f"{given}: {said}" if isinstance(given, str) else said) from None


def read_confusion(path: str, folder: Path) -> tuple[Amounts, Mapping[str, Mapping[str, float]]]:
    """What a file's numbers are, which its column's name says, and the numbers by true and predicted level.

    Raises:  UsageError naming file, line (of Parquet the row) and column.
    """
    files, _ = files_at(folder / path, table_files.SUFFIXES)
    names = table_files.names(files[0].path)
    if all(name in names for name in AMOUNTS):
        raise UsageError(f"{path} has a column {' and a column '.join(AMOUNTS)}: one of them is expected")
    amount = next((name for name in AMOUNTS if name in names), AMOUNTS[0])
    table, stretches = table_files.read(files, dict.fromkeys((TRUE, PREDICTED, amount), ""))

    def place_of(row: int) -> str:
        return table_files.place_of(row, stretches)

    levels = [_texts(table, name, place_of) for name in (TRUE, PREDICTED)]
    found: dict[str, dict[str, float]] = {}
    for row, (true, predicted, value) in enumerate(zip(*levels, _amounts(table, amount, place_of).tolist())):
        of_level = found.setdefault(true, {})
        if predicted in of_level:
            raise UsageError(f"{place_of(row)}: true {true!r} and predicted {predicted!r} are there a second time")
        of_level[predicted] = value
    _expect_rows(levels, found, amount, place_of)
    return amount, found


def _expect_rows(
    levels: list[list[str]], table: Mapping[str, Mapping[str, float]], amount: Amounts, place_of: Callable[[int], str]
) -> None:
    """Raises:  UsageError, with its place, for a predicted level that is no true one, and for shares that sum to other
    than 1."""
    for row, (true, predicted) in enumerate(zip(*levels)):
        if predicted not in table:
            raise UsageError(
                f"{place_of(row)}: no row has the predicted level {predicted!r} as its true one: rows of every level "
                f"are expected, true levels are {', '.join(table)}"
            )
        total = math.fsum(table[true].values())
        if amount == "share" and abs(total - 1.0) > SUM_TOLERANCE:
            raise UsageError(f"{place_of(row)}: shares of true {true!r} sum to {total:g}: 1 is expected")


def _texts(table: pa.Table, name: str, place_of: Callable[[int], str]) -> list[str]:
    texts: list[str] = texts_of(table[name]).to_pylist()
    if None in texts or "" in texts:
        row = next(row for row, text in enumerate(texts) if not text)
        raise UsageError(f"{place_of(row)}: column {name!r} has no level")
    return texts


def _amounts(table: pa.Table, name: str, place_of: Callable[[int], str]) -> np.ndarray:
    try:
        values = numbers_of(table[name])
    except BadValue as bad:
        message = f"{place_of(bad.row)}: column {name!r} holds {bad.value!r:.80}: a number is expected"
        raise UsageError(message) from None
    is_bad = ~(np.isfinite(values) & (values >= 0))
    if is_bad.any():
        row = int(is_bad.argmax())
        raise UsageError(f"{place_of(row)}: column {name!r} holds {values[row]:g}: 0 or more is expected")
    return values
