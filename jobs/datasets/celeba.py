"""CelebA (Liu, Luo, Wang, Tang 2015): 202,599 faces of celebrities with 40 attributes that are there or not.

Files: https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html. The label file list_attr_celeba.txt (or .csv) and the folder
img_align_celeba, in one folder or below Anno and Img as they are handed out; `partition` also needs
list_eval_partition.txt (or .csv). Every attribute is a column with the values yes and no; `gender` and `age` say what
the attributes Male and Young mean.
Terms: for non-commercial research only; pictures are from the Internet and not the authors' property; they must not be
passed on, nor parts of them published for commercial purposes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from ..errors import UsageError
from ..words import shortened
from . import layout, pictures
from .block import Dataset
from .encodings import UTF8
from .source import Source

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTE_FILES = ("list_attr_celeba.txt", "Anno/list_attr_celeba.txt", "list_attr_celeba.csv")
PARTITION_FILES = ("list_eval_partition.txt", "Eval/list_eval_partition.txt", "list_eval_partition.csv")
# The archive unpacks into a folder of its own name, which some copies put into another.
PICTURE_FOLDERS = (
    *("img_align_celeba/img_align_celeba", "Img/img_align_celeba/img_align_celeba"),
    *("img_align_celeba", "Img/img_align_celeba"),
)
PARTITIONS = {"train": 0, "val": 1, "test": 2}
YES_NO = ("yes", "no")
NAMED = {"gender": ("Male", ("Male", "Female")), "age": ("Young", ("young", "not young"))}


class Celeba(Dataset):
    """CelebA: faces of celebrities, as the authors hand them out."""

    own_attributes = {"gender": {}, "age": {}}
    items = "202,599 faces of celebrities"
    terms = "non-commercial research; no redistribution"

    kind: Literal["celeba"] = "celeba"
    partition: Literal["train", "val", "test"] | None = Field(None, description="one of its parts; default: all")

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The faces, or those of one `partition`.

        Raises:  UsageError naming the file or folder that is missing, or what is wrong with a label file.
        """
        place = pictures.folder_of(folder / self.path)
        attribute_file = layout.find_file(place, ATTRIBUTE_FILES, "CelebA's attributes")
        root = layout.find_folder(place, PICTURE_FOLDERS, "CelebA's pictures")
        names, values = _attributes(attribute_file)
        files = [attribute_file]
        if self.partition is not None:
            files.append(layout.find_file(place, PARTITION_FILES, "CelebA's partition"))
            is_in = _is_in_partition(self.partition, files[-1], names)
            names, values = names[is_in], values[is_in]
            if not len(names):
                raise UsageError(f"partition {self.partition} of {files[-1]} names no picture")
        layout.expect_some(root, names)
        found = {"item_id": pa.array(names, pa.string())}
        for attribute in values.columns:
            found[attribute] = _named(values[attribute], YES_NO)
        for name, (attribute, levels) in NAMED.items():
            if attribute in values.columns:
                found[name] = _named(values[attribute], levels)
        return Source(
            table=pa.table(found),
            files=pictures.fingerprint(self, root, names),
            id="item_id",
            image="item_id",
            root=str(root),
            orders=dict.fromkeys(values.columns, YES_NO) | {name: levels for name, (_, levels) in NAMED.items()},
        )


def _attributes(file: Path) -> tuple[np.ndarray, pd.DataFrame]:
    """Names of pictures, and for each whether it has an attribute (booleans), a column an attribute."""
    import pandas as pd

    table = _table(file, has_count=True)
    values = table.drop(columns=table.columns[0])
    if values.shape[1] == 0:
        raise UsageError(f"{file} has no attributes")
    # The CSV form has -1 and 1, or 0 and 1.
    found = values.to_numpy()
    is_there = found == 1
    wrong = ~(is_there | (found == -1) | (found == 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise UsageError(
            f"{file}: every attribute is -1 or 1, but {values.columns[column]} of "
            f"{table.iloc[row, 0]} is {found[row, column]!s:.40}"
        )
    return table.iloc[:, 0].to_numpy(dtype=str), pd.DataFrame(is_there, columns=values.columns)


def _is_in_partition(partition: str, file: Path, names: np.ndarray) -> np.ndarray:
    """Which pictures the partition holds."""
    import pandas as pd

    table = _table(file, has_count=False)
    if table.shape[1] != 2:
        raise UsageError(f"{file}: a picture and 0, 1 or 2 are expected in every line")
    part = pd.to_numeric(table.iloc[:, 1], errors="coerce").to_numpy()
    members = set(table.iloc[:, 0].to_numpy(dtype=str)[part == PARTITIONS[partition]])
    return np.array([name in members for name in names], dtype=bool)


def _table(file: Path, has_count: bool) -> pd.DataFrame:
    """A label file; the official ones are columns between spaces, the attributes' begins with its number of rows."""
    import pandas as pd

    try:
        if file.suffix == ".csv":
            return pd.read_csv(file, dtype={0: str})
        if not has_count:
            return pd.read_csv(file, sep=r"\s+", header=None, dtype={0: str})
        with file.open(encoding=UTF8) as lines:
            count, names = next(lines).strip(), next(lines).split()
        table = pd.read_csv(file, sep=r"\s+", skiprows=2, header=None, names=["item_id", *names], index_col=False)
    except (OSError, ValueError, StopIteration) as error:
        reason = shortened(error, 200) or "too short"
        raise UsageError(f"cannot read {file}: {reason}") from None
    if count != str(len(table)):
        raise UsageError(f"{file} says that it has {count} rows, and has {len(table)}")
    return table


def _named(is_there: pd.Series, levels: tuple[str, str]) -> pa.Array:
    codes = np.where(is_there.to_numpy(), 0, 1).astype(np.int8)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(levels, pa.string()))
