"""A table of items: Parquet, CSV or JSON lines, one file or a folder of them.

Text is a template over columns, a column may name pictures, attributes are columns (binned where asked), ids must be
distinct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from jobs.datasets import layout, pictures, table_files
from jobs.datasets.block import Dataset
from jobs.datasets.columns import strings
from jobs.datasets.source import Source
from jobs.datasets.table_folder import table_files as files_at
from jobs.settings.block import DriverPath, Label


class Table(Dataset):
    """A table: parquet, csv or json lines, a file or a folder of them."""

    items = "rows of Parquet, CSV or JSON lines: texts, pictures, vectors"
    terms = "yours"

    kind: Literal["table"] = "table"
    id: Label = Field("item_id", description="column of distinct ids")
    image: Label | None = Field(None, description="column of image paths, relative to `root`, or `shard.tar::member`")
    root: DriverPath | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: the table's",
    )

    def item_columns(self) -> dict[str, str]:
        return {} if self.image is None else {self.image: "image"}

    def read_by_workers(self) -> str | None:
        return None if self.image is None else self.root or self.path

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The rows of a `table` data set.

        Raises:  UsageError for a missing file or column, or one that is no table.
        """
        path = folder / self.path
        files, remarks = files_at(path, table_files.SUFFIXES)
        table, parts = table_files.read(files, {self.id: "id", **columns}, self.id)
        source = Source(table=table, labels=table_files.fingerprint(files), id=self.id, parts=parts, remarks=remarks)
        if self.image is None:
            return source
        beside = path if path.is_dir() else path.parent
        root = pictures.folder_of(folder / (self.root or beside.absolute()))
        named = strings(self, source.table, self.image, "image").to_pylist()
        layout.expect_some(root, named)
        seen = pictures.fingerprint(self, root, named)
        return replace(source, image=self.image, root=str(root), files=seen)
