"""A run's tables and manifest, read from its folder; the only place of the report that opens files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..errors import UsageError
from ..stages.result_rows import RESULTS
from ..store import Store, schema
from ..store.chunks import in_one
from ..words import shortened
from .worst import MINIMUM_SHARE

TABLES = {
    "results": RESULTS,
    "groups": schema.GROUPS,
    "items": schema.ITEMS,
    "thumbnails": schema.THUMBNAILS,
}


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """The items of every result row, each id written once.

    Shapes:  ids (distinct ids,); codes (all choices,) positions in ids; offsets (rows + 1,).
    A run repeats its lists for each function class; as Python lists they would take gigabytes.
    """

    ids: list[str]
    codes: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, lists: pa.ChunkedArray) -> Chosen:
        """From a column of list<string>; a null row holds no items."""
        array = in_one(lists)
        values = array.flatten().dictionary_encode()
        lengths = np.asarray(array.value_lengths().fill_null(0), dtype=np.int64)
        return cls(
            ids=values.dictionary.to_pylist(),
            codes=np.asarray(values.indices, dtype=np.int64),
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
        )

    def among(self, ids: Sequence[str]) -> Chosen:
        """The same choices with other ids to refer to, which hold all of these.

        Raises:  UsageError naming an id that is not among them.
        """
        places = pd.Index(ids).get_indexer(pd.Index(self.ids))
        if (places < 0).any():
            missing = self.ids[int(np.flatnonzero(places < 0)[0])]
            raise UsageError(
                f"item {missing!r:.200} is in results/ and not in items/: run the audit again to repair them"
            )
        return Chosen(ids=list(ids), codes=places.astype(np.int64)[self.codes], offsets=self.offsets)

    def row(self, number: int) -> NDArray[np.int64]:
        """Positions in ids (k,) of one row's items, best first; (0,) for a row without items."""
        return self.codes[self.offsets[number] : self.offsets[number + 1]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Run:
    """What a report is made of.

    results and groups have the columns of jobs.store.schema but for item_ids and witness; the index of
    results is the row number in `chosen`. items is indexed by (dataset, item_id). Every key of the
    manifest may be missing. thumbnails are WebP pictures by (dataset, item_id), of some items.
    """

    results: pd.DataFrame
    chosen: Chosen
    groups: pd.DataFrame
    items: pd.DataFrame
    manifest: Mapping[str, Any]
    thumbnails: Mapping[tuple[str, str], bytes] = field(default_factory=dict)

    @property
    def minimum_share(self) -> float:
        """Share of the reference below which a group stays out of headlines, as the run was configured."""
        return minimum_share_of(self.manifest)


def minimum_share_of(manifest: Mapping[str, Any]) -> float:
    """Share of the reference below which a group stays out of headlines, as the run was configured."""
    configured = (manifest.get("settings") or {}).get("report") or {}
    return float(configured.get("minimum_share", MINIMUM_SHARE))


def load(folder: str | PathLike[str]) -> Run:
    """The run in a folder, which may be any fsspec URL.

    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    manifest, tables = read_tables(folder)
    return from_tables(manifest=manifest, **tables)


def read_tables(folder: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """The manifest of the run in a folder, and its TABLES; thumbnails may be empty.

    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    store = Store(str(folder)).readable()
    with tables_of(store):
        tables = {name: read_all(store, name, columns) for name, columns in TABLES.items()}
    if tables["results"].num_rows == 0:
        raise UsageError(f"{folder} holds no rows under results/: `run` writes them, a report only reads them")
    return store.read_json("manifest.json") or {}, tables


@contextmanager
def tables_of(store: Store) -> Iterator[None]:
    """Tables that cannot be read are a UsageError."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        why = shortened(error)
        raise UsageError(
            f"{store.root}: the tables cannot be read, run the audit again to repair them: {why}"
        ) from None


def from_tables(
    *,
    results: pa.Table,
    groups: pa.Table,
    items: pa.Table,
    thumbnails: pa.Table | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> Run:
    """The run that these tables (columns of jobs.store.schema) hold."""
    results = of_first_attention(results)
    frame = results.drop_columns(["item_ids", "witness"]).to_pandas()
    return Run(
        results=frame,
        chosen=Chosen.of(results["item_ids"]),
        groups=groups.to_pandas(),
        items=described(items),
        manifest=manifest or {},
        thumbnails=pictured(schema.THUMBNAILS.empty_table() if thumbnails is None else thumbnails),
    )


def of_first_attention(results: pa.Table) -> pa.Table:
    """The rows of one attention: the configuration's first, which every unit writes first, is what is reported.

    Rows of a run that had none are all of it.
    """
    if results.num_rows == 0:
        return results
    return results.filter(pc.fill_null(pc.equal(results["attention"], results["attention"][0]), True))


def described(items: pa.Table) -> pd.DataFrame:
    """Descriptions of items, by (dataset, item_id)."""
    frame: pd.DataFrame = items.to_pandas(maps_as_pydicts="lossy")
    # An item enters once for each unit that chose it.
    return frame.drop_duplicates(["dataset", "item_id"]).set_index(["dataset", "item_id"]).sort_index()


def pictured(thumbnails: pa.Table) -> dict[tuple[str, str], bytes]:
    """Thumbnails by (dataset, item_id)."""
    return {(row["dataset"], row["item_id"]): row["thumbnail"] for row in thumbnails.to_pylist()}


def read_all(store: Store, folder: str, columns: pa.Schema, names: Sequence[str] | None = None) -> pa.Table:
    """All committed Parquet files of a folder, by name, so that the order never depends on the disk; some columns."""
    chosen = columns if names is None else pa.schema([columns.field(name) for name in names])
    files = [name for name in store.list(folder) if name.endswith(".parquet")]
    tables = [pq.read_table(pa.BufferReader(store.read(name)), schema=chosen) for name in files]
    return pa.concat_tables(tables) if tables else chosen.empty_table()
