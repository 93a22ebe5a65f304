"""A method's own keywords, made from what its configuration names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.config.entries import MethodEntry
from jobs.config.method_settings import MADE_FROM, column_of
from jobs.datasets.labels import UNKNOWN
from jobs.stages.information import read_order
from jobs.stages.joint_levels import joint_names
from jobs.stages.labels import predicted_levels
from jobs.stages.query_vectors import query_vector
from jobs.stages.vectors import read_vectors
from jobs.store import Store
from mprlib import Problem, registry
from mprlib.baselines import group_labels
from mprlib.baselines.fair_top_k import as_probability
from mprlib.declarations import declarations
from mprlib.requirements import pool_embeddings


def method_extras(entry: MethodEntry, spec: Mapping[str, Any], problem: Problem, store: Store) -> dict[str, Any]:
    """Settings of the method.

    spec: that of the solve unit; `texts` is the unit that embedded the method's texts,
    `order` the one that sorted its columns, `probe_labels` those that labelled the items by each of
    its probes, where it has any.
    Raises:  ValueError for a group that no item and no reference row belongs to.
    """
    keywords = declarations(registry.METHODS[entry.name])
    extras = {name: value for name, value in entry.extras.items() if name in keywords}
    if "seed" in keywords:
        extras.setdefault("seed", spec["seed"])
    made = MADE_FROM.get(entry.name, {})
    if "group_labels" in made:
        extras["group_labels"] = _group_labels(entry, spec, problem, store)
    if "order" in made:
        extras["order"] = read_order(spec["order"], store)
    if "subspace" in made:
        extras["subspace"] = read_vectors(store, "texts", spec["texts"])
    if "debiased_query" in made:
        extras["debiased_query"] = query_vector("debiased", spec, store)
    if "protected" in made and "group" in entry.extras:
        extras |= _protected(entry.extras["group"], extras.get("share"), problem)
    return extras


def _group_labels(entry: MethodEntry, spec: Mapping[str, Any], problem: Problem, store: Store) -> np.ndarray:
    """Classes by text where prompts are given, else by the joint levels of probes or attributes."""
    if "texts" in spec:
        return group_labels.zero_shot(pool_embeddings(problem, entry.name), read_vectors(store, "texts", spec["texts"]))
    if "probe_labels" in spec:
        ids = pa.array(problem.item_ids)
        columns = [predicted_levels(ids, keys, store).to_pylist() for keys in spec["probe_labels"].values()]
    else:
        columns = [
            np.array(spec["levels"][name], dtype=object)[
                problem.labels[:, list(problem.attributes[name])].argmax(axis=1)
            ].tolist()
            for name in entry.extras.get("attributes", problem.attributes)
        ]
    return _classes(list(zip(*columns)), spec.get("missing", UNKNOWN))


def _classes(rows: Sequence[Sequence[str]], missing: str) -> np.ndarray:
    """Classes of the items by all their levels; an item that lacks one is neutral."""
    names = joint_names(rows)
    neutral = {name for name, row in zip(names, rows) if missing in row}
    return group_labels.from_levels(names, neutral=neutral)


def _protected(group: str, share: float | None, problem: Problem) -> dict[str, Any]:
    """Members of the group in the pool and, unless the configuration states one, its share of the reference."""
    column = column_of(group, problem.label_names)
    if share is None:
        share = as_probability(float(problem.reference_weights @ problem.reference[:, column]))
    return {"protected": problem.labels[:, column] > 0, "share": share}
