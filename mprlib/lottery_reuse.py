"""Lotteries' MPR for one problem after the other: what depends on the reference and k alone is kept with the reference.

    groups       nothing of it depends on the pool: the values themselves
    linear, and other balls whose features are linear in the labels, phi = L W: MPR = |y W| with y = (p - q) L, the
                 lottery's gaps in the label columns, which are kept
    saturated    MPR^2 = D sum of (p - q)^2 / N: the squares are kept

The values are those of `mprlib.chance` but for the last bits of sums, which levels are rounded to be free of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import MANY_CELLS, Cells
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.kept import Kept
from mprlib.problem import Problem

# Features that miss a linear function of the labels by this part of the longest one are none.
LINEAR = 1e-12
# Entries of what is kept for one k: 16 MB.
MOST_ENTRIES, MOST_DRAWS = 2_000_000, 10_000

Counts = Callable[[int], IntArray]


def reused(problem: Problem, function_class: FunctionClass, oracle: Oracle, counts: Counts) -> FloatArray | None:
    """MPR (B,) of lotteries, in some order, with what is kept of them; None for other classes, and too many cells.

    counts: makes the counts (B, open cells) of that class's lotteries, where they are needed.
    """
    if not isinstance(oracle, (Ball, SaturatedOracle)) or oracle.cells.size > MANY_CELLS:
        return None
    lotteries = _Lotteries.of(problem, oracle.cells)
    return lotteries.of_ball(oracle, counts) if isinstance(oracle, Ball) else lotteries.of_saturated(oracle, counts)


def kept_groups(
    problem: Problem, function_class: FunctionClass, draws: int, build: Callable[[], FloatArray | None]
) -> FloatArray | None:
    """Values of named groups: what the reference, k and the attributes decide."""
    key = ("groups of lotteries", problem.k, draws, function_class, tuple(problem.attributes.items()))
    return problem.population.kept.get(key, build)


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
        own = np.flatnonzero(cells.reference_shares > 0)
        # The reference's cells in the problem's order: that of the counts' columns.
        order = np.argsort(cells.reference_cell[cells.reference_cell >= 0]).tobytes()
        return cls(cells=cells, own=own, k=problem.k, kept=problem.population.kept, key=(problem.k, order))

    def of_saturated(self, oracle: SaturatedOracle, counts: Counts) -> FloatArray | None:
        """sqrt(D sum of (p - q)^2 / N)."""
        if self.own.size * MOST_DRAWS > MOST_ENTRIES:
            return None
        squares = self.kept.get(("squares", *self.key), lambda: self._gaps(counts) ** 2)
        values: FloatArray = np.sqrt(oracle.scale * (squares @ (1.0 / self.cells.masses[self.own])))
        return values

    def of_ball(self, oracle: Ball, counts: Counts) -> FloatArray | None:
        """|y W|, where the features are linear in the labels."""
        own = self.cells.labels[self.own]
        if own.shape[1] * MOST_DRAWS > MOST_ENTRIES:
            return None
        features = oracle.features[self.own]
        weights = self.kept.get(("inverse", *self.key), lambda: np.linalg.pinv(own)) @ features
        error = np.abs(own @ weights - features).max(initial=0.0)
        if error > LINEAR * np.abs(features).max(initial=0.0):
            return None
        columns = self.kept.get(("columns", *self.key), lambda: self._gaps(counts) @ own)
        gaps = columns @ weights
        lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
        return lengths

    def _gaps(self, counts: Counts) -> FloatArray:
        """p - q (B, own cells)."""
        gaps: FloatArray = counts(self.own.size) / self.k
        gaps -= self.cells.reference_shares[self.own]
        return gaps
