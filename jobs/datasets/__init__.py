"""Data sets: where items, their texts and their attributes come from, one file a kind."""

from __future__ import annotations

from pathlib import Path

from jobs.config import Dataset
from jobs.datasets import table
from jobs.datasets.catalogue import Catalogue

KINDS = {"table": table.load}


def load(block: Dataset, folder: Path, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of a data set.

    Raises:  UsageError naming the file and column for input that cannot be audited.
    """
    return KINDS[block.kind](block, folder, embedding_column)
