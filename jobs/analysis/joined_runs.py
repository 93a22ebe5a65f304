"""Several runs as one: an exhibit may need one run per data set, or one per reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .load import TABLES, Run, from_tables, read_tables

# What two runs must agree on for their data sets of one name to be one data set.
SAME = ("encoder", "prefilter", "seed")


def load_together(folders: Sequence[str | PathLike[str]]) -> Run:
    """The runs in these folders; the manifest is that of the first, with what all of them prepared.

    A data set that two runs name alike stays one where its content, encoder and pools are the same;
    else the later run's gets the run's name in brackets.
    Raises:  UsageError when a folder holds no results, or tables that cannot be read.
    """
    read = [read_tables(folder) for folder in folders]
    known: dict[str, Any] = {}
    together: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
    prepared: list[dict[str, Any]] = []
    for number, (manifest, tables) in enumerate(read, start=1):
        names = {
            name: _name(name, manifest, number, known) for name in pc.unique(tables["results"]["dataset"]).to_pylist()
        }
        for table, parts in together.items():
            parts.append(_renamed(tables[table], names))
        prepared += [
            {**one, "dataset": names.get(one["dataset"], one["dataset"])} for one in manifest.get("preparation") or []
        ]
    return from_tables(
        manifest={**read[0][0], "preparation": prepared},
        **{name: pa.concat_tables(parts) for name, parts in together.items()},
    )


def _name(name: str, manifest: Mapping[str, Any], number: int, known: dict[str, Any]) -> str:
    settings = manifest.get("settings") or {}
    prints = [one.get("fingerprint") for one in manifest.get("data") or [] if one.get("dataset") == name]
    # Data sets of a run without a manifest are taken for its own.
    content = [prints, *(settings.get(key) for key in SAME)] if prints else number
    run = manifest.get("name") or f"run {number}"
    for candidate in (name, f"{name} ({run})", f"{name} ({run}, {number})"):
        if known.setdefault(candidate, content) == content:
            return candidate
    return f"{name} (folder {number})"


def _renamed(table: pa.Table, names: Mapping[str, str]) -> pa.Table:
    place = table.schema.get_field_index("dataset")
    renamed = pa.array([names.get(name, name) for name in table["dataset"].to_pylist()], pa.string())
    return table.set_column(place, table.schema.field(place), renamed)
