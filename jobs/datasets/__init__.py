"""Data sets: where items, their texts, pictures and attributes come from, one file a kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jobs.config.datasets import Dataset
from jobs.datasets import celeba, clip_retrieval, fairface, images, occupations, table, utkface, webdataset
from jobs.datasets.assemble import assemble
from jobs.datasets.catalogue import Catalogue
from jobs.datasets.source import Source

KINDS: dict[str, Callable[[Dataset, Path], Source]] = {
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
    return assemble(block, KINDS[block.kind](block, folder), embedding_column)
