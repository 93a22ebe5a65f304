"""A probe trained on a labelled data set's vectors, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.datasets.catalogue import ATTRIBUTE
from jobs.stages.reading.vectors import open_shard, to_matrix
from jobs.store import Store, unit_file
from mprlib.probes import Probe, train_probe

# More labelled items train no better logistic regression of this many numbers, they only cost; taken evenly.
MOST_ROWS = 50_000


def probe(spec: Mapping[str, Any], store: Store) -> dict[str, pa.Table]:
    """One row a level: its linear function, its row of the held-out confusion, and the strength that was taken.

    Items without a level, or without a vector, teach nothing.
    Raises:  mprlib.InputError for a level with too few items.
    """
    items = store.read_table(unit_file("catalogue", spec["catalogue"], "items"))
    names = (items[column].to_pylist() for column in ("item_id", ATTRIBUTE + spec["attribute"]))
    level_of = {item: level for item, level in zip(*names) if level != spec["missing"]}
    vectors, levels = [], []
    for key in spec["vectors"]:
        shard = open_shard(store, key)
        found = [level_of.get(item) for item in shard.ids.to_pylist()]
        rows = [row for row, level in enumerate(found) if level is not None]
        vectors.append(shard.vectors[rows].astype(np.float32))
        levels += [found[row] for row in rows]
    taken = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), MOST_ROWS)).astype(np.intp))
    trained = train_probe(
        np.concatenate(vectors)[taken],
        np.array(levels)[taken],
        held_out_share=spec["held_out_share"],
        seed=spec["seed"],
    )
    return {"probe": _table(trained)}


def _table(trained: Probe) -> pa.Table:
    width = trained.coefficients.shape[1]
    return pa.table(
        {
            "level": pa.array(trained.levels, pa.string()),
            "intercept": pa.array(trained.intercepts, pa.float64()),
            "coefficients": pa.FixedSizeListArray.from_arrays(
                pa.array(trained.coefficients.reshape(-1), pa.float64()), width
            ),
            "confusion": pa.array(trained.confusion.tolist(), pa.list_(pa.int64())),
            "strength": pa.array([trained.strength] * len(trained.levels), pa.float64()),
        }
    )


def read_probe(store: Store, key: str) -> Probe:
    """The probe that a unit trained."""
    table = store.read_table(unit_file("probe", key, "probe"))
    return Probe(
        levels=tuple(table["level"].to_pylist()),
        coefficients=to_matrix(table["coefficients"]),
        intercepts=table["intercept"].to_numpy(),
        strength=table["strength"][0].as_py(),
        confusion=np.array(table["confusion"].to_pylist()),
        accuracy_by_group={},
    )


def judgement(spec: Mapping[str, Any], key: str, store: Store) -> dict[str, Any]:
    """What a manifest says of a probe: the attribute it learnt, its settings and its errors, as plain values."""
    return {"attribute": spec["attribute"]} | read_probe(store, key).manifest()
