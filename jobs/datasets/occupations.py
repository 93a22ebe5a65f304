"""Occupations (Kay, Matuszek, Munson 2015): Google's picture results for 45 occupations, with judged gender.

Files: https://github.com/mjskay/gender-in-image-search, data/public/gender_labelled_images.csv and the archive of
pictures that its README links, unpacked beside the table: google/OCCUPATION/RANK.jpg. A table in Parquet does as well;
its columns are search_term, search_provider, order (rank) and image_gender (woman or man). The true term of a picture
is the occupation that it was found for, which gives precision.
Terms: the annotations are CC BY 4.0; the pictures are results of a search engine and belong to their owners.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from jobs.config.datasets import Dataset
from jobs.datasets import layout, pictures, table_files
from jobs.datasets.columns import strings
from jobs.datasets.source import Source

TABLES = tuple(
    f"{folder}{name}"
    for folder in ("", "data/public/")
    for name in ("gender_labelled_images.csv", "gender_labelled_images.parquet")
)
COLUMNS = ("search_term", "search_provider", "order", "image_gender")
# A column of addresses that end in PROVIDER/OCCUPATION/RANK.jpg.
ADDRESS, ADDRESS_PARTS = "image_url", 3
# Folders that the archive may be unpacked into.
PICTURE_FOLDERS = ("", "images", "aws-images", "data/public")
GENDERS = ("woman", "man")


def read(block: Dataset, folder: Path) -> Source:
    """The labelled results; columns gender (judged) and occupation beside the table's own.

    Raises:  UsageError naming the table, column or picture folder that is missing.
    """
    place = folder / block.path
    if place.is_file():
        file, place = place, place.parent
    else:
        place = pictures.folder_of(block, folder)
        file = layout.find_file(block, place, TABLES, "the table of Occupations")
    table = table_files.read(block, [file], COLUMNS)
    terms, providers, ranks, genders = (
        strings(block, table, name, "the table of Occupations").to_pylist() for name in COLUMNS
    )
    names = _names(table, providers, terms, ranks)
    if block.root is not None:
        root = pictures.folder_of(block, folder, block.root)
    else:
        expected = [os.path.join(one, providers[0] or "") for one in PICTURE_FOLDERS]
        root = layout.find_folder(block, place.absolute(), expected, "the pictures of Occupations").parent
    layout.expect_some(block, root, names)
    added = {"item_id": names, "occupation": terms, "gender": genders}
    for name, values in added.items():
        table = table.drop_columns([name]) if name in table.column_names else table
        table = table.append_column(name, pa.array(values, pa.string()))
    return Source(
        table=table,
        labels=table_files.fingerprint([file]),
        files=pictures.fingerprint(block, root, names),
        id="item_id",
        image="item_id",
        root=str(root),
        relevance="occupation",
        orders={"gender": GENDERS},
    )


def _names(table: pa.Table, providers: list[str], terms: list[str], ranks: list[str]) -> list[str]:
    """Paths of the pictures: the end of each one's old address where the table has it."""
    if ADDRESS in table.column_names:
        addresses = table[ADDRESS].to_pylist()
        return ["/".join(str(address).split("/")[-ADDRESS_PARTS:]) for address in addresses]
    return [f"{provider}/{term}/{rank}.jpg" for provider, term, rank in zip(providers, terms, ranks)]
