"""Embeddings that clip-retrieval has written: img_emb/img_emb_0.npy beside metadata/metadata_0.parquet, and so on.

Files: `clip-retrieval inference` writes the layout (https://github.com/rom1504/clip-retrieval). Vectors are mapped,
not copied into memory, and used as given; a row of the metadata is an item. The id is the metadata's column `id`, by
default image_path or key. A vector that is zero or not finite is skipped.
Terms are those of whoever embedded the pictures.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.config.datasets import Dataset
from jobs.datasets import layout, pictures
from jobs.datasets.columns import named_columns
from jobs.datasets.source import Source
from jobs.datasets.vector_files import numbered, open_files
from jobs.errors import UsageError

VECTOR_FOLDER, METADATA_FOLDER = "img_emb", "metadata"
ID_COLUMNS = ("image_path", "key")


def read(block: Dataset, folder: Path) -> Source:
    """The items of all parts, in the order of the parts' numbers; only columns that the settings name are read.

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
    id_column = _id_column(block, metadata)
    parts = [_metadata(block, path, id_column) for path in metadata.values()]
    for number, size, part in zip(vectors, sizes, parts):
        if size != part.num_rows:
            raise UsageError(
                f"dataset {block.name}: {vectors[number]} has {size} rows and {metadata[number]} {part.num_rows}"
            )
    if files.rows == 0:
        raise UsageError(f"dataset {block.name}: {root} holds no vectors")
    places = [path.relative_to(root).as_posix() for path in (*vectors.values(), *metadata.values())]
    return Source(
        table=pa.concat_tables(parts, promote_options="permissive"),
        files=pictures.fingerprint(block, root, places),
        id=id_column,
        image=block.image,
        root=str(root if block.root is None else pictures.folder_of(block, folder, block.root)),
        vectors=files,
    )


def _parts(block: Dataset, folder: Path, suffix: str) -> dict[int, Path]:
    try:
        return numbered(folder, suffix)
    except UsageError as error:
        raise UsageError(f"dataset {block.name}: {error}") from None


def _id_column(block: Dataset, metadata: dict[int, Path]) -> str:
    first = next(iter(metadata.values()))
    names = _schema(block, first).names
    found = block.id if "id" in block.model_fields_set else next((one for one in ID_COLUMNS if one in names), None)
    if found is None:
        raise UsageError(
            f"dataset {block.name}: {first} has none of the columns {', '.join(ID_COLUMNS)}: say with `id` which one "
            f"names the items; it has {', '.join(names)}"
        )
    return found


def _metadata(block: Dataset, path: Path, id_column: str) -> pa.Table:
    names = _schema(block, path).names
    wanted = list(dict.fromkeys([id_column, *named_columns(block)]))
    missing = [name for name in wanted if name not in names]
    if missing:
        raise UsageError(f"dataset {block.name}: {path} lacks the column {missing[0]!r}; it has {', '.join(names)}")
    return pq.read_table(path, columns=wanted, memory_map=True)


def _schema(block: Dataset, path: Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"dataset {block.name}: cannot read {path}: {reason}") from None
