"""How much each column of a data set's vectors tells about attributes, a few columns per unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mprlib.baselines import group_labels
from mprlib.baselines.mutual_information import mutual_information

from ..datasets.catalogue import attribute_columns
from ..methods.joint_levels import joint_names
from ..store import Store
from .catalogue import attribute_names, read_items
from .embed import open_shard
from .labels import with_predicted
from .numeric_code import NAMING_CODE
from .unit import Tables, Unit, reads
from .vectors import Shard, rows_with_vectors

TABLE = "information"
# The estimate settles long before; more rows would only cost. Taken evenly from the whole data set.
MOST_ROWS = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Information(Unit):
    """Mutual information, in nats, of one part of the columns of vectors with the joint level of attributes.

    predicted: keys of labels units by attribute. Items without a vector tell nothing and are left out.
    """

    stage: ClassVar[str] = "information"
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 2.0
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        *NAMING_CODE,
        "mprlib.baselines.mutual_information",
        "mprlib.baselines.group_labels",
        "jobs.methods.joint_levels",
        "jobs.stages.labels",
        "jobs.stages.vectors",
    )

    catalogue: str = reads()
    vectors: tuple[str, ...] = reads()
    attributes: tuple[str, ...]
    part: int
    parts: int
    predicted: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)

    def run(self, store: Store) -> Tables:
        shards = [open_shard(store, key) for key in self.vectors]
        present = rows_with_vectors(shards)
        if not present.size:
            raise ValueError("no item has a vector: see the skipped items")
        columns = ["item_id", *attribute_names(store, self.catalogue)]
        items = read_items(store, self.catalogue, columns).take(pa.array(present))
        levels = attribute_columns(with_predicted(items, self.predicted, store))
        joint = group_labels.from_levels(joint_names(zip(*(levels[name] for name in self.attributes))))
        rows = np.unique(np.linspace(0, len(joint) - 1, min(len(joint), MOST_ROWS)).astype(np.intp))
        vectors = _vectors_at(shards, rows)
        width = vectors.shape[1]
        start, stop = (width * edge // self.parts for edge in (self.part, self.part + 1))
        found = mutual_information(vectors, joint[rows], slice(start, stop)) if stop > start else np.empty(0)
        written = {"column": pa.array(range(start, stop), pa.int64()), "information": pa.array(found, pa.float64())}
        return {TABLE: pa.table(written)}


def read_information(store: Store, key: str) -> pa.Table:
    """Columns `column` and `information` of one part."""
    return store.read_table(Information.file(key, TABLE))


def _vectors_at(shards: Sequence[Shard], positions: np.ndarray) -> np.ndarray:
    """Vectors float32 at ascending positions among those of all shards."""
    found, start = [], 0
    for shard in shards:
        stop = start + len(shard.vectors)
        inside = positions[(positions >= start) & (positions < stop)]
        found.append(shard.vectors[inside - start].astype(np.float32, copy=False))
        start = stop
    return np.concatenate(found)
