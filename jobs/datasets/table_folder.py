"""Which files of a folder are a table's, as Arrow, Spark and pandas have it.

Names that begin with _ or . are not data (_SUCCESS, _metadata, .part-0.csv.crc), folders named column=value hold a
column. What looks like a table and is passed over gives a remark.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from ..errors import UsageError
from .source import Piece

# What Hive calls a partition whose column has no value.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4", ".snappy")
# Folders by which a table format says which of the Parquet files beside them are still its rows.
TABLE_FORMATS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}


def table_files(path: Path, suffixes: Sequence[str]) -> tuple[list[Piece], tuple[str, ...]]:
    """The table files at a path, by name, and a sentence on each kind of file that is passed over.

    Raises:  UsageError when there is none, or one that cannot be a table.
    """
    remarks: list[str] = []
    try:
        if not path.exists():
            raise UsageError(f"path {path} does not exist")
        if not path.is_dir():
            _size_bytes(path)
            found = [path] if path.suffix.lower() in suffixes else []
        else:
            found, remarks = _of_folder(path, suffixes)
    except OSError as error:
        raise UsageError(f"path {str(path)[:200]}: {error.strerror}") from None
    if not found:
        kinds = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        passed = "".join(f"; {remark}" for remark in remarks)
        raise UsageError(f"{path} is neither a {kinds} file nor a folder of them{passed}")
    files = [Piece(path=file, partition=_partition(file.relative_to(path).parent)) for file in found]
    return files, tuple(remarks)


def _of_folder(root: Path, suffixes: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The table files below a folder, and what is passed over, in words."""
    found: list[Path] = []
    hidden: list[Path] = []
    empty: list[Path] = []
    links: list[Path] = []
    for folder, folders, names in os.walk(root):
        for name in folders:
            if name in TABLE_FORMATS:
                raise UsageError(
                    f"{folder} is a table of {TABLE_FORMATS[name]}, whose folder also holds "
                    "files that are no part of it any more: write its rows to plain Parquet"
                )
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        links += [Path(folder, name) for name in folders if Path(folder, name).is_symlink()]
        for name in sorted(names):
            file, (stem, ending) = Path(folder, name), os.path.splitext(name.lower())
            if ending in PACKED and stem.endswith(tuple(suffixes)) and not _is_hidden(name):
                raise UsageError(f"{file} is compressed: unpack it")
            if ending in suffixes:
                kind = hidden if _is_hidden(name) else found if _size_bytes(file) else empty
                kind.append(file)
    whys = ((hidden, "whose names begin with _ or ."), (empty, "without a byte"), (links, "that are links to folders"))
    remarks = [
        f"{len(passed)} of the files {why} {'is' if len(passed) == 1 else 'are'} passed over, such as "
        f"{_shown(passed[0].relative_to(root))}"
        for passed, why in whys
        if passed
    ]
    return sorted(found), remarks


def _is_hidden(name: str) -> bool:
    """As Spark has it: _COLUMN=VALUE is a folder of data."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _size_bytes(file: Path) -> int:
    """The size of a file. A pipe would wait for its writer for ever.

    Raises:  UsageError for what is no regular file.
    """
    try:
        state = file.stat()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    if not stat.S_ISREG(state.st_mode):
        raise UsageError(f"{file} is no regular file")
    return state.st_size


def _partition(folder: Path) -> dict[str, str | None]:
    """Columns of the folders' names, as in sex=f/year=2024."""
    pairs = (part.partition("=") for part in folder.parts)
    told = {_unquoted(name): _unquoted(value) for name, is_told, value in pairs if name and is_told}
    return {name: None if value == NO_VALUE else value for name, value in told.items()}


def _unquoted(text: str) -> str:
    """What percent signs stand for; bytes that are no UTF-8 stay distinct."""
    return _shown(unquote(text, errors="surrogateescape"))


def _shown(name: Path | str) -> str:
    return str(name).encode("utf-8", "backslashreplace").decode()
