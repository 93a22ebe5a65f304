"""One retrieval problem: a pool of scored items, k, and the reference population."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mprlib.arrays import FloatArray, IntArray, checked_weights, expect_length, finite
from mprlib.errors import InputError
from mprlib.frames import matching
from mprlib.html import facts
from mprlib.label_error import LabelError
from mprlib.pool_order import best_first, ranks
from mprlib.problem_arguments import (
    Given,
    checked_ids,
    checked_k,
    checked_names,
    checked_vectors,
    columns_by_attribute,
    distinct_positions,
    divided,
    matchable,
)
from mprlib.reference import Reference
from mprlib.selection import Selection
from mprlib.settings import SIZE, checked
from mprlib.spelling import numbered

T = TypeVar("T")

# What a problem remembers the library of its frames by.
KIND = "kind of frame"
# And what is known of its embeddings.
OF_EMBEDDINGS = "of embeddings"
# Attributes that one line names.
SHOWN_ATTRIBUTES = 5


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, repr=False)
class Problem:
    """A pool of n scored items, a reference population of m rows, and k, the number to return.

    Shapes:  scores (n,), cosine similarity of each item to the query.
             labels (n, l) and reference (m, l), the same l columns in any encoding.
             reference_weights (m,), non-negative; stored divided by their sum. Default uniform; None with a Reference.
             embeddings (n, d) and query (d,), used as given, never re-normalised.
             item_ids (n,), distinct; ties in score are broken by them (by position without ids).
             label_names (l,), distinct, as "attribute=level" for one-hot columns.
    reference may be a `mprlib.Reference` instead, which holds its weights, its size and perhaps its columns' names;
    `population` is such a table of cells whichever was given.
    labels and reference may be data frames (pandas, polars, pyarrow): their columns are matched by
    name, and name the labels. pandas arguments of the same rows must have one index.
    attributes maps a name to the columns that form one attribute, by position or name; a column that
    no attribute claims is an attribute of its own. reference_size states the effective m where the
    reference is a statement of shares and not a sample; by default 1 / sum(w^2), which is m when
    uniform: the number of rows, even where each row represents a whole group. place_weights (k,) are set by
    `mprlib.attention.attended`, where places of a selection do not count alike; None where they do.
    label_error: how far the labels can be trusted, {attribute: confusion} of the items, or a `LabelError` that knows
    more, such as the reference's; values are then corrected beside those of the labels as they are.

    Raises:  InputError naming the argument, for text, NaN, infinite values, wrong shapes, k outside
             [1, n], an empty reference, repeated ids, bad weights, frames whose columns or rows do
             not match.
    Source:  MPR paper, section 2: pool D_R, reference D_C.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> problem.n, problem.m, problem.best_first.tolist()
    (4, 2.0, [0, 1, 2, 3])
    >>> mprlib.select(problem, "top_k").items.tolist()
    [0, 1]
    """

    scores: FloatArray
    labels: FloatArray
    reference: FloatArray | Reference
    k: int
    reference_weights: FloatArray = None  # type: ignore[assignment]  # uniform where none are given
    attributes: Mapping[str, Sequence[Any]] = None  # type: ignore[assignment]  # each column where none are given
    embeddings: FloatArray | None = None
    query: FloatArray | None = None
    item_ids: NDArray[Any] | None = None
    label_names: Sequence[str] = None  # type: ignore[assignment]  # by place where none are given
    reference_size: float | None = None
    place_weights: FloatArray | None = field(default=None, init=False, repr=False)
    label_error: LabelError | None = None
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    if TYPE_CHECKING:
        # The fields have the types of what is stored; what may be given is wider.
        def __init__(self, **given: Unpack[Given]) -> None: ...

    @classmethod
    def from_frames(
        cls,
        candidates: Any,
        reference: Any,
        *,
        score: str,
        attributes: Sequence[str],
        k: int,
        bins: Mapping[str, Sequence[float]] | None = None,
        weight: str | None = None,
        id: str | None = None,  # noqa: A002 (what the column holds)
        label_error: LabelError | Mapping[str, Any] | None = None,
    ) -> Problem:
        """A problem of two data frames: candidates of one query, and the people that they are compared with.

        Frames of pandas, polars or pyarrow, or mappings of names to arrays. Columns are matched by name and encoded
        together, whatever their order, types and categories. A missing value is a level of its own, `unknown`.
        reference: a frame, or a `mprlib.Reference` that was made of one or of shares, or shares by attribute and level.
        score, id: columns of the candidates; weight: column of the reference's sampling weights.
        bins: where numbers are cut, {"age": [30, 50]}: under 30, 30 to under 50, 50 and over.
        label_error: as of the class; confusions name their levels, {"sex": {"woman": {"woman": 0.9, "man": 0.1}, ...}}.
        Who has no value is taken to have none, where a confusion does not name that level.

        >>> import mprlib
        >>> candidates = {"sex": ["man", "man", "woman"], "score": [0.9, 0.8, 0.7]}
        >>> people = {"sex": ["woman", "man"]}
        >>> problem = mprlib.Problem.from_frames(candidates, people, score="score", attributes=["sex"], k=2)
        >>> str(mprlib.measure(problem, [0, 1], "groups").witness)
        'sex=man: 100% retrieved, 50% in the reference'

        Raises:  InputError for a column that a frame lacks, numbers of many values without bins, an attribute whose
                 values nearly all differ, and as the class does.
        """
        from mprlib.from_frames import Frames, problem_of

        frames = Frames(
            candidates=candidates, reference=reference, score=score, weight=weight, id=id, label_error=label_error
        )
        return problem_of(frames, attributes, bins, k)

    @classmethod
    def of_checked(cls, cache: Mapping[Any, Any], **fields: Any) -> Problem:
        """A problem of fields in the form in which they are stored, all checked; cache: what is known of it."""
        problem = object.__new__(cls)
        for name in _FIELDS:
            object.__setattr__(problem, name, fields.pop(name, None))
        object.__setattr__(problem, "_cache", dict(cache))
        assert not fields
        return problem

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        matching.expect_same_rows(
            {name: getattr(self, name) for name in ("labels", "scores", "embeddings", "item_ids")}
        )
        matching.expect_same_rows({name: getattr(self, name) for name in ("reference", "reference_weights")})
        own_order, reference_order, names = matching.matched(self.labels, matchable(self.reference), self.label_names)
        put("label_names", names)
        put("scores", finite("scores", self.scores, ndim=1))
        put("labels", finite("labels", self.labels, ndim=2, columns=own_order))
        n, width = self.labels.shape
        if n == 0:
            raise InputError("scores is empty: the pool needs at least one item")
        expect_length("scores", self.scores, n, "labels has that many rows")
        if width == 0:
            raise InputError("labels has no columns: at least one is needed to speak of a group")
        if isinstance(self.reference, Reference):
            self._take_population(self.reference, reference_order)
        else:
            self._take_rows(self.reference, reference_order)
        put("k", checked_k(self.k, n))
        names = checked_names(self.label_names, width)
        put("label_names", names)
        put("attributes", columns_by_attribute(self.attributes, names))
        put("item_ids", checked_ids(self.item_ids, n))
        if self.label_error is not None:
            put("label_error", LabelError.of(self.label_error).checked(names, self.attributes, n))
        self._take_vectors(self.embeddings, self.query)

    def _take_rows(self, rows: Any, order: list[int] | None) -> None:
        """A reference of rows, with the weights beside it."""
        reference = finite("reference", rows, ndim=2, columns=order)
        if reference.shape[0] == 0:
            raise InputError("reference is empty: it needs at least one row")
        self._expect_width(reference.shape[1])
        given, size = self.reference_weights, self.reference_size
        weights = None if given is None else checked_weights("reference_weights", given, reference.shape[0])
        object.__setattr__(self, "reference", reference)
        object.__setattr__(self, "reference_weights", divided(weights, reference.shape[0]))
        if size is not None:
            object.__setattr__(self, "reference_size", checked(SIZE, "reference_size", size))
        # As they were given, so that cells of rows are those of `Reference.of` to the last bit.
        self._cache["given weights"] = weights

    def _take_population(self, population: Reference, order: list[int] | None) -> None:
        """A reference in cells, its columns in the order of the labels'."""
        if self.reference_weights is not None:
            raise InputError("reference_weights go with rows: a Reference holds its weights already")
        self._expect_width(population.labels.shape[1])
        if order is not None and order != list(range(len(order))):
            population = population.of_columns(order)
        if self.reference_size is not None and self.reference_size != population.size:
            size = checked(SIZE, "reference_size", self.reference_size)
            population = replace(population, size=size, is_sample=False)
        object.__setattr__(self, "reference", population)
        object.__setattr__(self, "reference_size", population.size)
        if self.attributes is None:
            object.__setattr__(self, "attributes", population.attributes)

    def _take_vectors(self, embeddings: Any, query: Any) -> None:
        embeddings, query = checked_vectors(embeddings, query, self.n)
        object.__setattr__(self, "embeddings", embeddings)
        object.__setattr__(self, "query", query)

    def with_vectors(self, embeddings: Any, query: Any = None, known: Any = None) -> Problem:
        """The same problem with these vectors in the place of its own; what was computed of it so far is shared.

        known: what somebody keeps of the embeddings, as `mprlib.baselines.distances`, which may stand for them.
        Raises:  InputError as for a new problem.
        """
        other = copy(self)
        other._take_vectors(embeddings, query)
        object.__setattr__(other, "_cache", {**self._cache, OF_EMBEDDINGS: known})
        return other

    def _expect_width(self, columns: int) -> None:
        if columns != (width := self.labels.shape[1]):
            found = f"reference has {numbered(columns, 'column')}, labels has {width}"
            raise InputError(f"{found}: both must hold the same label columns")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} ({len(own)})" for name, own in list(self.attributes.items())[:SHOWN_ATTRIBUTES])
        more = ", ..." if len(self.attributes) > SHOWN_ATTRIBUTES else ""
        return f"Problem(k={self.k} of {self.n:,}; attributes {sizes}{more}; reference of size {self.m:,.6g})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        of_attributes = {name: numbered(len(own), "column") for name, own in self.attributes.items()}
        return facts("Problem", {"items": self.n, "k": self.k, "reference": repr(self.population), **of_attributes})

    @property
    def population(self) -> Reference:
        """The reference as a table of cells."""
        if isinstance(self.reference, Reference):
            return self.reference
        rows, weights = self.reference, self._cache["given weights"]
        return self.cached("population", lambda: Reference.of_rows(rows, weights, self.reference_size))

    @property
    def n(self) -> int:
        """Number of items in the pool."""
        return int(self.labels.shape[0])

    @property
    def m(self) -> float:
        """Effective number of reference rows: the stated size, or 1 / sum(w^2)."""
        return self.population.effective_size

    @property
    def scale(self) -> float:
        """D = mk/(m+k): the squared norm that functions of the normalised class C' have.

        Source:  MPR paper, Proposition 3; k is the effective number of items where places have weights.
        """
        return self.m * self.effective_k / (self.m + self.effective_k)

    @property
    def effective_k(self) -> float:
        """1 / sum(w^2) over the places of a selection: k where all count alike."""
        return self.k if self.place_weights is None else float(1.0 / np.sum(self.place_weights**2))

    @property
    def best_first(self) -> IntArray:
        """Positions (n,) by falling score, ties by item id."""
        return self.cached("best_first", lambda: best_first(self.scores, self.item_ids))

    def ranked(self, items: ArrayLike) -> IntArray:
        """The given positions in the pool's order: best first, ties by item id."""
        items = np.asarray(items, dtype=np.intp)
        return items[np.argsort(self.cached("rank", lambda: ranks(self.best_first))[items])]

    def checked_items(self, items: ArrayLike | Selection) -> IntArray:
        """A selection, or its items, as distinct positions in the pool.

        Raises:  InputError when it is empty, repeats an item or leaves the pool.
        """
        return distinct_positions(items, self.n)

    def cached(self, key: Any, build: Callable[[], T]) -> T:
        """What `build` returns, computed once for this problem."""
        if key not in self._cache:
            self._cache[key] = build()
        found: T = self._cache[key]
        return found


_FIELDS = tuple(one.name for one in fields(Problem) if one.name != "_cache")
