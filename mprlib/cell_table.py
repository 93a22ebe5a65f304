"""Weighted label rows as a table of their cells: all that a function of the labels can see of them.

Sums of weights are exact (`mprlib.exact_sums`). So the table of the parts of a population, merged in any order, is the
table of the whole to the last bit, and what is computed of it does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, TypeVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.exact_sums import ExactSums

A = TypeVar("A", FloatArray, IntArray)

# Powers of the weights whose sums are kept: shares need the first, the effective size the second, resamples the third.
POWERS = (1, 2, 3)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellTable:
    """G cells: distinct label rows, and what there is in each.

    Shapes:  labels (G, l), in an order that follows from them; counts (G,), rows of each cell that have a weight;
             powers, sums (G,) of the weights, of their squares and of their cubes.
    lightest, heaviest: the range of the weights. rows: all that were given, those without a weight included.
    """

    labels: FloatArray
    counts: IntArray
    powers: tuple[ExactSums, ...]
    lightest: float
    heaviest: float
    rows: int

    @classmethod
    def of_rows(cls, rows: FloatArray, weights: FloatArray | None) -> Self:
        """The table of label rows (m, l) with these weights (m,), which are not negative; by default all are 1."""
        labels, cells = distinct_rows(rows)
        return cls._of_cells(labels, cells, None) if weights is None else cls.of_groups(labels, cells, weights)

    @classmethod
    def of_groups(cls, labels: FloatArray, groups: IntArray, weights: FloatArray | None) -> Self:
        """The table of rows that are given by the group (m,) of each; labels (groups, l) may repeat.

        weights (m,), not negative; by default all are 1.
        """
        rows = groups.size
        if weights is not None:
            # A row of weight zero is no evidence of a group, and opens no cell.
            has_weight = weights > 0
            groups, weights = groups[has_weight], weights[has_weight]
        present = np.flatnonzero(np.bincount(groups, minlength=len(labels)))
        distinct, cell_of_present = distinct_rows(labels[present])
        cell_of_group = np.empty(len(labels), dtype=np.intp)
        cell_of_group[present] = cell_of_present
        return replace(cls._of_cells(distinct, cell_of_group[groups], weights), rows=rows)

    @classmethod
    def _of_cells(cls, labels: FloatArray, cells: IntArray, weights: FloatArray | None) -> Self:
        """The table of rows that are given by the cell (m,) of each, with the cells' labels (G, l) in their order."""
        size = len(labels)
        counts = np.bincount(cells, minlength=size)
        powers = (
            (ExactSums.of_counts(counts),) * len(POWERS)
            if weights is None
            else tuple(ExactSums.of(cells, weights, count=size, power=power) for power in POWERS)
        )
        return cls(
            labels=_frozen(labels),
            counts=_frozen(counts),
            powers=powers,
            lightest=1.0 if weights is None else float(weights.min(initial=np.inf)),
            heaviest=1.0 if weights is None else float(weights.max(initial=0.0)),
            rows=cells.size,
        )

    @classmethod
    def merged(cls, parts: Sequence[CellTable]) -> Self:
        """The table of all rows of some tables with the same columns."""
        labels, cells = distinct_rows(np.concatenate([part.labels for part in parts]))
        places = np.split(cells, np.cumsum([part.counts.size for part in parts])[:-1])
        counts = np.zeros(len(labels), dtype=np.int64)
        for part, place in zip(parts, places):
            np.add.at(counts, place, part.counts)
        return cls(
            labels=_frozen(labels),
            counts=_frozen(counts),
            powers=tuple(
                ExactSums.merged([(part.powers[at], place) for part, place in zip(parts, places)], count=len(labels))
                for at in range(len(POWERS))
            ),
            lightest=min(part.lightest for part in parts),
            heaviest=max(part.heaviest for part in parts),
            rows=sum(part.rows for part in parts),
        )

    def of_labels(self, labels: FloatArray) -> CellTable:
        """The same rows with other labels (G, columns) for each cell; what is alike then is one cell."""
        relabelled = CellTable(
            labels=labels,
            counts=self.counts,
            powers=self.powers,
            lightest=self.lightest,
            heaviest=self.heaviest,
            rows=self.rows,
        )
        return CellTable.merged([relabelled])

    @property
    def are_weights_equal(self) -> bool:
        """Whether all rows count alike."""
        return self.lightest >= self.heaviest

    def shares(self) -> FloatArray:
        """Shares q (G,) of the cells, each rounded once."""
        sums = self.powers[0].integers()
        total = sum(sums)
        return _frozen(np.array([one / total for one in sums]))

    def effective_size(self) -> float:
        """(sum w)^2 / sum w^2: the number of rows where all count alike."""
        if self.are_weights_equal:
            return float(self.counts.sum())
        return self._over_squares([sum(self.powers[0].integers())])[0]

    def effective_counts(self) -> FloatArray:
        """Effective rows (G,) of each cell, q times the effective size: counts where all rows count alike."""
        if self.are_weights_equal:
            # Squares are rounded, and would leave a residue.
            return _frozen(self.counts.astype(np.float64))
        return _frozen(np.array(self._over_squares(self.powers[0].integers())))

    def relative_powers(self) -> FloatArray:
        """Sums (3, G) of the powers of the weights, in units of the mean weight of all rows."""
        rows, total = int(self.counts.sum()), sum(self.powers[0].integers())
        found = []
        for power, sums in zip(POWERS, self.powers):
            above, below = _aligned(rows**power, total**power, sums.exponent - power * self.powers[0].exponent)
            found.append([one * above / below for one in sums.integers()])
        return np.array(found)

    def relative_range(self) -> tuple[float, float]:
        """The lightest and the heaviest weight, in units of the mean weight."""
        sums = self.powers[0]
        above, below = _aligned(int(self.counts.sum()), sum(sums.integers()), -sums.exponent)
        lightest, heaviest = (Fraction(one) * above / below for one in (self.lightest, self.heaviest))
        return float(lightest), float(heaviest)

    def _over_squares(self, sums: Sequence[int]) -> list[float]:
        """Sums of weights times their total over the total of their squares, each rounded once."""
        first, second = self.powers[:2]
        above, below = _aligned(sum(first.integers()), sum(second.integers()), 2 * first.exponent - second.exponent)
        return [one * above / below for one in sums]


def _aligned(above: int, below: int, exponent: int) -> tuple[int, int]:
    """Two whole numbers whose ratio is above / below * 2^exponent."""
    return above << max(exponent, 0), below << max(-exponent, 0)


def _frozen(array: A) -> A:
    array.flags.writeable = False
    return array
