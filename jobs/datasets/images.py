"""A folder of pictures: ids are paths relative to the root, labels come from a table or from the folders' names.

The table (`labels`; by default metadata or labels, .parquet, .csv or .jsonl, in the folder) names each picture by its
path in the column `image` (by default file_name, file or path). Without a table the columns are `folder` (the
picture's own folder) and `folder_1`, `folder_2`, ... from the root down. A row whose picture is not there stays, by its
labels; a picture without a row is skipped and counted. The pictures' terms are those of their source.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pyarrow as pa
from pydantic import Field

from ..errors import UsageError
from ..images import Reason
from ..settings.block import Label
from . import picture_parts, pictures, table_files
from .block import Dataset
from .columns import shown, strings
from .source import Listing, Piece, Place, Skip, Source, Stretch

LABEL_TABLES = tuple(f"{name}{suffix}" for name in ("metadata", "labels") for suffix in table_files.SUFFIXES)
NAMING_COLUMNS = ("file_name", "file", "path")
ID = "item_id"


class Images(Dataset):
    """Pictures below a folder: ids are their paths, labels come from a table or from the folders' names."""

    own_attributes = {"folder": {}}
    items = "pictures below a folder"
    terms = "yours"

    kind: Literal["images"] = "images"
    image: Label | None = Field(
        None, description="the labels' column that names the picture; default: file_name, file or path"
    )
    labels: str | None = Field(
        None,
        description="the table of labels, relative to `path`; default: metadata or labels, parquet, csv or jsonl, in "
        "that folder",
    )

    @classmethod
    def attributes_of(cls, raw: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """Those of the folders; a table of labels does not tell which of its columns matter."""
        return {} if raw.get("labels") or raw.get("image") else cls.own_attributes

    def item_columns(self) -> dict[str, str]:
        return {} if self.image is None else {self.image: "image"}

    def listing(self, folder: Path, columns: Mapping[str, str]) -> Listing | None:
        root = pictures.folder_of(folder / self.path)
        if _label_table(self, root) is not None:
            # Which pictures have no row is known when all rows are read.
            return None
        places = picture_parts.places(root)
        # Each picture may have changed: the folder that holds it does not tell.
        return None if places is None else Listing(places=places, is_told_by_files=False)

    def read_place(self, folder: Path, columns: Mapping[str, str], place: Place) -> Source:
        root = pictures.folder_of(folder / self.path)
        paths, skipped = _names_and_skips(picture_parts.entries(root, place))
        table = _by_folders(paths)
        lacks = tuple(name for name in columns if name not in table.column_names)
        for name in lacks:
            table = table.append_column(name, pa.nulls(len(paths), pa.string()))
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, paths),
            id=ID,
            image=ID,
            root=str(root),
            skipped=tuple(skipped),
            lacks=lacks,
        )

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The pictures of an `images` data set.

        Raises:  UsageError for a folder that is not there or has no pictures, or labels that cannot be read.
        """
        root = pictures.folder_of(folder / self.path)
        paths, skipped = _names_and_skips(pictures.pictures_below(root))
        if not paths:
            raise UsageError(f"{root} holds no pictures ({', '.join(pictures.SUFFIXES)})")
        labels = _label_table(self, root)
        stretches: tuple[Stretch, ...] = ()
        if labels is None:
            table = _by_folders(paths)
        else:
            table, stretches = _by_table(self, labels, root, paths, columns)
            labelled = set(table[ID].to_pylist())
            skipped += [Skip(item_id=path, reason=Reason.NO_LABEL) for path in paths if path not in labelled]
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, table[ID].to_pylist()),
            id=ID,
            image=ID,
            root=str(root),
            skipped=tuple(skipped),
            stretches=stretches,
        )


def _names_and_skips(entries: Iterable[str | Skip]) -> tuple[list[str], list[Skip]]:
    """Paths of pictures, and what is wrong with others."""
    found = list(entries)
    return [one for one in found if isinstance(one, str)], [one for one in found if isinstance(one, Skip)]


def _label_table(block: Images, root: Path) -> Path | None:
    if block.labels is not None:
        named = root / block.labels
        if not named.is_file():
            raise UsageError(f"labels names {named}, which does not exist")
        return named
    return next((root / name for name in LABEL_TABLES if (root / name).is_file()), None)


def _by_table(
    block: Images, labels: Path, root: Path, paths: Sequence[str], columns: Mapping[str, str]
) -> tuple[pa.Table, tuple[Stretch, ...]]:
    """The labels' rows, each with the path of its picture as the folder has it."""
    names = table_files.names(labels)
    name = block.image or next((one for one in NAMING_COLUMNS if one in names), None)
    if name is None:
        raise UsageError(
            f"{labels} has none of the columns {', '.join(NAMING_COLUMNS)}: "
            f"say with `image` which one names the pictures; it has {shown(names)}"
        )
    table, stretches = table_files.read([Piece(path=labels)], {name: "image", **columns})
    named = _as_found(strings(block, table, name, "image").to_pylist(), root, paths)
    # A label table may have a column of this name that means something else.
    table = table.drop_columns([ID]) if ID in table.column_names else table
    return table.append_column(ID, pa.array(named, pa.string())), stretches


def _as_found(named: Sequence[str | None], root: Path, paths: Sequence[str]) -> list[str | None]:
    """Each path as the folder's own listing has it, if it names one of its pictures; unchanged otherwise.

    One file has many names: ./a/0.jpg, a//0.jpg, a\\0.jpg on Windows, an absolute path, letters with accents that
    are one character here and two there.
    """
    found = {unicodedata.normalize("NFC", path): path for path in paths} | {path: path for path in paths}

    def listed(name: str) -> str:
        for one in (name, name.replace("\\", "/")):
            below = os.path.relpath(one, root) if os.path.isabs(one) else os.path.normpath(one)
            for form in (one, below, unicodedata.normalize("NFC", below)):
                if form in found:
                    return found[form]
        return name

    return [listed(name) if name else None for name in named]


def _by_folders(paths: list[str]) -> pa.Table:
    parents = [PurePosixPath(path).parent.parts for path in paths]
    depth = max(map(len, parents), default=0)
    columns = {"folder": [parts[-1] if parts else None for parts in parents]}
    for level in range(depth):
        columns[f"folder_{level + 1}"] = [parts[level] if level < len(parts) else None for parts in parents]
    strings_of = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return pa.table({ID: pa.array(paths, pa.string()), **strings_of})
