"""Levels that probes predict: of a shard's items, and beside the labels that a catalogue holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.arrays import FloatArray

from ..datasets.catalogue import ATTRIBUTE
from ..store import Store
from ..store.chunks import in_one
from ..store.keys import digest
from .asked import Asked
from .catalogue import read_items
from .embed import open_shard
from .numeric_code import NAMING_CODE
from .probe import read_probe
from .unit import Tables, Unit, reads
from .vectors import to_matrix

TABLE = "labels"
CALIBRATED = "calibrated"

# Items looked at together, so that a shard takes little memory.
ITEMS_AT_ONCE = 16_384
# Items that are looked up in one table after the other, rather than in all tables at once.
FEW_ITEMS = 25_000
# Items of a catalogue whose labels a worker keeps, at most; bytes that each takes while all ids are looked up, of which
# 4 are kept (of ids of 40 characters; about 4 less for each character less), and bytes that each takes where few are
# looked up, table by table.
MOST_KEPT, LOOKED_UP_BYTES, READ_BYTES = 2_000_000, 270, 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels(Unit):
    """The most probable level, by a probe, of each item of a shard of vectors: item_id, level, probability.

    An item whose most probable level has less than least_probability is missing. is_calibrated: there is a column of
    the calibrated probabilities of all levels too, in the probe's order. A unit fails when the probe was trained on
    vectors of another width.
    """

    stage: ClassVar[str] = "labels"
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 0.2
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *NAMING_CODE,
        "mprlib.calibration",
        "mprlib.probes",
        "jobs.stages.probe",
        "jobs.stages.vectors",
    )

    probe: str = reads()
    vectors: str = reads()
    least_probability: float
    missing: str
    is_calibrated: bool = False

    def run(self, store: Store) -> Tables:
        trained, shard = read_probe(store, self.probe), open_shard(store, self.vectors)
        names = np.array(trained.levels, dtype=object)
        levels, certain = [], []
        calibrated: list[FloatArray] = [np.zeros((0, len(names)))]
        for start in range(0, len(shard.vectors), ITEMS_AT_ONCE):
            vectors = shard.vectors[start : start + ITEMS_AT_ONCE]
            probabilities = trained.probabilities(vectors)
            largest = probabilities.max(axis=1)
            found = names[probabilities.argmax(axis=1)]
            levels.append(np.where(largest < self.least_probability, self.missing, found))
            certain.append(largest)
            if self.is_calibrated:
                calibrated.append(trained.calibrated(vectors))
        columns: dict[str, pa.Array] = {
            "item_id": shard.ids,
            "level": pa.array(np.concatenate(levels) if levels else [], pa.string()),
            "probability": pa.array(np.concatenate(certain) if certain else [], pa.float64()),
        }
        if self.is_calibrated:
            values = pa.array(np.concatenate(calibrated).reshape(-1), pa.float64())
            columns[CALIBRATED] = pa.FixedSizeListArray.from_arrays(values, len(names))
        return {TABLE: pa.table(columns)}


def predicted_levels(ids: pa.ChunkedArray | pa.Array, keys: Sequence[str], store: Store) -> pa.ChunkedArray:
    """The level (n,) that the labels units give to each item; null for one that has no vector."""
    return _of_items(ids, keys, "level", store)


def calibrated_probabilities(ids: pa.ChunkedArray | pa.Array, keys: Sequence[str], store: Store) -> FloatArray:
    """Probabilities (n, L) of all levels, in the probe's order, of items that have a vector."""
    return to_matrix(_of_items(ids, keys, CALIBRATED, store))


def _of_items(ids: pa.ChunkedArray | pa.Array, keys: Sequence[str], column: str, store: Store) -> pa.ChunkedArray:
    """The column's values (n,) of items, null for those that no table has."""
    tables = (store.read_table(Labels.file(key, TABLE), columns=["item_id", column]) for key in keys)
    if len(ids) <= FEW_ITEMS:
        # Of each table only the rows of these items are kept: looking them up among all takes longer, and more memory.
        asked = in_one(ids)
        tables = (table.filter(pc.is_in(table["item_id"], value_set=asked)) for table in tables)
    known = pa.concat_tables(tables)
    values, known_ids = known[column], in_one(known["item_id"])
    # Ids are what takes memory: only one copy of them is held while they are looked up.
    del known, tables
    return values.take(pc.index_in(ids, value_set=known_ids))


def with_predicted(items: pa.Table, predicted: Mapping[str, Sequence[str]], store: Store) -> pa.Table:
    """Items with a column for each attribute that is predicted, by keys of labels units; as they are without any.

    Items without a vector have no predicted level: they cannot be retrieved, and whom they would represent in a
    reference is not known, so they are left out.
    """
    for attribute, keys in predicted.items():
        items = items.append_column(ATTRIBUTE + attribute, predicted_levels(items["item_id"], keys, store))
        items = items.filter(pc.is_valid(items[ATTRIBUTE + attribute]))
    return items


def lookup_bytes(items: int, people: int) -> int:
    """What looking up the labels of some items among all people takes."""
    return people * (LOOKED_UP_BYTES if people <= MOST_KEPT or items > FEW_ITEMS else READ_BYTES)


def with_kept_labels(
    pool: pa.Table, catalogue: str, people: int, predicted: Mapping[str, Sequence[str]], store: Store
) -> pa.Table:
    """As `with_predicted` of a pool, whose column `row` says which items of a catalogue of so many people they are:
    labels of the whole catalogue are read once, and kept for the next pools, unless there are too many or nobody knows
    how many."""
    if not predicted or not 0 < people <= MOST_KEPT:
        return with_predicted(pool, predicted, store)
    key = digest([catalogue, {name: list(keys) for name, keys in predicted.items()}])
    for attribute, levels in _levels_of_rows(Asked(store, key, (catalogue, predicted))).items():
        pool = pool.append_column(ATTRIBUTE + attribute, levels.take(pool["row"]))
        pool = pool.filter(pc.is_valid(pool[ATTRIBUTE + attribute]))
    return pool


@lru_cache(maxsize=1)
def _levels_of_rows(asked: Asked[tuple[str, Mapping[str, Sequence[str]]]]) -> dict[str, pa.DictionaryArray]:
    """The level of each row of a catalogue, by attribute; null for an item without a vector."""
    catalogue, predicted = asked.what
    ids = read_items(asked.store, catalogue, ["item_id"])["item_id"]
    return {
        name: in_one(predicted_levels(ids, keys, asked.store).dictionary_encode()) for name, keys in predicted.items()
    }
