"""What a loader hands over: one row an item, before the settings' labels are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from jobs.datasets.vector_files import VectorFiles
from jobs.images import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Skip:
    """An item that a loader had to leave out. `item_id` is its name as far as it has one."""

    item_id: str
    reason: Reason
    detail: str = ""

    def to_row(self) -> dict[str, str]:
        """The columns of a `skipped` table."""
        return {"item_id": self.item_id, "reason": self.reason.value, "detail": self.detail}


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A file of a table, and how many of the rows are its own."""

    file: str
    rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Rows of a data set. id, image and relevance name columns of the table.

    root is the folder that the image column's paths start from. vectors are the rows' own, where they are in files of
    their own. orders holds values of columns in reading order,
    for those that have one. labels is a SHA-256 of the tables that were read,
    files one of the pictures or files of vectors, empty where there are none.
    parts are the files that the rows are from, in order, where that is known. remarks are sentences for the reader of
    the run on what was passed over.
    """

    table: pa.Table
    labels: str = ""
    files: str = ""
    id: str
    image: str | None = None
    root: str | None = None
    vectors: VectorFiles | None = None
    relevance: str | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: tuple[Skip, ...] = ()
    parts: tuple[Part, ...] = ()
    remarks: tuple[str, ...] = ()

    def place_of(self, row: int, otherwise: str) -> str:
        """Where a row (from 0) is, for a message: "row 3 of people.csv"; of `otherwise` where no part is known."""
        within = row
        for part in self.parts:
            if within < part.rows:
                return f"row {within + 1} of {part.file}"
            within -= part.rows
        return f"row {row + 1} of {otherwise}"
