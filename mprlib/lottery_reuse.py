"""Lotteries' MPR for one problem after the other: what depends on the reference and k alone is kept with the reference.

    groups       nothing of it depends on the pool: the values themselves
    linear, and other balls whose features are linear in the labels, phi = L W: MPR = |y W| with y = (p - q) L, the
                 lottery's gaps in the label columns, which are kept
    saturated    MPR^2 = D sum of (p - q)^2 / N: the squares are kept

The values are those of `mprlib.chance` but for the last bits of sums, which levels are rounded to be free of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import MANY_CELLS, Cells
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.kept import Kept
from mprlib.lotteries import drawing_order
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.lottery_kernel import Spread

# Features that miss a linear function of the labels by this part of the longest one are none.
LINEAR = 1e-12
# Entries of what is kept for one k: 16 MB.
MOST_ENTRIES, MOST_DRAWS = 2_000_000, 10_000

# Directions in which gaps vary less than this part of the most, as rounding does, are part of the rest.
SMALLEST_VARIANCE = 1e-13

Counts = Callable[[], IntArray]
T = TypeVar("T")


def reused(problem: Problem, function_class: FunctionClass, oracle: Oracle, counts: Counts) -> FloatArray | None:
    """MPR (B,) of lotteries, in some order, with what is kept of them; None for other classes, and too many cells.

    counts: makes the counts (B, open cells) of that class's lotteries, where they are needed.
    """
    if not isinstance(oracle, (Ball, SaturatedOracle)) or oracle.cells.size > MANY_CELLS:
        return None
    lotteries = _Lotteries.of(problem, oracle.cells)
    if isinstance(oracle, Ball):
        return lotteries.of_ball(oracle, counts)
    return lotteries.of_saturated(oracle, counts, lambda: _drawing_order(problem, lotteries))


def reused_place(problem: Problem, oracle: Oracle, counts: Counts, place_of: Callable[[int], int]) -> float | None:
    """The value at a place among the rising values of lotteries, which `place_of` names by their number.

    None for other classes than balls whose features are linear in the labels, and for too many cells.
    """
    if not isinstance(oracle, Ball) or oracle.cells.size > MANY_CELLS:
        return None
    return _Lotteries.of(problem, oracle.cells).place_in_ball(oracle, counts, place_of)


def kept_groups(
    problem: Problem, function_class: FunctionClass, oracle: Oracle, what: str, build: Callable[[], T]
) -> T:
    """What lotteries show of named groups: the reference, the order of its cells, k and the attributes decide it."""
    key = ("groups of lotteries", what, problem.k, function_class, tuple(problem.attributes.items()))
    return problem.population.kept.get((*key, _OpenCells.of(problem, oracle.cells).order), build)


@dataclass(frozen=True, eq=False, slots=True)
class _OpenCells:
    """The reference's own cells among those of a problem, and their order there: that of the counts' columns."""

    own: IntArray
    order: bytes

    @property
    def nbytes(self) -> int:
        """Memory."""
        return self.own.nbytes + len(self.order)

    @classmethod
    def of(cls, problem: Problem, cells: Cells) -> _OpenCells:
        """Those of a problem; kept where its cells have a name."""

        def build() -> _OpenCells:
            order = np.argsort(cells.reference_cell[cells.reference_cell >= 0])
            return cls(np.flatnonzero(cells.reference_shares > 0), order.tobytes())

        return build() if cells.name is None else problem.population.kept.get(("open cells", cells.name), build)


def _drawing_order(problem: Problem, lotteries: _Lotteries) -> bytes:
    cells, own = lotteries.cells, lotteries.own
    return drawing_order(problem, cells.labels[own], cells.reference_shares[own], cells.masses[own]).tobytes()


@dataclass(frozen=True, eq=False, slots=True)
class _KeptSpread:
    """Gaps of lotteries by rising |u|, as the kernel takes them."""

    spread: Spread

    @property
    def nbytes(self) -> int:
        """Memory."""
        return self.spread.columns.nbytes

    @classmethod
    def of(cls, columns: FloatArray) -> _KeptSpread:
        """Of gaps (B, l)."""
        from mprlib.lottery_kernel import Spread

        variances, directions = np.linalg.eigh(columns.T @ columns / len(columns))
        kept = variances > SMALLEST_VARIANCE * float(variances.max(initial=0.0))
        deviations, directions = np.sqrt(variances[kept]), directions[:, kept]
        coordinates, axes = columns @ (directions / deviations), deviations[:, None] * directions.T
        lengths = _lengths(coordinates)
        order = np.argsort(lengths, kind="stable")
        rest = float(_lengths(columns - coordinates @ axes).max(initial=0.0))
        return cls(Spread(columns=columns[order], lengths=lengths[order], axes=axes, rest=rest))


def _lengths(rows: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Lotteries:
    """Lotteries of one reference and k; own: the reference's cells among those of the problem."""

    cells: Cells
    own: IntArray
    k: int
    kept: Kept
    key: tuple[Any, ...]

    @classmethod
    def of(cls, problem: Problem, cells: Cells) -> _Lotteries:
        found = _OpenCells.of(problem, cells)
        return cls(cells=cells, own=found.own, k=problem.k, kept=problem.population.kept, key=(problem.k, found.order))

    def of_saturated(
        self, oracle: SaturatedOracle, counts: Counts, drawing_order: Callable[[], bytes]
    ) -> FloatArray | None:
        """sqrt(D sum of (p - q)^2 / N); drawing_order: of the cells, which names of columns decide, or pools."""
        if self.own.size * MOST_DRAWS > MOST_ENTRIES:
            return None
        squares = self.kept.get(("squares", *self.key, drawing_order()), lambda: self._gaps(counts) ** 2)
        values: FloatArray = np.sqrt(oracle.scale * (squares @ (1.0 / self.cells.masses[self.own])))
        return values

    def of_ball(self, oracle: Ball, counts: Counts) -> FloatArray | None:
        """|y W|, where the features are linear in the labels."""
        weights = self._weights(oracle)
        return None if weights is None else _lengths(self._columns(counts) @ weights)

    def place_in_ball(self, oracle: Ball, counts: Counts, place_of: Callable[[int], int]) -> float | None:
        """The value at one place, from the lotteries alone that may have it.

        Gaps are y = u T, with u of equal variance in all directions. Then |y W| is |u| times a factor between the
        least and the largest singular value of T W, so that |u|, which no pool changes, says which lotteries are
        below the place or above it.
        """
        from mprlib.lottery_kernel import around

        weights = self._weights(oracle)
        if weights is None:
            return None
        spread = self.kept.get(("spread", *self.key), lambda: _KeptSpread.of(self._columns(counts))).spread
        place = place_of(spread.lengths.size)
        first, last = around(spread, place, weights)
        rows = spread.columns[first:last] @ weights
        # A product sums the squares of a row in a fraction of the time of a sum.
        squares = (rows * rows) @ np.ones(rows.shape[1])
        return math.sqrt(np.partition(squares, place - first)[place - first])

    def _weights(self, oracle: Ball) -> FloatArray | None:
        """W (l, r) with features = labels W; None where they are not linear."""
        from mprlib.function_classes.linear_kernel import is_linear

        labels, features = self.cells.labels, oracle.features
        if labels.shape[1] * MOST_DRAWS > MOST_ENTRIES:
            return None
        if self.own.size < self.cells.size:
            labels, features = labels[self.own], features[self.own]
        weights: FloatArray = self.kept.get(("inverse", *self.key), lambda: np.linalg.pinv(labels)) @ features
        return weights if is_linear(labels, weights, features, LINEAR) else None

    def _columns(self, counts: Counts) -> FloatArray:
        """Gaps in the label columns (B, l)."""
        return self.kept.get(("columns", *self.key), lambda: self._gaps(counts) @ self.cells.labels[self.own])

    def _gaps(self, counts: Counts) -> FloatArray:
        """p - q (B, own cells)."""
        gaps: FloatArray = counts() / self.k
        gaps -= self.cells.reference_shares[self.own]
        return gaps
