"""Embeddings that clip-retrieval has written: img_emb/img_emb_0.npy beside metadata/metadata_0.parquet, and so on.

Files: `clip-retrieval inference` writes the layout (https://github.com/rom1504/clip-retrieval). Vectors are mapped,
not copied into memory, and used as given; a row of the metadata is an item. The id is the metadata's column `id`, by
default image_path or key. A vector that is zero or not finite is skipped.
Terms are those of whoever embedded the pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from ..errors import UsageError
from ..settings.block import DriverPath, Label
from . import layout, pictures, table_files
from .block import Dataset
from .columns import VECTOR_SETTING, shown
from .source import Listing, Piece, Place, Source
from .vector_files import numbered, open_files

VECTOR_FOLDER, METADATA_FOLDER = "img_emb", "metadata"
ID_COLUMNS = ("image_path", "key")


class ClipRetrieval(Dataset):
    """Vectors that clip-retrieval wrote, for encoders of kind precomputed."""

    items = "vectors that clip-retrieval wrote"
    terms = "yours"

    kind: Literal["clip_retrieval"] = "clip_retrieval"
    id: Label = Field("item_id", description="column of distinct ids; default: image_path or key")
    image: Label | None = Field(None, description="column of image paths, relative to `root`, or `shard.tar::member`")
    root: DriverPath | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: `path`",
    )

    def item_columns(self) -> dict[str, str]:
        return {} if self.image is None else {self.image: "image"}

    def listing(self, folder: Path, columns: Mapping[str, str]) -> Listing:
        root = pictures.folder_of(folder / self.path)
        vector_of, id_column = _files(root), _id_column(self, root)
        wanted = {id_column, *self._wanted(columns)}
        places = table_files.places([Piece(path=path) for path in vector_of], wanted)
        rows: dict[Path, int] = {}
        for piece in (piece for place in places for piece in place.pieces):
            rows[piece.path] = piece.stop or 0
        _, sizes = open_files(list(vector_of.values()))
        for path, size in zip(vector_of, sizes):
            _expect_rows(vector_of[path], size, str(path), rows[path])
        besides = (tuple(vector_of[piece.path] for piece in place.pieces) for place in places)
        return Listing(places=tuple(replace(place, beside=beside) for place, beside in zip(places, besides)))

    def read_place(self, folder: Path, columns: Mapping[str, str], place: Place) -> Source:
        root = pictures.folder_of(folder / self.path)
        vector_of, id_column = _files(root), _id_column(self, root)
        paths = [vector_of[piece.path] for piece in place.pieces]
        files, sizes = open_files(paths)
        if files.rows == 0:
            raise UsageError(f"{root} holds no vectors")
        table, stretches = table_files.read_pieces(place.pieces, {id_column: "id"} | self._wanted(columns), id_column)
        for piece, path, size, stretch in zip(place.pieces, paths, sizes, stretches):
            if piece.stop is None:
                _expect_rows(path, size, stretch.file, stretch.rows)
        first = np.cumsum([0] + [stretch.rows for stretch in stretches])
        starts = tuple(int(edge) - stretch.first for edge, stretch in zip(first, stretches))
        places = [path.relative_to(root).as_posix() for path in (*paths, *(piece.path for piece in place.pieces))]
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, places),
            id=id_column,
            image=self.image,
            root=str(root if self.root is None else pictures.folder_of(folder / self.root)),
            vectors=replace(files, starts=starts, rows=table.num_rows),
            stretches=stretches,
        )

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The items of all parts, in the order of the parts' numbers.

        Raises:  UsageError naming the folder or part that is missing, or two parts that do not fit each other.
        """
        vector_of = _files(pictures.folder_of(folder / self.path))
        return self.read_place(folder, columns, Place(pieces=tuple(Piece(path=path) for path in vector_of)))

    def _wanted(self, columns: Mapping[str, str]) -> dict[str, str]:
        """The vectors have columns of their own: what a precomputed encoder calls its column is not among these."""
        return {name: setting for name, setting in columns.items() if setting != VECTOR_SETTING}


def _files(root: Path) -> dict[Path, Path]:
    """The file of vectors of each file of metadata, in the order of their numbers.

    Raises:  UsageError for a part that has only one of them.
    """
    vectors = numbered(layout.find_folder(root, [VECTOR_FOLDER], "embeddings"), ".npy")
    metadata = numbered(layout.find_folder(root, [METADATA_FOLDER], "metadata of embeddings"), ".parquet")
    lonely = sorted(set(vectors) ^ set(metadata))
    if lonely or not vectors:
        has = "no parts" if not lonely else f"part {lonely[0]} in one of {VECTOR_FOLDER} and {METADATA_FOLDER} only"
        raise UsageError(f"{root} has {has}: each .npy needs the .parquet of its number")
    return {metadata[number]: path for number, path in vectors.items()}


def _expect_rows(vectors: Path, rows: int, metadata: str, metadata_rows: int) -> None:
    if rows != metadata_rows:
        raise UsageError(f"{vectors} has {rows} rows and {metadata} {metadata_rows}")


def _id_column(block: ClipRetrieval, root: Path) -> str:
    if "id" in block.model_fields_set:
        return block.id
    first = next(iter(_files(root)))
    names = table_files.names(first)
    found = next((one for one in ID_COLUMNS if one in names), None)
    if found is None:
        raise UsageError(
            f"{first} has none of the columns {', '.join(ID_COLUMNS)}: say with `id` which one "
            f"names the items; it has {shown(names)}"
        )
    return found
