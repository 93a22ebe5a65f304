"""Listing the sets under cuts: depth first, and each is shown to the measuring code, which may name one more cut.

A set that is better than the incumbent loses less than the gap at the prices, a sum over cells. Sets that do, and that
meet all cuts, are candidates; the measuring code, which is exact for trees, accepts one, which is the new incumbent, or
names a tree that becomes a cut. None left: the incumbent is the best of these sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log10
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.near_counts import margin_of
from mprlib.optimisers.relaxation import Relaxation, centred_cut
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.deepening import FIRST_PART, GROWTH
from mprlib.optimisers.whole.leaf_programme import Optimum
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.cut_options_kernel import PricedItems

# A node of branch and bound is listed with so many nodes, and so many sets that the measuring code is asked about.
NODES_WITHIN, MEASURED_WITHIN = 2_000, 20
# Cuts of other values of rho are left out where a relaxation's optimum is further from them than this part of rho.
LEAST_NEAR = 0.8
# A listing begins where the sets are at most ten to this power for each of its nodes: of those with more, few end.
SETS_A_NODE = 2.5
# Sets of the whole gap, or of the largest part of it, are listed at once where they are at most ten to this power.
MOST_AT_ONCE = 4.0
# A row of a linear programme, whose coefficients are 1 at most, is met within this.
ROW_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Cuts:
    """low <= rows . x <= high for all sets that are looked for.  Shapes: rows (J, G); low, high (J,)."""

    rows: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(kw_only=True, eq=False, slots=True)
class Listed:
    """What the listings of one problem found, so far: the best counts (G,), if any, their similarity, or one that is of
    no interest, and how many sets may still be measured; ends (2, G), the first and the last count of each cell in any
    set that was looked for last."""

    best: float
    left: int
    counts: IntArray | None = None
    ends: IntArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CutListing:
    """Listings of one problem's trees.

    cuts: those found here, (G,) each. No search for sets sees them: it finds the same ones whatever is proven.
    """

    separator: Separator
    oracle: TreeOracle
    pool: CellPool
    cuts: list[FloatArray] = field(default_factory=list)

    def priced(self, relaxation: Relaxation) -> PricedItems:
        """The items at a relaxation's prices."""
        from mprlib.optimisers.whole.cut_options_kernel import PricedItems

        pool, room = self.pool, relaxation.rho * relaxation.multiplier
        low, margin = np.zeros_like(pool.capacity), margin_of(relaxation, pool)
        return PricedItems(pool.k, pool.scores, pool.first, relaxation.price, low, pool.capacity, margin, room)

    def first_part(self, items: PricedItems, gap: float) -> float:
        """The part of a gap to list first: the largest one whose sets are few."""
        from mprlib.optimisers.whole.cut_options_kernel import choices

        part, (ends, losses) = 1.0, _ends_of(self.pool)
        while part > FIRST_PART and np.isfinite(gap) and choices(items, part * gap, ends, losses) > MOST_AT_ONCE:
            part /= GROWTH
        return part

    def near(self, relaxation: Relaxation) -> Cuts:
        """The cuts known that a relaxation's optimum is near."""
        region, rho = self.separator.region.directions.T, relaxation.rho
        rows = region[np.abs(region @ relaxation.counts) >= LEAST_NEAR * rho]
        limit = np.full(len(rows), rho + SMALLEST_EXCESS)
        return Cuts(rows=rows, low=-limit, high=limit)

    def under_cuts(
        self, items: PricedItems, cuts: Callable[[], Cuts], relaxation: Relaxation, listed: Listed, nodes: int
    ) -> tuple[float, bool, int]:
        """The sets above a similarity, under cuts: the best one's, whether all were listed, and the nodes visited."""
        is_complete, visited = self._listed(items, cuts, listed, (relaxation.rho, relaxation.bound), nodes)
        return listed.best, is_complete, visited

    def within(
        self, rho: float, optimum: Optimum, limits: tuple[FloatArray, FloatArray], best: float
    ) -> tuple[Listed, bool]:
        """The sets within limits that are better than `best`, by a programme's optimum, and whether all were listed;
        none are where they are too many."""
        from mprlib.optimisers.whole.cut_options_kernel import PricedItems

        pool = self.pool
        low, high = (limit.astype(np.int64) for limit in limits)
        items = PricedItems(pool.k, pool.scores, pool.first, optimum.price, low, high, optimum.level, optimum.room)

        def cuts() -> Cuts:
            right = optimum.right + ROW_ROUNDING
            return Cuts(rows=optimum.rows, low=np.full(right.size, -np.inf), high=right)

        listed = Listed(best=best, left=MEASURED_WITHIN)
        is_complete, _ = self._listed(items, cuts, listed, (rho, optimum.bound), NODES_WITHIN)
        return listed, is_complete

    def _listed(
        self,
        items: PricedItems,
        cuts: Callable[[], Cuts],
        listed: Listed,
        limits: tuple[float, float],
        nodes: int,
    ) -> tuple[bool, int]:
        """One listing; cuts are asked for where it begins. limits: rho, and the bound on similarity.

        Returns: whether all sets were listed, and the nodes visited.
        """
        from mprlib.optimisers.whole import cut_kernel as kernel
        from mprlib.optimisers.whole import cut_options_kernel as of_options

        rho, bound = limits
        ends, losses = _ends_of(self.pool)
        choices = of_options.choices(items, bound - listed.best, ends, losses)
        listed.ends = ends
        if choices == -np.inf or choices > SETS_A_NODE + log10(max(nodes, 1)):
            return bool(choices == -np.inf), 0
        options, first = of_options.cut_options(items, ends, losses), cuts()
        state = kernel.new_state(options, len(first.rows) + len(self.cuts) + listed.left)
        limit = rho + SMALLEST_EXCESS
        is_open = kernel.add_cuts(options, state, first.rows, first.low, first.high)
        for cut in self.cuts:
            is_open = is_open and kernel.add_cut(options, state, cut, -limit, limit)
        visited = 0
        while is_open:
            loss, is_complete, own = kernel.next_candidate(items, options, state, bound - listed.best, nodes - visited)
            visited += own
            if not np.isfinite(loss):
                return is_complete, visited
            if listed.left == 0:
                return False, visited
            listed.left -= 1
            counts = options.decided.copy()
            counts[options.cell] = options.counts[options.offset[:-1] + state.pick[:-1] - 1]
            worst = self.separator.worst_case(counts)
            if worst.value <= rho:
                listed.best, listed.counts = bound - loss, counts
                continue
            cut = centred_cut(worst.function, self.oracle.cells.reference_shares, self.pool.k)
            self.cuts.append(cut)
            is_open = kernel.add_cut(options, state, cut, -limit, limit)
        return True, visited


def _ends_of(pool: CellPool) -> tuple[IntArray, FloatArray]:
    """Room for the first and the last count (2, G) of each cell, and what they lose."""
    return np.empty((2, pool.cell_count), np.int64), np.empty((2, pool.cell_count))
