"""The reference that selections are compared with: people, a query's people, or stated shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from jobs.datasets.catalogue import attribute_columns
from jobs.stages.catalogue import attribute_names, read_items
from jobs.stages.labels import with_predicted
from jobs.stages.pool import read_pool
from jobs.stages.unit import reads
from jobs.store import Store
from mprlib.arrays import FloatArray
from mprlib.encoding import Encoding
from mprlib.reference import STATED_SIZE, Reference, balanced, sampled, target_shares


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceSource:
    """Where a reference is from: stated or equal shares of that many people, or the people of a catalogue, or those
    of them who are in a query's pool. predicted: keys of labels units by attribute."""

    name: str
    kind: str
    shares: Mapping[str, Mapping[str, float]] | None = None
    size: int | float | None = None
    people: str | None = reads(default=None)
    predicted: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)
    pool: str | None = reads(default=None)

    def read(self, encoding: Encoding, store: Store, missing: str) -> Reference:
        """The reference in the columns of an encoding.

        A balanced reference gives no share to items without a value, which `missing` names: they are no group.
        Raises:  mprlib.InputError for shares that contradict each other or do not sum to 1.
        """
        if self.kind == "shares":
            return target_shares(encoding, self.shares or {}, self.size or STATED_SIZE)
        if self.kind == "balanced":
            return balanced(encoding, self.size, missing=missing)
        people = self._people(store)
        chosen = sampled(encoding, attribute_columns(people), people["weight"].to_numpy())
        # Chosen by their similarity, the people of a pool are no independent draws of a population.
        return chosen if self.pool is None else replace(chosen, is_sample=False)

    def row_weights(self, store: Store) -> FloatArray:
        """Weights (m,) of the people one by one, for classes that look at each."""
        weights: FloatArray = self._people(store)["weight"].to_numpy()
        return weights

    def _people(self, store: Store) -> pa.Table:
        if self.pool is not None:
            return with_predicted(read_pool(store, self.pool), self.predicted, store)
        people = str(self.people)
        columns = ["item_id", "weight", *attribute_names(store, people)]
        return with_predicted(read_items(store, people, columns), self.predicted, store)
