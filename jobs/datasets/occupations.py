"""Occupations (Kay, Matuszek, Munson 2015): Google's picture results for 45 occupations, with judged gender.

Files: https://github.com/mjskay/gender-in-image-search, data/public/gender_labelled_images.csv and the archive of
pictures that its README links, unpacked beside the table: google/OCCUPATION/RANK.jpg. A table in Parquet does as well;
its columns are search_term, search_provider, order (rank) and image_gender (woman or man). The true term of a picture
is the occupation that it was found for, which gives precision.
Terms: the annotations are CC BY 4.0; the pictures are results of a search engine and belong to their owners.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from ..settings.block import DriverPath
from . import layout, pictures, table_files
from .block import Dataset
from .columns import strings
from .source import Piece, Source
from .values import texts_of

TABLES = tuple(
    f"{folder}{name}"
    for folder in ("", "data/public/")
    for name in ("gender_labelled_images.csv", "gender_labelled_images.parquet")
)
COLUMNS = ("search_term", "search_provider", "order", "image_gender")
# A column of addresses that end in PROVIDER/OCCUPATION/RANK.jpg.
ADDRESS, ADDRESS_PARTS = "image_url", 3
# Columns that are made of these.
MADE = ("item_id", "occupation", "gender")
# The table was written by R, which says so where nobody judged.
NOT_JUDGED = "NA"
# Folders that the archive may be unpacked into.
PICTURE_FOLDERS = ("", "images/", "aws-images", "data/public")
GENDERS = ("woman", "man")


class Occupations(Dataset):
    """Occupations: results of a picture search for 45 occupations, with gender as people judged it."""

    own_attributes = {"gender": {}}
    items = "results of a picture search for 45 occupations"
    terms = "annotations CC BY 4.0; pictures belong to their owners"

    kind: Literal["occupations"] = "occupations"
    root: DriverPath | None = Field(
        None,
        description="folder that image paths start from, relative to the configuration file; default: "
        "where the table is",
    )

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The labelled results; columns gender (judged) and occupation beside the table's own.

        Raises:  UsageError naming the table, column or picture folder that is missing.
        """
        place = folder / self.path
        if place.is_file():
            file, place = place, place.parent
        else:
            place = pictures.folder_of(folder / self.path)
            file = layout.find_file(place, TABLES, "the table of Occupations")
        wanted = dict.fromkeys(COLUMNS, "the table of Occupations")
        if ADDRESS in table_files.names(file):
            wanted[ADDRESS] = "the table of Occupations"
        wanted |= {name: setting for name, setting in columns.items() if name not in (*MADE, *wanted)}
        files = [Piece(path=file)]
        table, _ = table_files.read(files, wanted)
        terms, providers, ranks, genders = (
            strings(self, table, name, "the table of Occupations").to_pylist() for name in COLUMNS
        )
        names = _names(table, providers, terms, ranks)
        if self.root is not None:
            root = pictures.folder_of(folder / self.root)
        else:
            expected = [os.path.join(one, providers[0] or "") for one in PICTURE_FOLDERS]
            root = layout.find_folder(place.absolute(), expected, "the pictures of Occupations").parent
        layout.expect_some(root, names)
        judged = [None if gender == NOT_JUDGED else gender for gender in genders]
        for name, values in zip(MADE, (names, terms, judged)):
            table = table.append_column(name, pa.array(values, pa.string()))
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, names),
            id="item_id",
            image="item_id",
            root=str(root),
            relevance="occupation",
            orders={"gender": GENDERS},
        )

    def read_by_workers(self) -> str | None:
        return self.root or self.path


def _names(table: pa.Table, providers: list[str], terms: list[str], ranks: list[str]) -> list[str]:
    """Paths of the pictures: the end of each one's old address where the table has it."""
    if ADDRESS in table.column_names:
        addresses = texts_of(table[ADDRESS]).to_pylist()
        return ["/".join(str(address).split("/")[-ADDRESS_PARTS:]) for address in addresses]
    return [f"{provider}/{term}/{rank}.jpg" for provider, term, rank in zip(providers, terms, ranks)]
