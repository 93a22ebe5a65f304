"""CSV: a header, commas, quotes as in RFC 4180; every field is the text of the file.

No type is guessed: 007, 1E2, 0x1, 12:30, True and NA are texts. An empty field without quotes is no value.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from .encodings import LONGEST_MARK, NUL_FAULT, UTF8, other_mark
from .table_fault import TableFault, expect_columns

# A row that is longer is no row of a table: as a rule, a quote that is never closed.
LARGEST_ROW_BYTES = 2**26
# The content of every field of one more row, which is read after the file's own: a quote that the file
# never closes would swallow all rows behind it without an error, and swallows this one too.
END = "\x1aend of the table\x1a"
# How Arrow says that a row has another number of fields. Its own hook for such rows breaks off where they are no UTF-8.
RAGGED = re.compile(
    r"Row #(?P<row>\d+): Expected (?P<expected>\d+) columns, got (?P<fields>\d+): (?P<text>.*)", re.DOTALL
)


def read(path: Path, columns: Sequence[str]) -> pa.Table:
    """These columns, as texts.

    Raises:  OSError, TableFault.
    """
    header = names(path)
    expect_columns(columns, header)
    read_options = pyarrow.csv.ReadOptions(use_threads=False, block_size=LARGEST_ROW_BYTES)
    parse_options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    convert_options = pyarrow.csv.ConvertOptions(
        include_columns=list(columns),
        # As bytes, so that what is no UTF-8 is found with its place.
        column_types=dict.fromkeys(columns, pa.binary()),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    try:
        with path.open("rb", buffering=0) as file:
            stream = io.BufferedReader(_WithEnd(file, len(header)))
            table = pyarrow.csv.read_csv(stream, read_options, parse_options, convert_options)
    except pa.ArrowException as error:
        raise _parse_fault(str(error)) from None
    rows = table.num_rows - 1
    if rows < 0 or table.column(0)[rows].as_py() != END.encode():
        raise TableFault(f"a quote that opens in row {max(rows, 0) + 1} is never closed")
    decoded = {name: _decoded(path, header.index(name), name, table[name].slice(0, rows)) for name in columns}
    return pa.table(decoded)


def names(path: Path) -> list[str]:
    """Names of the columns, as the header has them.

    Raises:  OSError, TableFault.
    """
    with path.open("rb") as file:
        fault = other_mark(file.read(LONGEST_MARK))
    if fault is not None:
        raise TableFault(fault)
    with path.open(encoding=UTF8, errors="surrogateescape", newline="") as file:
        try:
            header = next((fields for fields in csv.reader(file) if fields), None)
        except csv.Error as error:
            raise TableFault(f"its header cannot be read: {error}") from None
    if header is None:
        raise TableFault("it is empty: a header is expected")
    if any("\0" in name for name in header):
        raise TableFault(NUL_FAULT)
    return [name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for name in header]


def line_of(path: Path, row: int) -> int | None:
    """The line in which a row begins; None where it cannot be found: of a field that Python's module does not take."""
    with path.open(encoding=UTF8, errors="surrogateescape", newline="") as file:
        reader = csv.reader(file)
        before, place = 0, -1  # of the header
        try:
            for fields in reader:
                if fields and place == row:
                    return before + 1
                before, place = reader.line_num, place + bool(fields)
        except csv.Error:
            pass
    return None


def _parse_fault(message: str) -> TableFault:
    found = RAGGED.search(message)
    if "straddl" in message:
        return TableFault(f"a row is longer than {LARGEST_ROW_BYTES:,} bytes: as a rule a quote that is never closed")
    if found is None:
        return TableFault(message)
    # Rows are counted from the header.
    row = int(found["row"]) - 1
    if END in found["text"]:
        return TableFault(f"a quote that opens in row {row} is never closed")
    return TableFault(
        f"row {row} has {found['fields']} fields and the header {found['expected']}: {found['text'][:80]!r}"
    )


def _decoded(path: Path, place: int, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        line, field = _first_undecodable(path, place)
        raise TableFault(f"column {name!r} holds {field}, which is no UTF-8 text: save it as UTF-8", line) from None


def _first_undecodable(path: Path, place: int) -> tuple[int | None, str]:
    """Line and field of the first record whose field at a place is no UTF-8; no line where the search for it fails."""
    with path.open(encoding=UTF8, errors="surrogateescape", newline="") as file:
        records = csv.reader(file)
        try:
            for fields in records:
                field = fields[place].encode("utf-8", "surrogateescape") if len(fields) > place else b""
                if field.decode("utf-8", "replace").encode() != field:
                    return records.line_num, f"{field!r:.80}"
        except csv.Error:  # a field that is longer than Python's module takes
            pass
    return None, "bytes"


class _WithEnd(io.RawIOBase):
    """A file, and after it the row of END."""

    def __init__(self, file: io.RawIOBase, fields: int) -> None:
        self._parts: list[io.RawIOBase | io.BytesIO] = [file, io.BytesIO(f"\n{','.join([END] * fields)}\n".encode())]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while self._parts:
            count = self._parts[0].readinto(buffer)
            if count:
                return int(count)
            self._parts.pop(0)
        return 0
