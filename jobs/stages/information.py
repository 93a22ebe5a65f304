"""How much each column of a data set's vectors tells about attributes, a few columns a unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.datasets.catalogue import attribute_columns
from jobs.stages.labels import with_predicted
from jobs.stages.reading.joint_levels import joint_names
from jobs.stages.reading.vectors import Shard, open_shard, rows_with_vectors
from jobs.store import Store, unit_file
from mprlib.baselines import group_labels
from mprlib.baselines.clip_clip import order_of
from mprlib.baselines.mutual_information import mutual_information

# The estimate settles long before; more rows would only cost. Taken evenly from the whole data set.
MOST_ROWS = 20_000


def information(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """Mutual information, in nats, of one part of the columns with the joint level of attributes.

    Items without a vector tell nothing and stay out of it.
    """
    shards = [open_shard(store, key) for key in spec["vectors"]]
    present = rows_with_vectors(shards)
    if not present.size:
        raise ValueError("no item has a vector: see the skipped items")
    items = store.read_table(unit_file("catalogue", spec["catalogue"], "items")).take(pa.array(present))
    levels = attribute_columns(with_predicted(items, spec, store))
    joint = group_labels.from_levels(joint_names(zip(*(levels[name] for name in spec["attributes"]))))
    rows = np.unique(np.linspace(0, len(joint) - 1, min(len(joint), MOST_ROWS)).astype(np.intp))
    vectors = _vectors_at(shards, rows)
    width = vectors.shape[1]
    start, stop = (width * edge // spec["parts"] for edge in (spec["part"], spec["part"] + 1))
    found = mutual_information(vectors, joint[rows], slice(start, stop)) if stop > start else np.empty(0)
    columns = {"column": pa.array(range(start, stop), pa.int64()), "information": pa.array(found, pa.float64())}
    return {"information": pa.table(columns)}


def order(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """All columns by falling information, from the units of all parts.

    Columns that tell nothing are tied, and how a sort leaves ties depends on the processor: the order is made
    once and stored, so that every query is answered by the same one.
    """
    parts = [store.read_table(unit_file("information", key, "information")) for key in spec["information"]]
    found = order_of(pa.concat_tables(parts)["information"].to_numpy())
    return {"order": pa.table({"column": pa.array(found, pa.int64())})}


def read_order(key: str, store: Store) -> np.ndarray:
    """The columns (d,) that an order unit has sorted."""
    return store.read_table(unit_file("order", key, "order"))["column"].to_numpy()


def _vectors_at(shards: Sequence[Shard], positions: np.ndarray) -> np.ndarray:
    """Vectors float32 at ascending positions among those of all shards."""
    found, start = [], 0
    for shard in shards:
        stop = start + len(shard.vectors)
        inside = positions[(positions >= start) & (positions < stop)]
        found.append(shard.vectors[inside - start].astype(np.float32, copy=False))
        start = stop
    return np.concatenate(found)
