"""Tables on disk: Parquet or CSV, one file or a folder of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from jobs.config.datasets import Dataset
from jobs.errors import UsageError

SUFFIXES = (".parquet", ".csv")


def files(block: Dataset, path: Path) -> list[Path]:
    """The table files at a path, by name.

    Raises:  UsageError when there is none.
    """
    try:
        is_there = path.exists()
    except OSError as error:
        raise UsageError(f"dataset {block.name}: path {str(path)[:200]}: {error.strerror}") from None
    if not is_there:
        raise UsageError(f"dataset {block.name}: path {path} does not exist")
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [file for file in found if file.suffix.lower() in SUFFIXES and file.is_file()]
    if not files:
        raise UsageError(f"dataset {block.name}: {path} is neither a .parquet or .csv file nor a folder of them")
    return files


def read(block: Dataset, files: Sequence[Path], texts: Sequence[str]) -> pa.Table:
    """The rows of all files, one after the other. texts: columns that a CSV file must not turn into numbers.

    Raises:  UsageError for a file that is no table, has no rows, or lacks a column that another has.
    """
    try:
        tables = [
            pyarrow.parquet.read_table(file)
            if file.suffix.lower() == ".parquet"
            # An id such as 007 is a name, not a number.
            else pyarrow.csv.read_csv(
                file,
                convert_options=pyarrow.csv.ConvertOptions(
                    strings_can_be_null=True, column_types=dict.fromkeys(texts, pa.string())
                ),
            )
            for file in files
        ]
        for file, part in zip(files, tables):
            missing = sorted(set(tables[0].column_names) - set(part.column_names))
            if missing:
                raise UsageError(f"dataset {block.name}: {file} lacks the column {missing[0]!r} that {files[0]} has")
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, OSError) as error:
        names = ", ".join(str(file) for file in files[:3])
        raise UsageError(f"dataset {block.name}: cannot read {names}: {' '.join(str(error).split())[:200]}") from None
    if table.num_rows == 0:
        raise UsageError(f"dataset {block.name}: {files[0]} has no rows")
    return table


def fingerprint(files: Sequence[Path]) -> str:
    """SHA-256 of the files' content."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
