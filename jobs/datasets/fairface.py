"""FairFace (Karkkainen and Joo 2021): 97,698 faces, balanced by race, with age band, gender and race.

Files: https://github.com/joojs/fairface, the label files fairface_label_train.csv and fairface_label_val.csv and one
of the picture archives, unpacked beside them or in a folder that `root` names; labels name pictures as train/1.jpg.
Terms: CC BY 4.0. Spreadsheets turn the bands 3-9 and 10-19 into dates (03-Sep, Oct-19); both are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from ..errors import UsageError
from ..images import Reason
from ..settings.block import DriverPath
from . import layout, pictures, table_files
from .block import Dataset
from .columns import strings
from .source import Piece, Skip, Source

LABELS = {"train": "fairface_label_train.csv", "val": "fairface_label_val.csv"}
AGES = ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
GENDERS = ("Female", "Male")
RACES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
COLUMNS = ("file", "age", "gender", "race")
# What spreadsheets of several languages' date orders make of two bands, in small letters; and another way to say 70.
MANGLED = {
    **dict.fromkeys(("3-sep", "03-sep", "sep-3", "sep-03", "9-mar", "09-mar", "mar-9", "mar-09"), "3-9"),
    **dict.fromkeys(("oct-19", "19-oct"), "10-19"),
    "70+": "more than 70",
}
PICTURE_FOLDERS = (".", "fairface-img-margin025-trainval", "fairface-img-margin125-trainval")


class FairFace(Dataset):
    """FairFace: faces balanced by race, with age bands."""

    own_attributes = {"gender": {}, "race": {}, "age": {}}
    items = "97,698 faces, ages in bands"
    terms = "CC BY 4.0"

    kind: Literal["fairface"] = "fairface"
    root: DriverPath | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: "
        "where the labels are",
    )
    partition: Literal["train", "val"] | None = Field(None, description="one of its parts; default: both")

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The faces of the train and val parts, or of one `partition`; columns age, gender, race and service_test.

        Raises:  UsageError naming the label file, column or picture folder that is missing.
        """
        labels = pictures.folder_of(folder / self.path)
        partitions = LABELS if self.partition is None else {self.partition: LABELS[self.partition]}
        files = [Piece(path=layout.find_file(labels, [name], "FairFace's labels")) for name in partitions.values()]
        table, _ = table_files.read(files, {**dict.fromkeys(COLUMNS, "FairFace"), **columns}, "file")
        known = {name: strings(self, table, name, "FairFace's labels") for name in COLUMNS}
        names = known["file"].to_pylist()
        root = _root(labels, names) if self.root is None else pictures.folder_of(folder / self.root)
        layout.expect_some(root, names)
        ages = [age_band(age) for age in known["age"].to_pylist()]
        is_known = [age in AGES or age is None for age in ages]
        skipped = tuple(
            Skip(item_id=name or "", reason=Reason.BAD_LABEL, detail=f"age {age!r}")
            for name, age, known in zip(names, ages, is_known)
            if not known
        )
        if len(skipped) == len(names):
            raise UsageError(f"no age of {files[0].path} is one of FairFace's bands, as {AGES[1]}")
        table = table.set_column(table.column_names.index("age"), "age", pa.array(ages, pa.string()))
        return Source(
            table=table.filter(pa.array(is_known)),
            files=pictures.fingerprint(self, root, names),
            id="file",
            image="file",
            root=str(root),
            orders={"age": AGES, "gender": GENDERS, "race": RACES},
            skipped=skipped,
        )

    def read_by_workers(self) -> str | None:
        return self.root or self.path


def _root(labels: Path, names: list[str | None]) -> Path:
    """The folder that the labels' paths, as train/1.jpg, start from, where the settings do not say."""
    first, is_below, _ = os.path.normpath(names[0] or "").partition("/")
    if not is_below:
        return labels
    expected = [str(Path(one, first)) for one in PICTURE_FOLDERS]
    return layout.find_folder(labels, expected, "FairFace's pictures").parent


def age_band(text: str | None) -> str | None:
    """FairFace's name of an age band, also where a spreadsheet took it for a date; other text as it is."""
    return None if text is None else MANGLED.get(text.strip().lower(), text.strip())
