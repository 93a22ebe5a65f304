"""What selections are compared with, in cells: people or stated shares; and how much a sample of people varies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar

import pyarrow as pa

from mprlib import Reference
from mprlib.encoding import Encoding
from mprlib.populations import balanced, target_shares
from mprlib.reference import STATED_SIZE
from mprlib.statistics.resampling import LARGEST_BLOCK, RESAMPLES, Resamples

from ..store import Store
from .asked import Asked
from .cells import cell_table, encoded_levels, read_cells, restored, stored
from .labels import with_predicted
from .numeric_code import COUNTING_CODE
from .pool import people_weights, read_pool
from .unit import Cost, Tables, Unit, reads
from .vectors import to_column, to_matrix

TABLE, DRAWN = "reference", "resamples.arrow"
# The kind of a reference of people; others are as configured.
PEOPLE = "people"
# References that a process keeps, each with up to a hundred megabytes of lotteries: queries of one follow each other,
# with its views of some attributes.
KEPT = 4
# Key of the schema's metadata: what the reference is, beside its cells.
KIND = b"kind"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceCells(Unit):
    """A reference in the columns of an encoding, and resamples of it where it is a sample.

    kind: `people`, or shares and size as configured. cells: keys of the units that counted its people, where it has
    some. levels: of each attribute. attributes: those that a class looks at, in its order; shares may be stated of
    others. missing: what an item without a value is called.
    """

    stage: ClassVar[str] = "reference"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *COUNTING_CODE,
        "mprlib.kept",
        "mprlib.populations",
        "mprlib.proportional_fitting",
        "mprlib.reference",
        "mprlib.reference_arguments",
        "mprlib.reference_columns",
        "mprlib.shares",
        "mprlib.stated_table",
        "mprlib.statistics.resampling",
        "jobs.stages.cells",
        "jobs.stages.vectors",
    )

    kind: str
    levels: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    missing: str
    shares: Mapping[str, Mapping[str, float]] | None = None
    size: int | float | None = None
    cells: tuple[str, ...] = reads(default=())
    seed: int = 0

    def run(self, store: Store) -> Tables:
        reference = self._read(store)
        table = reference.table
        kind = {"size": reference.size, "is_sample": reference.is_sample}
        written = stored(table, {"labels": to_column(table.labels, "float64")})
        tables = {TABLE: written.replace_schema_metadata({**written.schema.metadata, KIND: json.dumps(kind)})}
        if _is_resampled(reference):
            drawn = Resamples.drawn(reference, RESAMPLES, [self.seed, 0])
            columns = {name: to_column(getattr(drawn, name), "float64") for name in ("plain", "smoothed")}
            tables[DRAWN] = pa.table(columns)
        return tables

    def cost(self) -> Cost:
        # As many cells as there can be, or as resamples of are kept.
        cells = min(prod(len(self.levels[name]) for name in self.attributes), LARGEST_BLOCK // RESAMPLES)
        drawn_bytes = 2 * cells * RESAMPLES * 8 if self.cells else 0
        return Cost(seconds=2e-7 * cells * RESAMPLES, memory_bytes=2 * drawn_bytes, disk_bytes=drawn_bytes)

    def _read(self, store: Store) -> Reference:
        """The reference.

        A balanced one gives no share to items without a value, which `missing` names: they are no group.
        Raises:  mprlib.InputError for shares that contradict each other or do not sum to 1.
        """
        if self.kind == PEOPLE:
            seen_levels = {name: self.levels[name] for name in self.attributes}
            return Reference(table=read_cells(store, self.cells, Encoding(levels=seen_levels)))
        whole = Encoding(levels=dict(self.levels))
        if self.kind == "shares":
            stated = target_shares(whole, self.shares or {}, self.size or STATED_SIZE)
        else:
            stated = balanced(whole, self.size, missing=self.missing)
        if self.attributes == tuple(whole.levels):
            return stated
        return stated.of_columns([column for name in self.attributes for column in whole.attributes[name]])


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceSource:
    """Where a solve unit's reference is from.

    units: keys of reference units, by what a class may look at (`seen`); none for the people of a query's pool, whose
    labels units `predicted` names by attribute.
    """

    name: str
    units: Mapping[str, str] = reads(default_factory=dict)
    pool: str | None = reads(default=None)
    predicted: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)

    def read(self, store: Store, encoding: Encoding) -> Reference:
        """The reference in the columns of an encoding."""
        if self.pool is None:
            return read_reference(store, self.units[seen(list(encoding.levels))])
        people = with_predicted(read_pool(store, self.pool), self.predicted, store)
        weights = pa.array(people_weights(people), pa.float64())
        cells = cell_table(people.set_column(people.column_names.index("weight"), "weight", weights))
        # Chosen by their similarity, the people of a pool are no independent draws of a population.
        return Reference(table=restored(cells, encoded_levels(cells, encoding)), is_sample=False)

    def resamples(self, store: Store, encoding: Encoding, reference: Reference) -> Resamples | None:
        """Resamples of the reference; None where it is no sample, or has too many cells to keep them."""
        if not _is_resampled(reference):
            return None
        drawn = store.map_table(ReferenceCells.file(self.units[seen(list(encoding.levels))], DRAWN))
        return Resamples(**{name: to_matrix(drawn[name]) for name in ("plain", "smoothed")})


def seen(attributes: Sequence[str]) -> str:
    """A name for the attributes that a class looks at."""
    return json.dumps(list(attributes), ensure_ascii=False)


def read_reference(store: Store, key: str) -> Reference:
    """The reference that a unit wrote, with what has been computed of it for other queries."""
    return _kept(Asked(store, key, key))


@lru_cache(maxsize=KEPT)
def _kept(asked: Asked[str]) -> Reference:
    store, key = asked.store, asked.what
    written = store.read_table(ReferenceCells.file(key, TABLE))
    kind = json.loads(written.schema.metadata[KIND])
    return Reference(table=restored(written, to_matrix(written["labels"])), **kind)


def _is_resampled(reference: Reference) -> bool:
    return reference.is_sample and reference.counts.size * RESAMPLES <= LARGEST_BLOCK
