"""The reference that a solver's spec describes: people, a query's people, or stated shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.datasets.catalogue import attribute_columns
from jobs.datasets.labels import UNKNOWN
from jobs.stages.labels import with_predicted
from jobs.store import Store, unit_file
from mprlib.encoding import Encoding
from mprlib.reference import Reference, balanced, sampled, target_shares


def read_reference(spec: Mapping[str, Any], encoding: Encoding, store: Store, missing: str = UNKNOWN) -> Reference:
    """The reference in the columns of an encoding.

    A balanced reference gives no share to items without a value, which `missing` names: they are no group.
    Raises:  mprlib.InputError for shares that contradict each other or do not sum to 1.
    """
    if spec["kind"] == "shares":
        return target_shares(encoding, spec["shares"], spec["size"])
    if spec["kind"] == "balanced":
        return balanced(encoding, spec["size"], missing=missing)
    if "pool" not in spec:
        people = with_predicted(store.read_table(unit_file("catalogue", spec["people"], "items")), spec, store)
        return sampled(encoding, attribute_columns(people), people["weight"].to_numpy())
    people = with_predicted(store.read_table(unit_file("pool", spec["pool"], "pool")), spec, store)
    chosen = sampled(encoding, attribute_columns(people), people["weight"].to_numpy())
    # Chosen by their similarity, they are no independent draws of a population.
    return Reference(labels=chosen.labels, weights=chosen.weights, is_sample=False)
