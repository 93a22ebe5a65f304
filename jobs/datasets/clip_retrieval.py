"""Embeddings that clip-retrieval has written: img_emb/img_emb_0.npy beside metadata/metadata_0.parquet, and so on.

Files: `clip-retrieval inference` writes the layout (https://github.com/rom1504/clip-retrieval). Vectors are mapped,
not copied into memory, and used as given; a row of the metadata is an item. The id is the metadata's column `id`, by
default image_path or key. A vector that is zero or not finite is skipped.
Terms are those of whoever embedded the pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from jobs.datasets import layout, pictures, table_files
from jobs.datasets.block import Dataset
from jobs.datasets.columns import VECTOR_SETTING, shown
from jobs.datasets.source import Source
from jobs.datasets.table_folder import TableFile
from jobs.datasets.vector_files import numbered, open_files
from jobs.errors import UsageError
from jobs.settings.block import DriverPath, Label

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

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The items of all parts, in the order of the parts' numbers.

        Raises:  UsageError naming the folder or part that is missing, or two parts that do not fit each other.
        """
        root = pictures.folder_of(folder / self.path)
        vectors = numbered(layout.find_folder(root, [VECTOR_FOLDER], "embeddings"), ".npy")
        metadata = numbered(layout.find_folder(root, [METADATA_FOLDER], "metadata of embeddings"), ".parquet")
        lonely = sorted(set(vectors) ^ set(metadata))
        if lonely or not vectors:
            has = "no parts" if not lonely else f"part {lonely[0]} in one of {VECTOR_FOLDER} and {METADATA_FOLDER} only"
            raise UsageError(f"{root} has {has}: each .npy needs the .parquet of its number")
        files, sizes = open_files(list(vectors.values()))
        if files.rows == 0:
            raise UsageError(f"{root} holds no vectors")
        id_column = _id_column(self, metadata)
        # The vectors have columns of their own: what a precomputed encoder calls its column is not among these.
        wanted = {id_column: "id"} | {name: setting for name, setting in columns.items() if setting != VECTOR_SETTING}
        table, parts = table_files.read([TableFile(path=path) for path in metadata.values()], wanted, id_column)
        for number, size, part in zip(vectors, sizes, parts):
            if size != part.rows:
                raise UsageError(f"{vectors[number]} has {size} rows and {part.file} {part.rows}")
        places = [path.relative_to(root).as_posix() for path in (*vectors.values(), *metadata.values())]
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, places),
            id=id_column,
            image=self.image,
            root=str(root if self.root is None else pictures.folder_of(folder / self.root)),
            vectors=files,
            parts=parts,
        )


def _id_column(block: ClipRetrieval, metadata: dict[int, Path]) -> str:
    if "id" in block.model_fields_set:
        return block.id
    first = next(iter(metadata.values()))
    names = table_files.names(first)
    found = next((one for one in ID_COLUMNS if one in names), None)
    if found is None:
        raise UsageError(
            f"{first} has none of the columns {', '.join(ID_COLUMNS)}: say with `id` which one "
            f"names the items; it has {shown(names)}"
        )
    return found
