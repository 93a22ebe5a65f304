"""Describing and drawing some cases of a run: what a task of the report does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from ..analysis.curves import trade_offs
from ..analysis.parts import Part, item_ids, read_part
from ..analysis.tables import read_csv
from ..stages.unit import Tables, Unit
from ..store import Store
from .described import Described, described
from .figures import curve_pictures
from .shared import Shared

FOLDER = "report"
CASES = "cases.arrow"
FRAMES = ("pairs", "top", "repaired", "measured", "unmet")
PICTURES = "pictures"
FILES = pa.schema([("name", pa.string()), ("bytes", pa.int64()), ("sha256", pa.string())])


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedCases(Unit):
    """Some cases as the report shows them. Their drawings are written where they belong, and listed.

    publishing names the report that is made: what is described for one serves no other.
    """

    stage: ClassVar[str] = "report"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 1.0

    part: Part
    shared: Shared
    publishing: str

    def run(self, store: Store) -> Tables:
        run = read_part(store, self.part, item_ids(store), {})
        curves = trade_offs(run.results)
        found = described(run, self.shared, curves)
        cases = found.cases.replace_schema_metadata({f"header {name}": line for name, line in found.headers.items()})
        return {
            CASES: cases,
            PICTURES: self._drawn(store, curves),
            **{name: pa.Table.from_pandas(getattr(found, name), preserve_index=False) for name in FRAMES},
        }

    def _drawn(self, store: Store, curves: pd.DataFrame) -> pa.Table:
        # A drawing that is lost with its machine is drawn again.
        unflushed = Store(store.root, is_durable=False)
        files = []
        for name, data in curve_pictures(curves, self.shared.classes, self.shared.series):
            unflushed.write(f"{FOLDER}/{name}", data)
            files.append({"name": f"{FOLDER}/{name}", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
        return pa.Table.from_pylist(files, schema=FILES)


def read_worst_pairs(store: Store) -> pd.DataFrame:
    """The worst pairs of a run's report, worst first."""
    texts = ["dataset", "reference", "query", "group", "function_class", "method_repaired"]
    return read_csv(store.read(f"{FOLDER}/worst.csv"), texts)


def read_described(store: Store, key: str) -> Described:
    """What a unit described; its cases are mapped."""
    cases = store.map_table(DescribedCases.file(key, CASES))
    metadata: Mapping[bytes, bytes] = cases.schema.metadata
    headers = {name.decode().removeprefix("header "): line for name, line in metadata.items()}
    frames: dict[str, Any] = {name: store.read_table(DescribedCases.file(key, name)).to_pandas() for name in FRAMES}
    return Described(cases=cases, headers=headers, **frames)


def read_drawn(store: Store, key: str) -> dict[str, dict[str, Any]]:
    """Bytes and SHA-256 of the drawings that a unit made, by their names below the root."""
    rows = store.read_table(DescribedCases.file(key, PICTURES)).to_pylist()
    return {row["name"]: {"bytes": row["bytes"], "sha256": row["sha256"]} for row in rows}
