"""How often items of each true level have each label, by the items' probabilities: a confusion of a whole data set.

People behind a reference have labels from where the items have them. Which true shares those labels stand for is what
the probabilities of all items say, not those of the few that are near one query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mprlib import Confusion
from mprlib.arrays import FloatArray, IntArray

from ..datasets.part import ATTRIBUTE, PROBABILITIES
from ..store import Store
from .catalogue import read_range
from .cells import coded
from .numeric_code import NAMING_CODE
from .unit import Cost, Tables, Unit, reads
from .vectors import to_matrix

TABLE = "likely"
# Expected items of a true level below which none is taken to be of it.
FEWEST = 1.0
# Seconds of one core, and bytes of memory beside a worker's own, for a person and an attribute.
SECONDS_PER_PERSON = 1e-6
BYTES_PER_PERSON = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Likely(Unit):
    """Expected items by true level and label of the rows [start, stop) of a catalogue, each with its weight.

    attributes: those with columns of probabilities, and their levels in these columns' order.
    """

    stage: ClassVar[str] = "likely"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.05
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *NAMING_CODE,
        "mprlib.confusion",
        "jobs.stages.cells",
        "jobs.stages.vectors",
    )

    catalogue: str = reads()
    start: int
    stop: int
    attributes: Mapping[str, tuple[str, ...]]

    def run(self, store: Store) -> Tables:
        columns = [start + name for name in self.attributes for start in (ATTRIBUTE, PROBABILITIES)]
        people = read_range(store, self.catalogue, self.start, self.stop, [*columns, "weight"])
        return {TABLE: pa.concat_tables(_counted(people, name, levels) for name, levels in self.attributes.items())}

    def cost(self) -> Cost:
        people = (self.stop - self.start) * len(self.attributes)
        return Cost(seconds=people * SECONDS_PER_PERSON, memory_bytes=people * BYTES_PER_PERSON)


def likely_confusions(store: Store, keys: Sequence[str], levels: Mapping[str, Sequence[str]]) -> dict[str, Confusion]:
    """The confusions of all items that some units counted, by attribute, with these levels in this order."""
    sums: dict[str, FloatArray] = {}
    for row in pa.concat_tables(store.read_table(Likely.file(key, TABLE)) for key in keys).to_pylist():
        own = levels[row["attribute"]]
        found = sums.setdefault(row["attribute"], np.zeros((2, len(own), len(own))))
        found[:, own.index(row["level"]), own.index(row["label"])] += row["weight"], row["rows"]
    return {name: expected_confusion(both[0], both[1], levels[name]) for name, both in sums.items()}


def expected_confusion(weights: FloatArray, rows: FloatArray, levels: Sequence[str] | None = None) -> Confusion:
    """Of expected items (L, L) by true level and label; labels of a level that no item is likely to have are right."""
    totals = rows.sum(axis=1)
    is_empty = (totals < FEWEST) | (weights.sum(axis=1) <= 0.0)
    counts = np.where(is_empty[:, None], np.eye(len(weights)), weights)
    found = Confusion.of_counts(counts, levels, np.where(is_empty, FEWEST, totals))
    # Of a level that nobody has, no item was counted, few or many: the row is known.
    return replace(found, sizes=np.where(is_empty, np.inf, found.sizes))


def by_label(likely: FloatArray, codes: IntArray, labels: int) -> FloatArray:
    """Sums (L, labels) of the probabilities (n, L) of items, by their label (n,)."""
    return np.stack([np.bincount(codes, column, labels) for column in likely.T])


def _counted(people: pa.Table, name: str, levels: Sequence[str]) -> pa.Table:
    labels, codes = coded(people[ATTRIBUTE + name])
    likely, weights = to_matrix(people[PROBABILITIES + name]), people["weight"].to_numpy()

    def sums(of_items: FloatArray) -> pa.Array:
        return pa.array(by_label(of_items, codes, len(labels)).ravel(), pa.float64())

    columns = {
        "attribute": pa.array([name] * (len(labels) * len(levels)), pa.string()),
        "level": pa.array(np.repeat(levels, len(labels)), pa.string()),
        "label": pa.array(labels.to_pylist() * len(levels), pa.string()),
        "weight": sums(likely * weights[:, None]),
        "rows": sums(likely),
    }
    return pa.table(columns)
