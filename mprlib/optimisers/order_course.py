"""What an order is searched in: cells with their items, the gaps that one item adds, and the limit of each prefix.

**Limits.** A prefix of j items cannot be held to the rho of all k: five people come in steps of a fifth. What chance
shows falls with the square root of the number of draws, so a prefix may be as much further from the reference as
chance would be,

    gap of the first j <= rho sqrt(k / j),

each function being scaled as for k. In the class's own units for j items, which is what measuring the prefix gives,
that is rho sqrt(k / j) for classes in shares and for kernels, and rho sqrt(k / j) sqrt(D_j / D_k) under C', which is
about rho: C' is scaled so that chance shows the same MPR at every length. The last limit is rho itself.

Worked example: rho is 0.1 for 20 items, in shares: the first 5 may be 0.2 off.

>>> prefix_limits(0.1, k=20, first=5)[[4, 5, 20]].round(3).tolist()
[inf, 0.2, 0.1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.attention import LOG2
from mprlib.function_classes.base import Oracle, uncut_limit
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.optimisers.ball_region import centred_features
from mprlib.optimisers.cell_pool import ScoreScale
from mprlib.optimisers.order_groups import GroupCounts
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.optimisers.order_kernel import Course

# A value this far below its limit, in parts of it, is below it however it is summed.
CLEARLY = 1e-9
# What sums of gaps may be beyond a limit that was derived from a later one: rounding.
DERIVED = 1e-9


def prefix_limits(rho: float, *, k: int, first: int, unit: float = 1.0) -> FloatArray:
    """The largest gap (k + 1,) of the first j items, j = 0, ..., k; infinite for fewer than `first`."""
    limits = np.full(k + 1, np.inf)
    for length in range(min(first, k), k + 1):
        limits[length] = uncut_limit(rho * float(np.sqrt(k / max(length, 1))), unit)
    return limits


def ranks_within(cell: IntArray) -> IntArray:
    """How many items (N,) of the same cell stand before each, given the cells of items in order."""
    by_cell, sizes = np.argsort(cell, kind="stable"), np.bincount(cell)
    rank = np.empty(cell.size, dtype=np.int64)
    rank[by_cell] = np.arange(cell.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank


@dataclass(kw_only=True, eq=False, slots=True)
class OrderCourse:
    """Items in falling score, k of which are to be ordered; limits (k + 1,) on the gaps of prefixes.

    Shapes:  items (N,), positions in the pool; cell (N,), places in cells (C,), the oracle's.
             functions (C, r), the gaps that an item adds; those of a class that is no ball are found one by one,
             but for named groups, whose counts are known.
    is_thorough: derive limits of counts from each other, which takes as long as a short search.
    """

    problem: Problem
    oracle: Oracle
    items: IntArray
    cell: IntArray
    cells: IntArray
    functions: FloatArray
    is_ball: bool
    groups: GroupCounts | None
    scale: ScoreScale
    is_thorough: bool = False

    @classmethod
    def of(cls, problem: Problem, oracle: Oracle, items: IntArray) -> OrderCourse:
        """From some items of the pool, k or more."""
        items = problem.ranked(items)
        cells, cell = np.unique(oracle.cells.pool_cell[items], return_inverse=True)
        features = centred_features(oracle, 1)
        is_ball = features is not None
        named = oracle.named_groups()
        groups = None if named is None else GroupCounts.of(named, oracle.cells.reference_shares, cells)
        if features is None:
            features = np.zeros((oracle.cells.size, 0)) if groups is not None else oracle.first_functions()
        return cls(
            problem=problem,
            oracle=oracle,
            items=items,
            cell=cell.reshape(-1),
            cells=cells,
            functions=np.ascontiguousarray(features[cells]),
            is_ball=is_ball,
            groups=groups,
            scale=ScoreScale.of(problem.scores[items]),
        )

    @property
    def is_complete(self) -> bool:
        """Whether an order within all limits at hand is within those of the class, but for rounding."""
        return self.is_ball or self.groups is not None

    def look_closer(self) -> bool:
        """Whether limits will be narrower than they were."""
        is_new = self.groups is not None and not self.is_thorough
        self.is_thorough = self.is_thorough or is_new
        return is_new

    def kernel_course(self, limits: FloatArray, first: int, k: int) -> Course:
        """As compiled code reads it: limits on gaps added up over the items of a prefix."""
        from mprlib.optimisers.order_kernel import Course

        capacity = np.bincount(self.cell, minlength=self.cells.size)
        rank = ranks_within(self.cell)
        scores = np.full((self.cells.size, int(capacity.max())), -np.inf)
        scores[self.cell, rank] = self.scale.scaled(self.problem.scores[self.items])
        functions, low, high = self._bounded(limits, capacity)
        return Course(
            scores,
            np.minimum(capacity, k).astype(np.int64),
            functions,
            self.cell.astype(np.int64),
            rank,
            np.array(LOG2.weights(k)),
            limits * np.maximum(np.arange(k + 1), 1),
            low,
            high,
            np.random.default_rng(0).integers(2**62, size=self.cells.size),
            min(first, k),
            self.is_ball,
        )

    def _bounded(self, limits: FloatArray, capacity: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Functions (C, r), and the least and the most (k + 1, r) of each that a prefix may add up to.

        What can only lead to a prefix beyond its limit is beyond a limit itself. A ball has one limit for all.
        """
        if self.is_ball:
            return self.functions, np.zeros((limits.size, 0)), np.zeros((limits.size, 0))
        if self.groups is not None:
            functions, low, high = self.groups.bounded(limits, capacity, is_thorough=self.is_thorough)
        else:
            functions, most = self.functions, limits * np.maximum(np.arange(limits.size), 1)
            high = np.repeat(most[:, None], functions.shape[1], axis=1)
            low = -high
        low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
        least, most = functions.min(axis=0) - DERIVED, functions.max(axis=0) + DERIVED
        for length in range(limits.size - 2, -1, -1):
            np.maximum(low[length], low[length + 1] - most, out=low[length])
            np.minimum(high[length], high[length + 1] - least, out=high[length])
        return functions, low, high

    def items_of(self, order: IntArray) -> IntArray:
        """Positions (k,) in the pool of the items at each place, given their cells (k,)."""
        own = [iter(self.items[self.cell == cell].tolist()) for cell in range(self.cells.size)]
        return np.array([next(own[cell]) for cell in order.tolist()], dtype=np.intp)

    def missed(self, items: IntArray, limits: FloatArray) -> list[FloatArray]:
        """Functions (G,) that see a prefix of items in order beyond its limit (k + 1,), by the measuring code."""
        lengths = np.flatnonzero(np.isfinite(limits))
        # Small tables of shares at once; only what is not clearly within its limit is measured by itself.
        values = closed_form_gaps(self.oracle, self._differences(items)[lengths - 1])
        if values is not None:
            lengths = lengths[values > limits[lengths] * (1.0 - CLEARLY)]
        found = []
        for length in lengths:
            weights = np.zeros(self.problem.n)
            weights[items[:length]] = 1.0 / length
            worst = self.oracle.worst_case(weights)
            if worst.value > limits[length]:
                found.append(worst.function)
        return found

    def _differences(self, items: IntArray) -> FloatArray:
        """What each prefix (k,) shows too much of in each cell: (k, G)."""
        cells = self.oracle.cells
        shown = np.zeros((items.size, cells.size))
        shown[np.arange(items.size), cells.pool_cell[items]] = 1.0
        shares: FloatArray = np.cumsum(shown, axis=0) / np.arange(1, items.size + 1)[:, None]
        return shares - cells.reference_shares

    def add(self, functions: list[FloatArray]) -> None:
        """Functions (G,) on the oracle's cells as further gaps; centred at the reference."""
        shares = self.oracle.cells.reference_shares
        columns = [self.functions, *((one - shares @ one)[self.cells, None] for one in functions)]
        self.functions = np.ascontiguousarray(np.concatenate(columns, axis=1))
