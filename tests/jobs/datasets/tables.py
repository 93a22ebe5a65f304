"""Loads a table with one attribute, `code`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jobs import datasets
from jobs.datasets import Catalogue, described
from jobs.datasets.catalogue import attribute_columns


def load(folder: Path, path: str, column: str | None = None, **changes: Any) -> Catalogue:
    block: dict[str, Any] = {"path": path, "text": "{note}", "attributes": {"code": {}}} | changes
    return datasets.load(described(block), folder, column)


def codes(catalogue: Catalogue) -> list[str]:
    """Each item's level."""
    return attribute_columns(catalogue.items)["code"]
