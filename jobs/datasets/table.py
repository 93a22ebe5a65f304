"""A table of items: Parquet or CSV, one file or a folder of them.

Text is a template over columns, a column may name pictures, attributes are columns (binned where asked), ids must be
distinct.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jobs.config.datasets import Dataset
from jobs.datasets import layout, pictures, table_files
from jobs.datasets.columns import strings
from jobs.datasets.source import Source


def read(block: Dataset, folder: Path) -> Source:
    """The rows of a `table` data set.

    Raises:  UsageError for a missing file or column, or one that is no table.
    """
    path = folder / block.path
    files = table_files.files(block, path)
    texts = [block.id] if block.image is None else [block.id, block.image]
    source = Source(table=table_files.read(block, files, texts), labels=table_files.fingerprint(files), id=block.id)
    if block.image is None:
        return source
    beside = path if path.is_dir() else path.parent
    root = pictures.folder_of(block, folder, block.root or str(beside.absolute()))
    named = strings(block, source.table, block.image, "image").to_pylist()
    layout.expect_some(block, root, named)
    seen = pictures.fingerprint(block, root, named)
    return replace(source, image=block.image, root=str(root), files=seen)
