"""Tables on disk: Parquet, CSV or JSON lines, one file or a folder of them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from ..errors import UsageError
from ..words import closest
from . import csv_files, json_lines, parquet_files
from .columns import shown
from .source import Piece, Place, Stretch
from .table_fault import MissingColumn, TableFault
from .values import BadValue, first_ambiguous_id, holds_lists, texts_of

# Readers by the ending of a file's name.
FORMATS = {".parquet": parquet_files, ".csv": csv_files, ".jsonl": json_lines, ".ndjson": json_lines}
SUFFIXES = tuple(FORMATS)
# Rows and bytes (of the columns that are read, not compressed) of one part: a process that reads it holds a few copies.
PART_ROWS, PART_BYTES = 250_000, 64e6
# Bytes of a file of text that tell how long its rows are.
SAMPLED_BYTES = 65_536
# Files whose footers are read at once: a shared file system answers each after milliseconds.
LOOKS_AT_ONCE = 16
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
        raise UsageError(_error_text(file, error)) from None


def read(
    files: Sequence[Piece], columns: Mapping[str, str], id_column: str | None = None
) -> tuple[pa.Table, tuple[Stretch, ...]]:
    """Columns of all files or their pieces, one after the other, and how many rows each has.

    columns: their names, each with the setting that names it, if one does. Other columns are not looked at. id_column:
    the one of them that names the items, if any does.
    Raises:  UsageError for a file that is no table, or lacks a column; and where no file has rows.
    """
    table, rows = read_pieces(files, columns, id_column)
    if not table.num_rows:
        raise UsageError(f"{files[0].path} has no rows")
    return table, rows


def read_pieces(
    files: Sequence[Piece], columns: Mapping[str, str], id_column: str | None = None
) -> tuple[pa.Table, tuple[Stretch, ...]]:
    """The same, also where there are no rows."""
    parts = [_read_one(files, file, columns) for file in files]
    rows = tuple(Stretch(file=str(file.path), rows=part.num_rows, first=file.start) for file, part in zip(files, parts))
    filled = [(file, part) for file, part in zip(files, parts) if part.num_rows] or [(files[0], parts[0])]
    stacked = {
        name: _stacked_column(name, id_column, [(file, part[name]) for file, part in filled]) for name in columns
    }
    return pa.table(stacked), rows


def place_of(row: int, stretches: Sequence[Stretch]) -> str:
    """Where a row of what was read is, as editors take it: FILE:LINE, or a row of Parquet, which has no lines."""
    within = row
    for stretch in stretches:
        if within < stretch.rows:
            line_of = getattr(FORMATS[Path(stretch.file).suffix.lower()], "line_of", None)
            line = None if line_of is None else line_of(Path(stretch.file), stretch.first + within)
            return f"{stretch.file}, row {stretch.first + within + 1}" if line is None else f"{stretch.file}:{line}"
        within -= stretch.rows
    raise IndexError(row)


def places(files: Sequence[Piece], columns: Collection[str]) -> tuple[Place, ...]:
    """Files, and row groups of Parquet, in parts of a size that one process reads; one part where all are small.

    Raises:  UsageError for a file that is no table.
    """
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as threads:
        pieces = [sized for found in threads.map(lambda file: _pieces(file, columns), files) for sized in found]
    grouped: list[list[Piece]] = []
    sizes: list[tuple[int, float]] = []
    rows, size_bytes = 0, 0.0
    for piece, piece_rows, piece_bytes in pieces:
        if not grouped or not _is_small(rows + piece_rows, size_bytes + piece_bytes):
            grouped.append([])
            sizes.append((0, 0.0))
            rows, size_bytes = 0, 0.0
        rows, size_bytes = rows + piece_rows, size_bytes + piece_bytes
        sizes[-1] = rows, size_bytes
        _append_piece(grouped[-1], piece)
    return tuple(Place(pieces=tuple(together), is_small=_is_small(*size)) for together, size in zip(grouped, sizes))


def _is_small(rows: int, size_bytes: float) -> bool:
    return rows <= PART_ROWS and size_bytes <= PART_BYTES


def _append_piece(pieces: list[Piece], piece: Piece) -> None:
    """Put a piece behind others; neighbouring rows of a file are one."""
    last = pieces[-1] if pieces else None
    if last is not None and last.path == piece.path and last.stop == piece.start:
        pieces[-1] = replace(last, stop=piece.stop)
    else:
        pieces.append(piece)


def _pieces(file: Piece, columns: Collection[str]) -> list[tuple[Piece, int, float]]:
    """A file's pieces, with rows, of texts about as many, and bytes."""
    try:
        if FORMATS[file.path.suffix.lower()] is not parquet_files:
            return [_text_piece(file)]
        groups = parquet_files.group_sizes(file.path, columns)
    except (OSError, TableFault) as error:
        raise UsageError(_error_text(file.path, error)) from None
    found, start = [], 0
    for rows, size_bytes in groups:
        slices = max(1, math.ceil(rows / PART_ROWS), math.ceil(size_bytes / PART_BYTES))
        edges = [start + rows * edge // slices for edge in range(slices + 1)]
        found += [
            (replace(file, start=low, stop=high), high - low, size_bytes / slices) for low, high in pairwise(edges)
        ]
        start += rows
    return found or [(file, 0, 0.0)]


def _text_piece(file: Piece) -> tuple[Piece, int, float]:
    """A whole file of text, with as many rows as it has if all are as long as its first."""
    size_bytes = file.path.stat().st_size
    with file.path.open("rb") as stream:
        start = stream.read(SAMPLED_BYTES)
    return file, start.count(b"\n") * size_bytes // max(len(start), 1), float(size_bytes)


def _read_one(files: Sequence[Piece], file: Piece, columns: Mapping[str, str]) -> pa.Table:
    reader = FORMATS[file.path.suffix.lower()]
    try:
        # What a folder's name says and the file too is taken from the file.
        own = set(reader.names(file.path)) if file.partition else set()
        told = {name: value for name, value in file.partition.items() if name in columns and name not in own}
        named = [name for name in columns if name not in told]
        if file.stop is None:
            table = reader.read(file.path, named)
        else:  # only Parquet has pieces that can be read apart
            table = parquet_files.read(file.path, named, file.start, file.stop)
    except MissingColumn as missing:
        raise UsageError(_missing_column_text(files, file, missing, columns[missing.name])) from None
    except (OSError, TableFault) as error:
        raise UsageError(_error_text(file.path, error)) from None
    for name, value in told.items():
        table = table.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
    return table.select(list(columns))


def _stacked_column(
    name: str, id_column: str | None, parts: Sequence[tuple[Piece, pa.ChunkedArray]]
) -> pa.ChunkedArray:
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


def _numbers(name: str, file: Piece, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(LISTS)
    except pa.ArrowException:
        raise UsageError(
            f"column {name!r} of {file.path} holds {column.type}: text, numbers or lists of numbers are expected"
        ) from None


def _texts(name: str, file: Piece, column: pa.ChunkedArray, *, is_id: bool) -> pa.Array:
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


def _missing_column_text(files: Sequence[Piece], file: Piece, missing: MissingColumn, setting: str) -> str:
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
    named = f"{setting}: " if setting else ""
    return f"{named}{file.path} lacks the column {missing.name!r}; it has {shown(has)}{hint}"


def _error_text(file: Path, error: Exception) -> str:
    reason = str(error) if isinstance(error, TableFault) else getattr(error, "strerror", None) or str(error)
    line = getattr(error, "line", None)
    return f"cannot read {file}{f':{line}' if line else ''}: {reason}"
