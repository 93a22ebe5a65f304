"""Embeddings that clip-retrieval has written: img_emb/img_emb_0.npy beside metadata/metadata_0.parquet, and so on.

Files: `clip-retrieval inference` writes the layout (https://github.com/rom1504/clip-retrieval). Vectors are mapped,
not copied into memory, and used as given; a row of the metadata is an item. The id is the metadata's column `id`, by
default image_path or key. A vector that is zero or not finite is skipped.
Terms are those of whoever embedded the pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jobs.config.datasets import Dataset
from jobs.datasets import layout, pictures, table_files
from jobs.datasets.columns import VECTOR_SETTING, shown
from jobs.datasets.source import Source
from jobs.datasets.table_folder import TableFile
from jobs.datasets.vector_files import numbered, open_files
from jobs.errors import UsageError

VECTOR_FOLDER, METADATA_FOLDER = "img_emb", "metadata"
ID_COLUMNS = ("image_path", "key")


def read(block: Dataset, folder: Path, columns: Mapping[str, str]) -> Source:
    """The items of all parts, in the order of the parts' numbers.

    Raises:  UsageError naming the folder or part that is missing, or two parts that do not fit each other.
    """
    root = pictures.folder_of(block, folder)
    vectors = _parts(block, layout.find_folder(block, root, [VECTOR_FOLDER], "embeddings"), ".npy")
    metadata = _parts(block, layout.find_folder(block, root, [METADATA_FOLDER], "metadata of embeddings"), ".parquet")
    lonely = sorted(set(vectors) ^ set(metadata))
    if lonely or not vectors:
        has = "no parts" if not lonely else f"part {lonely[0]} in one of {VECTOR_FOLDER} and {METADATA_FOLDER} only"
        raise UsageError(f"dataset {block.name}: {root} has {has}: each .npy needs the .parquet of its number")
    try:
        files, sizes = open_files(list(vectors.values()))
    except UsageError as error:
        raise UsageError(f"dataset {block.name}: {error}") from None
    if files.rows == 0:
        raise UsageError(f"dataset {block.name}: {root} holds no vectors")
    id_column = _id_column(block, metadata)
    # The vectors have columns of their own: what a precomputed encoder calls its column is not among these.
    wanted = {id_column: "id"} | {name: setting for name, setting in columns.items() if setting != VECTOR_SETTING}
    table, parts = table_files.read(block, [TableFile(path=path) for path in metadata.values()], wanted)
    for number, size, part in zip(vectors, sizes, parts):
        if size != part.rows:
            raise UsageError(f"dataset {block.name}: {vectors[number]} has {size} rows and {part.file} {part.rows}")
    places = [path.relative_to(root).as_posix() for path in (*vectors.values(), *metadata.values())]
    return Source(
        table=table,
        files=pictures.fingerprint(block, root, places),
        id=id_column,
        image=block.image,
        root=str(root if block.root is None else pictures.folder_of(block, folder, block.root)),
        vectors=files,
        parts=parts,
    )


def _parts(block: Dataset, folder: Path, suffix: str) -> dict[int, Path]:
    try:
        return numbered(folder, suffix)
    except UsageError as error:
        raise UsageError(f"dataset {block.name}: {error}") from None


def _id_column(block: Dataset, metadata: dict[int, Path]) -> str:
    if "id" in block.model_fields_set:
        return block.id
    first = next(iter(metadata.values()))
    names = table_files.names(block, first)
    found = next((one for one in ID_COLUMNS if one in names), None)
    if found is None:
        raise UsageError(
            f"dataset {block.name}: {first} has none of the columns {', '.join(ID_COLUMNS)}: say with `id` which one "
            f"names the items; it has {shown(names)}"
        )
    return found
