"""JSON lines: one object per line; numbers are the text of the file, true and false are texts too.

A key that a line lacks, null and NaN are no value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .encodings import LONGEST_MARK, UTF8, other_mark
from .table_fault import TableFault, expect_columns


class Pairs(list[tuple[str, Any]]):
    """Keys and values of an object, in order: JSON allows a key twice."""


def plain_texts(text: str) -> Any:
    """A JSON value with numbers as their texts, true and false as texts, NaN as null, and objects as Pairs.

    Raises:  ValueError, RecursionError.
    """
    return _DECODER.decode(text)


def names(path: Path) -> list[str]:
    """Keys of all lines, in order of first sight.

    Raises:  OSError, TableFault.
    """
    return list(dict.fromkeys(key for _, pairs in _objects(path) for key, _ in pairs))


def line_of(path: Path, row: int) -> int:
    """The line of a row."""
    return next(line for place, (line, _) in enumerate(_objects(path)) if place == row)


def read(path: Path, columns: Sequence[str]) -> pa.Table:
    """These columns, as texts or lists of numbers.

    Raises:  OSError, TableFault.
    """
    values: dict[str, list[Any]] = {name: [] for name in columns}
    seen: dict[str, None] = {}
    rows = 0
    for line, pairs in _objects(path):
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            for name in columns:
                if keys.count(name) > 1:
                    raise TableFault(f"the key {name!r} occurs twice", line)
        if not found.keys() <= seen.keys():
            seen.update(dict.fromkeys(found))
        for name, column in values.items():
            column.append(_value(found.get(name), name, line))
        rows += 1
    if rows:
        expect_columns(columns, list(seen))
    return pa.table({name: _column(name, column) for name, column in values.items()})


def _objects(path: Path) -> Iterator[tuple[int, Pairs]]:
    with path.open("rb") as file:
        fault = other_mark(file.read(LONGEST_MARK))
        if fault is not None:
            raise TableFault(fault)
        file.seek(0)
        for line, content in enumerate(file, start=1):
            if content.isspace():
                continue
            try:
                found = plain_texts(content.decode(UTF8 if line == 1 else "utf-8"))
            except UnicodeDecodeError:
                raise TableFault("is no UTF-8 text: save it as UTF-8", line) from None
            except json.JSONDecodeError as error:
                raise TableFault(f"is no JSON: {error.msg} at column {error.colno}", line) from None
            except RecursionError:
                raise TableFault("is nested too deeply", line) from None
            if not isinstance(found, Pairs):
                raise TableFault("a JSON object is expected in every line", line)
            yield line, found


def _value(value: Any, name: str, line: int) -> str | np.ndarray | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Pairs):
        raise TableFault(f"{name!r} is an object: text, a number or a list of numbers is expected", line)
    if isinstance(value, list):
        try:
            return np.array([np.nan if one is None else float(one) for one in value])
        except (TypeError, ValueError):
            raise TableFault(f"{name!r} is a list of something else than numbers", line) from None
    text = str(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TableFault(f"{name!r} holds half of a character", line) from None
    return text


def _column(name: str, values: list[Any]) -> pa.Array:
    kinds = {isinstance(value, np.ndarray) for value in values if value is not None}
    if len(kinds) > 1:
        raise TableFault(f"{name!r} is a list in some lines and a single value in others")
    return pa.array(values, pa.list_(pa.float64()) if kinds == {True} else pa.string())


def _constant(word: str) -> str | None:
    return None if word == "NaN" else word


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_constant, object_pairs_hook=Pairs)
