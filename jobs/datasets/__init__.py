"""Data sets: where items, their texts, pictures and attributes come from, one file a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from jobs.config.datasets import Dataset
from jobs.datasets import celeba, clip_retrieval, fairface, images, occupations, table, utkface, webdataset
from jobs.datasets.assemble import assemble
from jobs.datasets.catalogue import Catalogue
from jobs.datasets.columns import VECTOR_SETTING, named_columns
from jobs.datasets.source import Source

# The last argument names the columns that the audit reads beside the ids, each with the setting that names it:
# a loader need look at no others.
Loader = Callable[[Dataset, Path, Mapping[str, str]], Source]
KINDS: dict[str, Loader] = {
    "table": table.read,
    "images": images.read,
    "celeba": celeba.read,
    "utkface": utkface.read,
    "fairface": fairface.read,
    "occupations": occupations.read,
    "webdataset": webdataset.read,
    "clip_retrieval": clip_retrieval.read,
}


def load(block: Dataset, folder: Path, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of a data set.

    Raises:  UsageError naming the file and column for input that cannot be audited.
    """
    columns = named_columns(block)
    if embedding_column is not None:
        columns.setdefault(embedding_column, VECTOR_SETTING)
    return assemble(block, KINDS[block.kind](block, folder, columns), embedding_column)
