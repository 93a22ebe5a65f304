"""One query's pool and one method to selections, each measured under every configured class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from mprlib import Problem, Selection, registry
from mprlib.attention import UNIFORM, attended
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.linear import Linear
from mprlib.method import Method
from mprlib.optimisers.constrained import SMALLEST_RHO

from ..config.entries import ClassEntry, MethodEntry
from ..methods import library_settings
from ..store import Store
from ..store.keys import digest
from .case import Case
from .debiased import read_debiased_vector
from .earlier import earlier_tables, with_views
from .first_shown import exposure_curve
from .group_rows import group_rows
from .kept_distances import are_kept, kept_bytes
from .label_errors import LabelErrors
from .labels import predicted_levels
from .numeric_code import SOLVING_CODE
from .order import read_order
from .reference import ReferenceSource
from .result_rows import FORM, RESULTS, View
from .selection_rows import selection_rows
from .shared_case import case_of, with_vectors
from .texts import read_text_vectors
from .unit import IN_KEY, Cost, Tables, Unit, outside_key, reads

RESULTS_TABLE, GROUPS_TABLE = "results", "groups"
# Seconds of one core for a point of a sweep and what it is measured under, and bytes of a result row with its list of
# items, compressed.
SECONDS_PER_POINT = {"top_k": 0.002, "mopr": 0.001, "mmr": 0.003}
SECONDS_PER_POINT_OTHERWISE = 0.01
ROW_BYTES = 400
# Bytes of memory for an item of the pool: its id, labels and levels, and what oracles and methods keep of it.
ITEM_BYTES = 2_000
# Vectors are held as float32; a class that sees them holds each as labels too, of rows, of the reference and of cells.
VECTOR_NUMBER_BYTES, LABEL_NUMBER_BYTES = 4, 40
# Seconds of one core for a number of a vector that a class sees: read, compared with the others, multiplied.
SECONDS_PER_NUMBER = 2e-8


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodUnits:
    """Keys of units that the method asked for: of its texts, of the query's variants, of the order of columns, of its
    tokens, of labels by each of its probes, and of the queries behind its tokens, which the tokens and the encoder
    decide."""

    texts: str | None = reads(default=None)
    variants: str | None = reads(default=None)
    order: str | None = reads(default=None)
    tokens: str | None = None
    probe_labels: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)
    debiased: str | None = reads(in_key=False, default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemSize:
    """What a unit's cost depends on: items of the pool, numbers of a vector, items of the data set that have one."""

    items: int = 0
    width: int = 0
    people: int = 0


UNKNOWN_SIZE = ProblemSize()


@dataclass(frozen=True, kw_only=True, slots=True)
class Solve(Unit):
    """Result rows and group shares for one (data set, reference, query, k, method, target class).

    attention: names of those under which every selection is measured. levels: of each attribute; missing: what an
    item without a value is called; predicted: keys of labels units by attribute; vectors: the shards of all items
    where the method or a class sees vectors, of which the pool says what they are; are_draws: what was shown is a
    sample itself; reference_vectors: the same where a class sees the reference's; queries: the unit with the query's
    vector where the method reads it, which follows from encoder and prompt, whatever else is asked beside it;
    earlier: a unit that chose the same items, measured under others.
    """

    stage: ClassVar[str] = "solve"
    version: ClassVar[int] = 28
    seconds: ClassVar[float] = 0.02
    is_shared: ClassVar[bool] = True
    form: ClassVar[str] = FORM
    numeric_code: ClassVar[tuple[str, ...]] = SOLVING_CODE

    dataset: str
    catalogue: str = reads()
    reference: ReferenceSource
    reference_vectors: tuple[str, ...] = reads(default=())
    levels: Mapping[str, tuple[str, ...]]
    missing: str
    pool: str = reads()
    query: str
    prompt: str
    k: int
    method: MethodEntry
    target: ClassEntry | None
    function_classes: tuple[ClassEntry, ...]
    attention: tuple[str, ...] = (UNIFORM.name,)
    group_attributes: int
    seed: int
    predicted: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)
    label_errors: LabelErrors = field(default_factory=LabelErrors)
    asked: MethodUnits = field(default_factory=MethodUnits)
    are_draws: bool = False
    queries: str | None = reads(in_key=False, default=None)
    size: ProblemSize = field(default=UNKNOWN_SIZE, metadata={IN_KEY: False})
    earlier: str | None = outside_key(None)
    vectors: tuple[str, ...] = reads(in_key=False, default=())

    @property
    def likeness(self) -> str:
        """The same for units that choose the same items and say the same of their groups: all that is in the key but
        under what selections are measured."""
        return digest([self.content(without=("attention", "function_classes")), exposure_curve(self.attention).name])

    @property
    def shared_reading(self) -> str:
        """The same for units of one case, but for what its attentions and classes are."""
        return f"{self.pool} {self.reference.name} {self.k}"

    @property
    def views(self) -> list[View]:
        """Under what each selection is measured, in the order of its rows."""
        return list(product(self.attention, self.function_classes))

    @property
    def points(self) -> int:
        """Values of the method's parameter."""
        return self.method.count

    @property
    def target_attention(self) -> str | None:
        """Name of the attention under which the method bounds MPR; None where it bounds none."""
        return None if self.target is None else str(self.method.extras.get("attention", UNIFORM.name))

    def run(self, store: Store) -> Tables:
        case = case_of(self, store)
        chosen = earlier_tables(self, store, RESULTS_TABLE, GROUPS_TABLE)
        if chosen is not None:
            results = with_views(self, case, chosen[0].to_pylist())
            return {RESULTS_TABLE: pa.Table.from_pylist(results, schema=RESULTS), GROUPS_TABLE: chosen[1]}
        selections, remark = self._sweep(case, store)
        return {
            RESULTS_TABLE: selection_rows(self, case, selections, remark, self.views),
            GROUPS_TABLE: group_rows(self, case, selections),
        }

    def cost(self) -> Cost:
        """Cells cost the same for any number of people; a class over vectors looks at those of every item."""
        rate = SECONDS_PER_POINT.get(self.method.name, SECONDS_PER_POINT_OTHERWISE)
        pooled = self.size.items * self.size.width if self.vectors else 0
        seen = self.size.people * self.size.width if self.reference_vectors else 0
        takes_distances = registry.METHODS[self.method.name].takes_distances and not self.reference_vectors
        are_shared = takes_distances and are_kept(self.size.items, self.size.people)
        return Cost(
            seconds=self.points * len(self.views) * rate + seen * SECONDS_PER_NUMBER,
            memory_bytes=self.size.items * ITEM_BYTES
            + pooled * VECTOR_NUMBER_BYTES
            + seen * LABEL_NUMBER_BYTES
            + (kept_bytes(self.size.people) if are_shared else 0),
            disk_bytes=self.points * len(self.views) * ROW_BYTES,
        )

    def _sweep(self, case: Case, store: Store) -> tuple[list[Selection], str]:
        """The method's selections over its parameter, and a remark on the values."""
        method, target = registry.METHODS[self.method.name], self.target
        # A method without a target sees all labels; the class only measures, and rows are measured below.
        view = case.view(target) if target else case.problem
        problem = attended(with_vectors(self, store, case, view), self.target_attention or UNIFORM)
        seen = registry.function_class(target.name, **target.settings) if target else Linear()
        values, remark = self._values(method, problem, seen)
        settings = library_settings(self.method.name, self.method.extras, _Given(self, case, problem, store))
        found = registry.method(self.method.name, **settings).swept(problem, seen, values)
        # The chance level may be a value of the grid; the row that says so stays.
        return list({one.value: one for one in found}.values()), remark

    def _values(self, method: type[Method], problem: Problem, seen: FunctionClass) -> tuple[list[Any], str]:
        """The parameter's values, and a remark on a grid."""
        given: list[Any] = list(self.method.values or ())
        if given and self.method.points is None:
            return given, ""
        grid = method.grid(problem, seen.bind(problem), self.method.points or 1)
        values = list(dict.fromkeys(grid))
        return values + given, _grid_remark(method, grid, values)


class _Given:
    """What the unit has for its method (`jobs.methods.Given`)."""

    def __init__(self, unit: Solve, case: Case, problem: Problem, store: Store) -> None:
        self._unit, self._store = unit, store
        # Of the labels, whatever the target looks at, with the vectors at hand.
        self.problem: Problem = case.problem.with_vectors(problem.embeddings, problem.query)
        self._places = case.places
        self.seed, self.levels, self.missing = unit.seed, unit.levels, unit.missing

    def text_vectors(self) -> np.ndarray:
        return read_text_vectors(self._store, str(self._unit.asked.texts))

    def variant_vectors(self) -> np.ndarray:
        return read_text_vectors(self._store, str(self._unit.asked.variants))

    def column_order(self) -> np.ndarray:
        return read_order(self._store, str(self._unit.asked.order))

    def debiased_query(self) -> np.ndarray:
        return read_debiased_vector(self._store, str(self._unit.asked.debiased), self._unit.prompt)

    def probe_levels(self) -> list[list[str]]:
        ids = pa.array(self.problem.item_ids)
        keys: Sequence[tuple[str, ...]] = list(self._unit.asked.probe_labels.values())
        return [predicted_levels(ids, of_probe, self._store).to_pylist() for of_probe in keys]

    def places(self) -> np.ndarray:
        assert self._places is not None
        return np.asarray(self._places)


def _grid_remark(method: type[Method], grid: list[Any], values: list[Any]) -> str:
    """What a reader should know of a grid that is not the paper's."""
    if not method.is_constrained or grid[0] >= SMALLEST_RHO:
        return ""
    remark = f"top-k's MPR lies below {SMALLEST_RHO}, the grid's smallest rho: it starts at a fiftieth of top-k's"
    return remark if len(values) == len(grid) else f"{remark}; equal values stand once"
