"""The problem of one (data set, reference, query, k), as each function class sees it, and what is measured in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from mprlib import LabelError, Measurement, Problem, metrics, registry
from mprlib.arrays import FloatArray, IntArray, finite
from mprlib.attention import UNIFORM
from mprlib.coded_problem import coded_problem
from mprlib.encoding import Encoding
from mprlib.function_classes.base import FunctionClass
from mprlib.measurement import measure_each
from mprlib.metrics.worst_attribute import worst_attributes
from mprlib.statistics import Chosen, Interval, Resamples, sampling_intervals, sampling_margin

from ..config.entries import ClassEntry, Over
from ..datasets.part import PROBABILITIES
from ..store import Store
from ..words import numbered
from .catalogue import read_items, read_rows
from .embed import open_shard
from .hand_labels import known_levels
from .kept_items import pool_items
from .labels import with_predicted
from .pool import pool_vectors
from .prior_shift import confusions_of_people, likely_levels
from .vectors import rows_with_vectors, to_matrix

if TYPE_CHECKING:
    from .solve import Solve


T = TypeVar("T")


class Case:
    """The problem of one (data set, reference, query, k), as each class sees it; without the vectors that only methods
    read."""

    def __init__(self, unit: Solve, store: Store) -> None:
        self._unit, self._store = unit, store
        items = pool_items(unit, store)
        if items.rows.size < unit.k:
            raise ValueError(
                f"k is {unit.k}, but only {numbered(items.rows.size, 'item')} of dataset {unit.dataset} "
                f"{'has' if items.rows.size == 1 else 'have'} a vector: the others were skipped"
            )
        self._encoding = Encoding(levels={name: tuple(levels) for name, levels in unit.levels.items()})
        self.rows, self.places = items.rows, items.places
        self._codes = dict(zip(unit.levels, items.codes))
        self._scores = finite("scores", items.scores, ndim=1)
        # Distinct, as those of a catalogue are.
        self._item_ids = items.ids
        self.problem = self._problem_of(self._encoding, self._label_error(items.weights))
        if unit.reference_vectors:
            self.problem = self.problem.with_vectors(pool_vectors(store, unit.vectors, self.rows))
        self.is_sampled = self.problem.population.is_sample
        self.gains = _gains(items.relevance, unit.query)
        self._views: dict[Over, Problem] = {"labels": self.problem}
        self._classes: dict[str, FunctionClass] = {}
        self._measured: dict[tuple[bytes, str, str], Measurement] = {}
        self._intervals: dict[tuple[str, str, bytes, bool], Interval] = {}
        self._in_order: dict[bytes, metrics.WorstAttribute] = {}

    def _problem_of(self, encoding: Encoding, label_error: LabelError | None) -> Problem:
        """The problem in the columns of some attributes."""
        if label_error is not None:
            label_error = label_error.checked(encoding.names, encoding.attributes, self.rows.size)
        return coded_problem(
            encoding,
            [self._codes[name] for name in encoding.levels],
            self._unit.reference.read(self._store, encoding),
            scores=self._scores,
            k=self._unit.k,
            item_ids=self._item_ids,
            label_error=label_error,
        )

    def _label_error(self, weights: FloatArray) -> LabelError | None:
        """How far the labels of the pool and of the reference can be trusted. weights (n,): of items as people."""
        unit, levels = self._unit, self._encoding.levels
        errors = unit.label_errors.read(self._store, levels)
        likely = {name: self._likely(name, own) for name, own in errors.probabilities.items()}
        for name, key in errors.shifts.items():
            likely[name] = likely_levels(self._store, key, self._ids, unit.predicted[name], levels[name])
        labels = {name: np.eye(len(levels[name]))[self._codes[name]] for name in likely}
        of_people = {} if errors.is_of_pool else errors.reference_shifts
        return errors.label_error(
            self._known(),
            likely,
            labels,
            weights,
            confusions_of_people(self._store, unit.reference, of_people, levels),
        )

    def _likely(self, name: str, levels: tuple[str, ...]) -> FloatArray:
        """Probabilities (n, L) of an attribute's levels, in the order of its columns, of the pool's items; 0 for levels
        that have no column."""
        column = PROBABILITIES + name
        order = np.argsort(self.rows)
        given = read_rows(self._store, self._unit.catalogue, self.rows[order], [column])[column]
        known = self._encoding.levels[name]
        found = np.zeros((self.rows.size, len(known)))
        found[:, [known.index(level) for level in levels]] = to_matrix(given)[np.argsort(order)]
        return found

    @cached_property
    def _ids(self) -> pa.Array:
        """Ids (n,) of the pool's items."""
        return pa.array(self._item_ids, pa.string())

    def _known(self) -> dict[str, IntArray]:
        """True levels of the pool's items that were labelled by hand, by attribute."""
        key = self._unit.label_errors.hand_labels
        return {} if key is None else known_levels(self._store, key, self._ids, self._encoding.levels)

    @property
    def top_k(self) -> IntArray:
        """The k most similar items."""
        return self.problem.best_first[: self.problem.k]

    def ids_of(self, items: IntArray) -> list[str]:
        """Their ids in the catalogue."""
        ids: list[str] = self._item_ids[items].tolist()
        return ids

    def view(self, entry: ClassEntry) -> Problem:
        """The problem with the columns that a class may look at."""
        over = entry.over
        if over not in self._views:
            self._views[over] = self._embedding_view() if isinstance(over, str) else self._columns_view(over)
        return self._views[over]

    def _columns_view(self, attributes: tuple[str, ...]) -> Problem:
        seen, error = self._encoding_of(attributes), self.problem.label_error
        problem = self._problem_of(seen, error and error.of_attributes(seen.attributes))
        return problem if self.problem.embeddings is None else problem.with_vectors(self.problem.embeddings)

    def _encoding_of(self, over: Over) -> Encoding:
        """The columns that a class over labels may look at."""
        levels = self._encoding.levels
        return self._encoding if isinstance(over, str) else Encoding(levels={name: levels[name] for name in over})

    def _embedding_view(self) -> Problem:
        shards = [open_shard(self._store, key) for key in self._unit.reference_vectors]
        # Who has no vector counts by label, but has nothing that a class over embeddings could see.
        present, weights = rows_with_vectors(shards), self._row_weights()
        assert self.problem.embeddings is not None
        others: dict[str, Any] = {"attributes": None, "label_names": None, "label_error": None}
        return replace(
            self.problem,
            labels=self.problem.embeddings,
            reference=np.concatenate([shard.vectors for shard in shards]).astype(np.float32, copy=False),
            # Where attributes are predicted, those without a vector are left out of the labels too.
            reference_weights=weights if weights.size == present.size else weights[present],
            **others,
        )

    def _row_weights(self) -> FloatArray:
        """Weights (m,) of the people one by one: of the whole data set, whose vectors a class looks at."""
        unit, columns = self._unit, ["item_id", "weight"]
        people = with_predicted(read_items(self._store, unit.catalogue, columns), unit.predicted, self._store)
        weights: FloatArray = people["weight"].to_numpy()
        return weights

    def _class_of(self, entry: ClassEntry) -> FunctionClass:
        if entry.display not in self._classes:
            self._classes[entry.display] = registry.function_class(entry.name, **entry.settings)
        return self._classes[entry.display]

    def measure(self, entry: ClassEntry, items: IntArray, attention: str = UNIFORM.name) -> Measurement:
        """A selection's measurement."""
        return self.measure_each(entry, [items], attention)[0]

    def measure_each(
        self, entry: ClassEntry, selections: Sequence[IntArray], attention: str = UNIFORM.name
    ) -> list[Measurement]:
        """The measurements of selections; neighbours of a sweep are often the same set."""
        keys = [(seen, entry.display, attention) for seen in _seen(selections, attention)]
        new = {key: items for key, items in zip(keys, selections) if key not in self._measured}
        for own in _by_size(new).values():
            measured = measure_each(self.view(entry), list(own.values()), self._class_of(entry), attention)
            self._measured |= zip(own, measured)
        return [self._measured[key] for key in keys]

    def in_order(self, selections: Sequence[IntArray]) -> list[metrics.WorstAttribute]:
        """The measures of selections in their order, for the attribute that each is worst for."""
        new = {items.tobytes(): items for items in selections if items.tobytes() not in self._in_order}
        for own in _by_size(new).values():
            measured = worst_attributes(self.problem, np.array(list(own.values())))
            self._in_order |= dict(zip(own, measured))
        return [self._in_order[items.tobytes()] for items in selections]

    def intervals(
        self, entry: ClassEntry, selections: Sequence[IntArray], attention: str = UNIFORM.name, *, is_fitted: bool
    ) -> list[Interval | None]:
        """The interval of each selection's MPR; None where neither the reference nor the items are a sample with an
        error. is_fitted: what chose them had read the reference."""
        if not self.is_sampled and not self._unit.are_draws:
            return [None] * len(selections)
        keys = [(entry.display, attention, seen, is_fitted) for seen in _seen(selections, attention)]
        new = {key: items for key, items in zip(keys, selections) if key not in self._intervals}
        find = self._of_draws if self._unit.are_draws else self._of_chosen
        self._intervals |= zip(new, find(entry, list(new.values()), attention, is_fitted))
        return [self._intervals[key] for key in keys]

    def _of_chosen(
        self, entry: ClassEntry, selections: Sequence[IntArray], attention: str, is_fitted: bool
    ) -> list[Interval]:
        chosen = [
            Chosen(items=items, is_fitted=is_fitted, found=found)
            for items, found in zip(selections, self.measure_each(entry, selections, attention))
        ]
        return sampling_intervals(self.view(entry), chosen, self._class_of(entry), **self._asked(entry, attention))

    def _of_draws(
        self, entry: ClassEntry, selections: Sequence[IntArray], attention: str, is_fitted: bool
    ) -> list[Interval]:
        """Of a generator's draws, which nothing was fitted to."""
        problem, asked, ends = self.view(entry), self._asked(entry, attention), []
        for items in selections:
            found = self.measure(entry, items, attention)
            margin = sampling_margin(problem, self._class_of(entry), items=items, **asked)
            ends.append(Interval(low=max(0.0, found.value - margin), high=found.upper_bound + margin))
        return ends

    def _asked(self, entry: ClassEntry, attention: str) -> dict[str, Any]:
        """What sampling errors are asked with."""
        return {"seed": self._unit.seed, "drawn": self._drawn(entry), "attention": attention}

    def _drawn(self, entry: ClassEntry) -> Resamples | None:
        """Resamples that the reference unit drew, of what a class looks at; None where there are none."""
        if entry.over == "embedding":
            return None
        problem = self.view(entry)

        def read() -> Resamples | None:
            return self._unit.reference.resamples(self._store, self._encoding_of(entry.over), problem.population)

        return problem.population.kept.get("resamples", read)


def _seen(selections: Sequence[IntArray], attention: str) -> list[bytes]:
    """What decides the measurement of each: only where places do not count alike does their order matter."""
    if attention != UNIFORM.name:
        return [items.tobytes() for items in selections]
    if len({items.size for items in selections}) == 1:
        return [items.tobytes() for items in np.sort(np.array(selections), axis=1)]
    return [np.sort(items).tobytes() for items in selections]


def _by_size(selections: Mapping[T, IntArray]) -> dict[int, dict[T, IntArray]]:
    """The selections of each size."""
    found: dict[int, dict[T, IntArray]] = {}
    for key, items in selections.items():
        found.setdefault(items.size, {})[key] = items
    return found


def _gains(terms: pa.Array, query: str) -> FloatArray | None:
    """1 for each item (n,) whose true term is the query, else 0; None where no term is known."""
    if terms.null_count == len(terms):
        return None
    coded = terms if pa.types.is_dictionary(terms.type) else terms.dictionary_encode()
    asked = query.strip().casefold()
    is_query = [float(term is not None and term.strip().casefold() == asked) for term in coded.dictionary.to_pylist()]
    gains: FloatArray = np.array([*is_query, 0.0])[coded.indices.fill_null(len(is_query)).to_numpy()]
    return gains
