"""Reference populations, which a selection is compared with.

Some are samples of a population (a data set, with its sampling weights); others are statements (balanced,
target shares), which have no sampling error and need a stated size, because the normalised class C' depends on one.

A function of the labels sees rows only through their cells, the distinct label rows. So a reference is a table of
cells (`mprlib.cell_table`), and nothing that is computed of it takes longer for more rows. Tables of the parts of a
population can be merged in any order, and are the table of the whole.

Levels that only one side has are kept. Items whose level the reference gives no share stay in the
pool with a reference share of 0: showing them counts as over-representation, which is what such a
reference says; drop those items first where that is not what is meant.

Worked example: three people, the first of them with the weight 2.

>>> people = {"sex": ["woman", "man", "man"], "weight": [2, 1, 1]}
>>> import pandas as pd
>>> reference = Reference.from_frame(pd.DataFrame(people), ["sex"], "weight")
>>> dict(zip(reference.label_names, (reference.shares @ reference.labels).tolist()))
{'sex=man': 0.5, 'sex=woman': 0.5}
>>> round(reference.effective_size, 3)
2.667
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray, checked_weights, expect_length, finite
from mprlib.cell_table import CellTable
from mprlib.encoding import Encoding, Side
from mprlib.errors import InputError
from mprlib.frames import matching
from mprlib.frames.columns import column_called
from mprlib.frames.levels import checked_bins, level_of
from mprlib.kept import Kept
from mprlib.reference_arguments import checked_attributes, checked_parts, lists_by_name
from mprlib.reference_columns import by_columns, by_levels, columns_of
from mprlib.settings import SIZE, checked
from mprlib.spelling import numbered
from mprlib.stated_table import named_levels, stated_table

T = TypeVar("T")

# As large as the reference samples of the paper's experiments.
STATED_SIZE = 10_000

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, repr=False)
class Reference:
    """A population in cells, made by `of`, `from_frame`, `from_shares` or `merged`.

    size: the stated effective m; None where the rows are a sample, whose own size counts.
    is_sample: independent draws of a population; only then has it a sampling error.
    label_names: of the table's columns, where known; attributes: the names of each attribute's columns.
    encoding: the levels behind the columns, where it was made of levels.

    A reference is immutable and may be shared by threads and sent to processes. `kept` holds what is computed of it
    for one problem after the other, within a limit of memory; results do not depend on what is there.

    >>> import mprlib
    >>> reference = mprlib.Reference.from_shares({"sex": {"woman": 0.5, "man": 0.5}}, size=1000)
    >>> reference.label_names, reference.shares.tolist(), reference.effective_size
    (('sex=woman', 'sex=man'), [0.5, 0.5], 1000.0)
    >>> reference.counts.tolist(), reference.effective_counts.tolist()
    ([1, 1], [500.0, 500.0])
    >>> reference.labels.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> reference.of_columns([1, 0]).label_names
    ('sex=man', 'sex=woman')
    """

    table: CellTable
    size: float | None = None
    is_sample: bool = True
    label_names: tuple[str, ...] | None = None
    attributes: Mapping[str, tuple[str, ...]] | None = None
    encoding: Encoding | None = None
    kept: Kept = field(default_factory=Kept, init=False, repr=False)
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        labels: Any,
        weights: ArrayLike | None = None,
        *,
        size: float | None = None,
        label_names: Sequence[str] | None = None,
        attributes: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """The cells of label rows (m, l), an array or a data frame, with weights (m,), by default equal.

        Without a size the rows are taken for a sample.
        Raises:  InputError for what `Problem` refuses as a reference, and for a size that is not positive.

        >>> Reference.of([[1, 0], [0, 1], [0, 1]], label_names=["woman", "man"]).shares.round(3).tolist()
        [0.333, 0.667]
        """
        names = matching.column_names(labels) if label_names is None else matching.names_of("label_names", label_names)
        rows = finite("labels", labels, ndim=2)
        if not len(rows):
            raise InputError("labels is empty: a reference needs at least one row")
        if names is not None:
            expect_length("label_names", np.array(names), rows.shape[1], "labels has that many columns")
        found = cls.of_rows(
            rows,
            None if weights is None else checked_weights("weights", weights, len(rows)),
            None if size is None else float(checked(SIZE, "size", size)),
        )
        known = None if attributes is None else lists_by_name("attributes", attributes)
        return replace(found, label_names=names, attributes=known)

    @classmethod
    def of_rows(cls, rows: FloatArray, weights: FloatArray | None, size: float | None) -> Self:
        """What `of` gives for rows, weights and a size that have been checked."""
        return cls(table=CellTable.of_rows(rows, weights), size=size, is_sample=size is None)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        attributes: Sequence[str],
        weight: str | None = None,
        bins: Mapping[str, Sequence[float]] | None = None,
    ) -> Self:
        """The people of a data frame (pandas, polars, pyarrow; a mapping of arrays) by the levels of its columns.

        weight: the column of sampling weights. bins: where numbers are cut, {"age": [30, 50]}; candidates that are
        compared with this reference are cut there as well. A missing value is a level of its own, `unknown`.
        Label columns are named "attribute=level", levels ordered by name and ranges by their numbers.

        >>> people = {"sex": ["woman", "man", None, "man"], "age": [20, 30, 40, 60]}
        >>> Reference.from_frame(people, ["sex", "age"], bins={"age": [30, 50]}).label_names[2:]
        ('sex=unknown', 'age=under 30', 'age=30 to under 50', 'age=50 and over')

        Raises:  InputError for a column that the frame lacks, an attribute of one level, numbers of many values
                 without bins, and bad weights.
        """
        names = checked_attributes(attributes)
        side = Side.of("frame", frame, names, checked_bins(bins, names))
        weights = None if weight is None else column_called("frame", frame, weight)
        encoding = Encoding.of_sides(side, bins=checked_bins(bins, names))
        return cls.of_codes(encoding, encoding.codes_of(side), weights)

    @classmethod
    def from_shares(
        cls,
        shares: Mapping[Any, Mapping[Any, float]],
        *,
        size: float = STATED_SIZE,
        bins: Mapping[str, Sequence[float]] | None = None,
    ) -> Self:
        """A stated population, {attribute: {level: share}}; size: the m that is meant.

        Joint shares are given by tuples: {("sex", "age"): {("woman", "50+"): 0.2, ...}}. bins: where candidates'
        numbers are cut; the levels are then the ranges' names, "under 30", "30 to under 50", "50 and over".

        >>> reference = Reference.from_shares({"sex": {"woman": 0.5, "man": 0.5}})
        >>> reference.label_names, reference.effective_size
        (('sex=woman', 'sex=man'), 10000.0)

        Raises:  InputError as for `target_shares`.
        """
        levels = named_levels(shares)
        return cls.stated(Encoding(levels=levels, bins=checked_bins(bins, list(levels))), shares, size)

    @classmethod
    def given(cls, reference: Any, bins: Mapping[str, Sequence[float]] | None = None) -> Self | None:
        """What is a reference already, or states shares as `from_shares` takes them; None for any other."""
        if isinstance(reference, cls):
            return reference
        is_stated = isinstance(reference, Mapping) and bool(reference)
        if is_stated and all(isinstance(one, Mapping) for one in reference.values()):
            named = {name: cuts for name, cuts in (bins or {}).items() if name in reference}
            return cls.from_shares(reference, bins=named)
        return None

    @classmethod
    def balanced(cls, levels: Mapping[str, Sequence[str]], *, size: float | None = None) -> Reference:
        """Every combination of some attributes' levels, all with equal shares; size as for the function `balanced`.

        >>> Reference.balanced({"sex": ["woman", "man"], "age": ["under 50", "50 and over"]}).shares.tolist()
        [0.25, 0.25, 0.25, 0.25]

        Raises:  InputError for an attribute of fewer than two levels.
        """
        from mprlib.populations import balanced

        return balanced(Encoding(levels=lists_by_name("levels", levels, level_of)), size)

    @classmethod
    def of_codes(cls, encoding: Encoding, codes: Sequence[IntArray], weights: ArrayLike | None = None) -> Self:
        """A sample given by the positions (m,) of each attribute's levels, with weights (m,).

        Raises:  InputError for bad weights.
        """
        labels, groups = encoding.groups(codes)
        checked = None if weights is None else checked_weights("weights", weights, groups.size)
        return cls(table=CellTable.of_groups(labels, groups, checked), **columns_of(encoding))

    @classmethod
    def stated(cls, encoding: Encoding, shares: Mapping[Any, Mapping[Any, float]], size: float) -> Self:
        """What `target_shares` gives."""
        table = stated_table(encoding, shares)
        return cls(table=table, size=float(checked(SIZE, "size", size)), is_sample=False, **columns_of(encoding))

    @classmethod
    def merged(cls, parts: Sequence[Reference]) -> Self:
        """The sample whose parts these are: the same, to the last bit, whichever way it was parted.

        Raises:  InputError for no parts, for parts with other columns, and for statements, which have no rows.

        >>> parts = [Reference.of([[1, 0], [0, 1]]), Reference.of([[0, 1]])]
        >>> Reference.merged(parts).counts.tolist()
        [1, 2]
        """
        parts = checked_parts(parts, cls)
        return cls(
            table=CellTable.merged([part.table for part in parts]),
            is_sample=all(part.is_sample for part in parts),
            label_names=parts[0].label_names,
            attributes=parts[0].attributes,
            encoding=parts[0].encoding,
        )

    @property
    def labels(self) -> FloatArray:
        """Distinct label rows (G, l)."""
        return self.table.labels

    @property
    def counts(self) -> IntArray:
        """Rows (G,) of each cell that have a weight."""
        return self.table.counts

    @property
    def shares(self) -> FloatArray:
        """Shares q (G,) of the cells; they sum to 1."""
        return self._cached("shares", self.table.shares)

    @property
    def effective_size(self) -> float:
        """m: the stated size, or (sum w)^2 / sum w^2, which is the number of rows where all count alike."""
        return self._cached("m", lambda: self.table.effective_size() if self.size is None else self.size)

    @property
    def effective_counts(self) -> FloatArray:
        """Effective rows (G,) of each cell, m q."""
        if self.size is not None:
            return self.size * self.shares
        return self._cached("effective counts", self.table.effective_counts)

    @property
    def squared_weights(self) -> FloatArray:
        """Sums (G,) of the squares of the weights of each cell's rows, where all weights sum to 1."""
        return self._cached("squares", lambda: self.table.relative_powers()[1] / float(self.table.counts.sum()) ** 2)

    @property
    def most_alike(self) -> int:
        """The largest number of rows with a weight that share a cell."""
        return self._cached("most alike", lambda: int(self.counts.max(initial=0)))

    def of_columns(self, columns: Sequence[int]) -> Reference:
        """The same people, seen by some of the columns alone and in the order given."""
        return by_columns(self, columns)

    def of_levels(self, encoding: Encoding) -> Reference:
        """The same people over an encoding of some of their attributes, or of more levels than they have.

        Raises:  InputError for an attribute that they lack.
        """
        return by_levels(self, encoding)

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: not what was computed here."""
        own = (one.name for one in fields(self))
        return {name: getattr(self, name) for name in own if name not in ("kept", "_cache")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in {**state, "kept": Kept(), "_cache": {}}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        names = ", ".join(self.attributes or ()) or numbered(self.labels.shape[1], "column")
        people = f"a sample of {self.table.rows:,}" if self.size is None else f"stated, size {self.size:,.6g}"
        return f"Reference({names}: {numbered(self.labels.shape[0], 'cell')}, {people})"

    def _cached(self, key: str, build: Callable[[], T]) -> T:
        if key not in self._cache:
            self._cache[key] = build()
        found: T = self._cache[key]
        return found
