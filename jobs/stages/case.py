"""The problem of one (data set, reference, query, k), as each function class sees it, and what is measured in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import mprlib
from jobs.config.entries import ClassEntry
from jobs.datasets.catalogue import attribute_columns
from jobs.stages.embed import open_shard
from jobs.stages.labels import with_predicted
from jobs.stages.pool import pool_vectors, read_pool
from jobs.stages.queries import read_query_vector
from jobs.stages.vectors import rows_with_vectors
from jobs.store import Store
from mprlib import Measurement, Problem, registry
from mprlib.arrays import IntArray
from mprlib.encoding import Encoding
from mprlib.statistics import sampling_margin

if TYPE_CHECKING:
    from jobs.stages.solve import Solve


class Case:
    """The problem of one (data set, reference, query, k), as each class sees it."""

    def __init__(self, unit: Solve, store: Store) -> None:
        self._unit, self._store = unit, store
        pool = with_predicted(read_pool(store, unit.pool), unit.predicted, store)
        if pool.num_rows < unit.k:
            raise ValueError(
                f"k is {unit.k}, but only {pool.num_rows} items of dataset {unit.dataset} have a vector: "
                "the others were skipped"
            )
        encoding = Encoding(levels={name: tuple(levels) for name, levels in unit.levels.items()})
        reference = unit.reference.read(encoding, store, unit.missing)
        self.is_sampled = reference.is_sample
        self.relevance = pool["relevance"].to_pylist()
        # Of a pool that was searched there are none.
        self.places = pool["place"].to_numpy() if "place" in pool.column_names else None
        self.problem = Problem(
            scores=pool["score"].to_numpy(),
            labels=encoding.encode(attribute_columns(pool)),
            k=unit.k,
            attributes=encoding.attributes,
            embeddings=pool_vectors(store, unit.vectors, pool["row"].to_numpy()) if unit.vectors else None,
            query=None if unit.queries is None else read_query_vector(store, unit.queries, unit.prompt),
            item_ids=pool["item_id"].to_numpy(zero_copy_only=False).astype(str),
            label_names=encoding.names,
            reference=reference,
        )
        self._views: dict[Any, Problem] = {"labels": self.problem}
        self._measured: dict[tuple[bytes, str], Measurement] = {}
        self._margins: dict[str, float] = {}

    @property
    def top_k(self) -> IntArray:
        """The k most similar items."""
        return self.problem.best_first[: self.problem.k]

    def ids_of(self, items: IntArray) -> list[str]:
        """Their ids in the catalogue."""
        return [str(item) for item in np.asarray(self.problem.item_ids)[items]]

    def view(self, entry: ClassEntry) -> Problem:
        """The problem with the columns that a class may look at."""
        over = entry.over
        if over not in self._views:
            self._views[over] = self._embedding_view() if isinstance(over, str) else self._columns_view(over)
        return self._views[over]

    def _columns_view(self, attributes: tuple[str, ...]) -> Problem:
        problem = self.problem
        columns = [column for name in attributes for column in problem.attributes[name]]
        position = {column: at for at, column in enumerate(columns)}
        return replace(
            problem,
            labels=problem.labels[:, columns],
            reference=problem.population.of_columns(columns),
            attributes={name: [position[column] for column in problem.attributes[name]] for name in attributes},
            label_names=[problem.label_names[column] for column in columns],
        )

    def _embedding_view(self) -> Problem:
        shards = [open_shard(self._store, key) for key in self._unit.reference_vectors]
        # Who has no vector counts by label, but has nothing that a class over embeddings could see.
        present, weights = rows_with_vectors(shards), self._unit.reference.row_weights(self._store)
        assert self.problem.embeddings is not None
        others: dict[str, Any] = {"attributes": None, "label_names": None}
        return replace(
            self.problem,
            labels=self.problem.embeddings,
            reference=np.concatenate([shard.vectors for shard in shards]).astype(np.float32, copy=False),
            # Where attributes are predicted, those without a vector are left out of the labels too.
            reference_weights=weights if weights.size == present.size else weights[present],
            **others,
        )

    def measure(self, entry: ClassEntry, items: np.ndarray) -> Measurement:
        """A selection's measurement; neighbours of a sweep are often the same set."""
        key = (np.sort(items).tobytes(), entry.display)
        if key not in self._measured:
            self._measured[key] = mprlib.measure(self.view(entry), items, entry.name, **entry.settings)
        return self._measured[key]

    def margin(self, entry: ClassEntry) -> float | None:
        """t of the interval MPR +- t; None where the reference is no sample and has no error."""
        if not self.is_sampled:
            return None
        if entry.display not in self._margins:
            function_class = registry.function_class(entry.name, **entry.settings)
            self._margins[entry.display] = sampling_margin(self.view(entry), function_class, seed=self._unit.seed)
        return self._margins[entry.display]
