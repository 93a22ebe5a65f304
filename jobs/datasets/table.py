"""A table of items: Parquet, CSV or JSON lines, one file or a folder of them.

Text is a template over columns, a column may name pictures, attributes are columns (binned where asked), ids must be
distinct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jobs.config.datasets import Dataset
from jobs.datasets import layout, pictures, table_files
from jobs.datasets.columns import strings
from jobs.datasets.source import Source
from jobs.datasets.table_folder import table_files as files_at


def read(block: Dataset, folder: Path, columns: Mapping[str, str]) -> Source:
    """The rows of a `table` data set.

    Raises:  UsageError for a missing file or column, or one that is no table.
    """
    path = folder / block.path
    files, remarks = files_at(block, path, table_files.SUFFIXES)
    table, parts = table_files.read(block, files, {block.id: "id", **columns})
    source = Source(table=table, labels=table_files.fingerprint(files), id=block.id, parts=parts, remarks=remarks)
    if block.image is None:
        return source
    beside = path if path.is_dir() else path.parent
    root = pictures.folder_of(block, folder, block.root or str(beside.absolute()))
    named = strings(block, source.table, block.image, "image").to_pylist()
    layout.expect_some(block, root, named)
    seen = pictures.fingerprint(block, root, named)
    return replace(source, image=block.image, root=str(root), files=seen)
