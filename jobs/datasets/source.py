"""What a loader hands over: one row per item, before the settings' labels are made of it; and where parts of it are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..images import Reason
from .vector_files import VectorFiles


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
class Stretch:
    """Neighbouring rows of a file that a source has, and how many of the file's rows come before them."""

    file: str
    rows: int
    first: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A file, or its rows [start, stop) where these can be read apart; and the columns that the names of its folders
    tell, None for no value."""

    path: Path
    start: int = 0
    stop: int | None = None
    partition: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the items of one part of a data set are: pieces of its files, one after the other; beside are other files
    that are read with them. is_small: whether the driver may read it as well as another process."""

    pieces: tuple[Piece, ...]
    beside: tuple[Path, ...] = ()
    is_small: bool = True

    def to_json(self) -> list[dict[str, Any]]:
        """The pieces as JSON values."""
        return [asdict(piece) | {"path": str(piece.path)} for piece in self.pieces]

    @classmethod
    def from_json(cls, pieces: list[dict[str, Any]]) -> Place:
        """The place of which `to_json` gave these pieces."""
        return cls(pieces=tuple(Piece(**piece | {"path": Path(piece["path"])}) for piece in pieces))


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """The parts that a data set is read in, and remarks that no part knows of.

    is_told_by_files: whether a part is what it was as long as its files are, so that it need not be read again.
    """

    places: tuple[Place, ...]
    remarks: tuple[str, ...] = ()
    is_told_by_files: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Rows of a data set. id, image and relevance name columns of the table.

    root is the folder that the image column's paths start from. vectors are the rows' own, where they are in files of
    their own. orders holds values of columns in reading order,
    for those that have one. files is a SHA-256 of the pictures or files of vectors, empty where there are none.
    lacks are columns that were asked for and that these rows do not have, which another part may; they are null.
    stretches say which files the rows are from, in order, where that is known. remarks are sentences for the reader
    of the run on what was passed over.
    """

    table: pa.Table
    files: str = ""
    id: str
    image: str | None = None
    root: str | None = None
    vectors: VectorFiles | None = None
    relevance: str | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: tuple[Skip, ...] = ()
    lacks: tuple[str, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    remarks: tuple[str, ...] = ()

    def place_of(self, row: int, otherwise: str) -> str:
        """Where a row (from 0) is, for a message: "row 3 of people.csv"; of `otherwise` where no file is known."""
        within = row
        for stretch in self.stretches:
            if within < stretch.rows:
                return f"row {stretch.first + within + 1} of {stretch.file}"
            within -= stretch.rows
        return f"row {row + 1} of {otherwise}"
