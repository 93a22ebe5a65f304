"""A table of items: Parquet, CSV or JSON lines, one file or a folder of them.

Text is a template over columns, a column may name pictures, attributes are columns (binned where asked), ids must be
distinct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from ..errors import UsageError
from ..settings.block import DriverPath, Label
from . import layout, pictures, table_files
from .block import Dataset
from .columns import strings
from .source import Listing, Place, Source
from .table_folder import table_files as files_at

# What the column of numbers is called where items have no ids, unless the table has such a column.
ROW = "row"


class Table(Dataset):
    """A table: parquet, csv or json lines, a file or a folder of them."""

    items = "rows of Parquet, CSV or JSON lines: texts, pictures, vectors"
    terms = "yours"

    kind: Literal["table"] = "table"
    id: Label | None = Field("item_id", description="column of distinct ids; null: items are numbered as rows, from 1")
    image: Label | None = Field(None, description="column of image paths, relative to `root`, or `shard.tar::member`")
    root: DriverPath | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: the table's",
    )

    def item_columns(self) -> dict[str, str]:
        return {} if self.image is None else {self.image: "image"}

    def read_by_workers(self) -> str | None:
        return None if self.image is None else self.root or self.path

    def listing(self, folder: Path, columns: Mapping[str, str]) -> Listing | None:
        if self.id is None:
            # How many rows come before a part is known when all before it are read.
            return None
        files, remarks = files_at((folder / self.path).absolute(), table_files.SUFFIXES)
        places = table_files.places(files, {self.id, *columns})
        # Where there are pictures, the folder that has them tells whether a part is what it was.
        return Listing(places=places, remarks=remarks, is_told_by_files=self.image is None)

    def read_place(self, folder: Path, columns: Mapping[str, str], place: Place) -> Source:
        own = {} if self.id is None else {self.id: "id"}
        table, stretches = table_files.read_pieces(place.pieces, {**own, **columns}, self.id)
        name = self.id
        if name is None:
            name = _free_name(table)
            table = table.append_column(name, pa.array(np.arange(1, table.num_rows + 1)))
        source = Source(table=table, id=name, stretches=stretches)
        if self.image is None:
            return source
        named = strings(self, table, self.image, "image").to_pylist()
        seen = pictures.fingerprint(self, self._root(folder), named)
        return replace(source, image=self.image, root=str(self._root(folder)), files=seen)

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The rows of a `table` data set.

        Raises:  UsageError for a missing file or column, or one that is no table.
        """
        files, remarks = files_at(folder / self.path, table_files.SUFFIXES)
        source = self.read_place(folder, columns, Place(pieces=tuple(files)))
        if not source.table.num_rows:
            raise UsageError(f"{files[0].path} has no rows")
        if self.image is not None:
            layout.expect_some(self._root(folder), strings(self, source.table, self.image, "image").to_pylist())
        return replace(source, remarks=remarks)

    def _root(self, folder: Path) -> Path:
        """The folder of the pictures."""
        path = folder / self.path
        beside = path if path.is_dir() else path.parent
        return pictures.folder_of(folder / (self.root or beside.absolute()))


def _free_name(table: pa.Table) -> str:
    """A name that no column of the table has."""
    name = ROW
    while name in table.column_names:
        name += "_"
    return name
