"""Tables on disk: Parquet, CSV or JSON lines, one file or a folder of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from jobs.datasets import csv_files, json_lines, parquet_files
from jobs.datasets.columns import shown
from jobs.datasets.source import Part
from jobs.datasets.table_fault import MissingColumn, TableFault
from jobs.datasets.table_folder import TableFile
from jobs.datasets.values import BadValue, first_ambiguous_id, holds_lists, texts_of
from jobs.errors import UsageError
from jobs.words import closest

# Readers by the ending of a file's name.
FORMATS = {".parquet": parquet_files, ".csv": csv_files, ".jsonl": json_lines, ".ndjson": json_lines}
SUFFIXES = tuple(FORMATS)
# Vectors of files that store them in different numbers.
LISTS = pa.large_list(pa.float64())
# Names of columns are short and alike: a slip leaves more than half of the letters.
LIKENESS_OF_COLUMNS = 0.6
# Separators that other programs take for CSV.
OTHER_SEPARATORS = (";", "\t", "|")
# What Python's own templates take after a name.
FORMAT = re.compile("[:!]")


def names(file: Path) -> list[str]:
    """Names of a file's columns.

    Raises:  UsageError for a file that is no table.
    """
    if file.suffix.lower() not in FORMATS:
        raise UsageError(f"{file} is no table: {' or '.join(SUFFIXES)} is expected")
    try:
        return list(FORMATS[file.suffix.lower()].names(file))
    except (OSError, TableFault) as error:
        raise UsageError(_fault(file, error)) from None


def read(
    files: Sequence[TableFile], columns: Mapping[str, str], id_column: str | None = None
) -> tuple[pa.Table, tuple[Part, ...]]:
    """Columns of all files, one after the other, and how many rows each has.

    columns: their names, each with the setting that names it. Other columns are not looked at. id_column: the one
    of them that names the items, if any does.
    Raises:  UsageError for a file that is no table, or lacks a column; and where no file has rows.
    """
    parts = [_read_one(files, file, columns) for file in files]
    rows = tuple(Part(file=str(file.path), rows=part.num_rows) for file, part in zip(files, parts))
    if not sum(part.rows for part in rows):
        raise UsageError(f"{files[0].path} has no rows")
    filled = [(file, part) for file, part in zip(files, parts) if part.num_rows]
    stacked = {name: _stacked(name, id_column, [(file, part[name]) for file, part in filled]) for name in columns}
    return pa.table(stacked), rows


def fingerprint(files: Sequence[TableFile]) -> str:
    """SHA-256 of the files' content, and of what their folders' names say of the rows."""
    digest = hashlib.sha256()
    for file in files:
        if file.partition:
            digest.update(repr(sorted(file.partition.items())).encode())
        with file.path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _read_one(files: Sequence[TableFile], file: TableFile, columns: Mapping[str, str]) -> pa.Table:
    reader = FORMATS[file.path.suffix.lower()]
    try:
        # What a folder's name says and the file too is taken from the file.
        own = set(reader.names(file.path)) if file.partition else set()
        told = {name: value for name, value in file.partition.items() if name in columns and name not in own}
        table = reader.read(file.path, [name for name in columns if name not in told])
    except MissingColumn as missing:
        raise UsageError(_lack(files, file, missing, columns[missing.name])) from None
    except (OSError, TableFault) as error:
        raise UsageError(_fault(file.path, error)) from None
    for name, value in told.items():
        table = table.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
    return table.select(list(columns))


def _stacked(name: str, id_column: str | None, parts: Sequence[tuple[TableFile, pa.ChunkedArray]]) -> pa.ChunkedArray:
    """One column of all files; where their types differ, each value is the text that it has in its file."""
    kinds = {column.type for _, column in parts}
    if len(kinds) == 1 and not any(map(pa.types.is_dictionary, kinds)):
        return pa.chunked_array([chunk for _, column in parts for chunk in column.chunks], type=kinds.pop())
    if all(map(holds_lists, kinds)):
        lists = [chunk for file, column in parts for chunk in _numbers(name, file, column).chunks]
        return pa.chunked_array(lists, type=LISTS)
    return pa.chunked_array(
        [_texts(name, file, column, is_id=name == id_column) for file, column in parts], type=pa.string()
    )


def _numbers(name: str, file: TableFile, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(LISTS)
    except pa.ArrowException:
        raise UsageError(
            f"column {name!r} of {file.path} holds {column.type}: text, numbers or lists of numbers are expected"
        ) from None


def _texts(name: str, file: TableFile, column: pa.ChunkedArray, *, is_id: bool) -> pa.Array:
    try:
        ambiguous = first_ambiguous_id(column) if is_id else None
        if ambiguous is not None:
            raise ambiguous
        return texts_of(column)
    except (TypeError, pa.ArrowException):
        reason = f"holds {column.type}, and something else in another file"
    except BadValue as bad:
        reason = f"holds {bad.value!r:.80} in row {bad.row + 1}, which is no text"
    raise UsageError(f"column {name!r} of {file.path} {reason}")


def _lack(files: Sequence[TableFile], file: TableFile, missing: MissingColumn, setting: str) -> str:
    if file is not files[0]:
        return f"{file.path} lacks the column {missing.name!r} that {files[0].path} has"
    has = [*missing.names, *file.partition]
    for separator in OTHER_SEPARATORS:
        fields = [field.strip('" ') for name in has if separator in name for field in name.split(separator)]
        if missing.name in fields:
            return f"{file.path} has {separator!r} between its fields: commas are expected"
    hint = ""
    if any(missing.name == name.strip() for name in has):
        hint = "; white space around a name is part of it"
    elif close := closest(missing.name, has, LIKENESS_OF_COLUMNS):
        hint = f"; did you mean {close!r}?"
    if setting == "text" and FORMAT.search(missing.name):
        hint = f"{hint}; text takes columns as {{name}}, without a format"
    return f"{setting}: {file.path} lacks the column {missing.name!r}; it has {shown(has)}{hint}"


def _fault(file: Path, error: Exception) -> str:
    reason = str(error) if isinstance(error, TableFault) else getattr(error, "strerror", None) or str(error)
    line = getattr(error, "line", None)
    return f"cannot read {file}{f':{line}' if line else ''}: {reason}"
