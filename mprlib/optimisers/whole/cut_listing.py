"""Listing the sets under cuts: depth first, and each is shown to the measuring code, which may name one more cut.

A set that is better than the incumbent loses less than the gap at the prices, a sum over cells. Sets that do, and that
meet all cuts, are candidates; the measuring code, which is exact for trees, accepts one, which is the new incumbent, or
names a tree that becomes a cut. None left: the incumbent is the best of these sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import centred_cut
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.ball_prices import losses
from mprlib.optimisers.whole.deepening import over_all
from mprlib.optimisers.whole.leaf_programme import Optimum
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.cut_kernel import CutCells, CutOptions

# A node of branch and bound is listed where its sets are at most ten to this power, with so many nodes and so many
# sets that the measuring code is asked about.
MOST_LISTED, NODES_WITHIN, MEASURED_WITHIN = 12.0, 2_000, 20
# A row of a linear programme, whose coefficients are 1 at most, is met within this.
ROW_ROUNDING = 1e-9
# Rounding of a sum of losses.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Near:
    """Cuts that some counts may break: |start + cuts.x| <= rho.  Shapes: cuts (J, F); start (J,)."""

    cuts: FloatArray
    start: FloatArray

    @classmethod
    def of_cuts(cls, options: CutOptions, cuts: FloatArray, rho: float) -> Near:
        """Of cuts (J, F): most of them are far from rho, and would only be carried along."""
        least, most = _ends(options, cuts)
        near = cuts[np.maximum(most, -least) > rho]
        return cls(cuts=near, start=np.zeros(len(near)))

    @classmethod
    def of_rows(cls, options: CutOptions, rows: FloatArray, right: FloatArray, rho: float) -> Near | None:
        """Of rows (J, F) that are met up to a right side (J,); None where no counts meet one of them."""
        least, most = _ends(options, rows)
        if (least > right + ROW_ROUNDING).any():
            return None
        near = most > right + ROW_ROUNDING
        # From below no counts come near these limits.
        low, high = least[near] - 1.0, right[near] + ROW_ROUNDING
        scale = 2.0 * rho / (high - low)
        return cls(cuts=rows[near] * scale[:, None], start=-0.5 * (low + high) * scale)


@dataclass(kw_only=True, eq=False, slots=True)
class Listed:
    """What one listing found, so far: the best counts (F,), and how many sets may still be measured."""

    counts: IntArray
    left: int


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CutListing:
    """Listings of one problem's trees.  Shapes: cells (F,), those with items.

    cuts: those found here, (G,) each. Local search has its own, and finds the same sets whatever is proven.
    """

    separator: Separator
    oracle: TreeOracle
    pool: CellPool
    cells: IntArray
    cuts: list[FloatArray] = field(default_factory=list)

    def under_cuts(
        self, problem: CutCells, listed: Listed, rho: float, bound: float, best: float, nodes: int
    ) -> tuple[float, bool, int]:
        """The best similarity of the sets above one, under all cuts known; whether all were listed; nodes visited."""
        from mprlib.optimisers.whole import cut_kernel as kernel

        held = np.array([*self.separator.region.directions.T, *self.cuts]).reshape(-1, self.pool.cell_count)
        options = kernel.cut_options(problem, bound - best)
        near = Near.of_cuts(options, held[:, self.cells], rho)
        return self._listed((problem, options), near, listed, (rho, bound), best, nodes)

    def within(
        self, rho: float, optimum: Optimum, limits: tuple[FloatArray, FloatArray], best: float
    ) -> tuple[IntArray | None, bool]:
        """The best counts (G,) within limits that are better than `best`, if any were found, and whether all were
        listed, by a programme's optimum; nothing is done where they are too many."""
        from mprlib.optimisers.near_kernel import margin
        from mprlib.optimisers.whole import cut_kernel as kernel

        pool, cells, price = self.pool, self.cells, optimum.price
        lost = losses(pool, price, margin(pool.scores, pool.first, pool.capacity, price, pool.k), cells)
        counts, (low, high) = np.arange(pool.k + 1), limits
        lost[(counts < low[cells, None]) | (counts > high[cells, None])] = np.inf
        choices = np.count_nonzero(lost <= optimum.bound - best + ROUNDING, axis=1)
        if choices.min() == 0 or np.log10(choices).sum() > MOST_LISTED:
            return None, bool(choices.min() == 0)
        capacity = pool.capacity[cells].astype(np.int64)
        problem = kernel.CutCells(pool.k, capacity, price[cells], lost, optimum.room)
        options = kernel.cut_options(problem, optimum.bound - best)
        near = Near.of_rows(options, optimum.rows[:, cells], optimum.right, rho)
        if near is None:
            return None, True
        listed = Listed(counts=np.zeros(cells.size, np.int64), left=MEASURED_WITHIN)
        found, is_complete, _ = self._listed((problem, options), near, listed, (rho, optimum.bound), best, NODES_WITHIN)
        return over_all(listed.counts, cells, pool.cell_count) if found > best else None, is_complete

    def _listed(
        self,
        asked: tuple[CutCells, CutOptions],
        near: Near,
        listed: Listed,
        limits: tuple[float, float],
        best: float,
        nodes: int,
    ) -> tuple[float, bool, int]:
        """One listing of the sets above a similarity; limits: rho, and the bound on similarity."""
        from mprlib.optimisers.whole import cut_kernel as kernel

        (problem, options), (rho, bound) = asked, limits
        visited, used = 0, len(near.cuts)
        state = kernel.new_state(problem, used + listed.left)
        state.gap[0, :used] = near.start
        cuts = np.zeros((self.cells.size, used + listed.left))
        cuts[:, :used] = near.cuts.T
        kernel.add_cuts(options, state, cuts, used)
        while True:
            left = (rho + SMALLEST_EXCESS, bound - best, nodes - visited)
            loss, is_complete, own = kernel.next_candidate(problem, options, state, cuts, used, left)
            visited += own
            if not np.isfinite(loss):
                return best, is_complete, visited
            if listed.left == 0:
                return best, False, visited
            listed.left -= 1
            counts = np.zeros(self.cells.size, np.int64)
            counts[options.order] = options.counts[options.order, state.pick[:-1] - 1]
            worst = self.separator.worst_case(over_all(counts, self.cells, self.pool.cell_count))
            if worst.value <= rho:
                best = bound - loss
                listed.counts[:] = counts
                continue
            cut = centred_cut(worst.function, self.oracle.cells.reference_shares, self.pool.k)
            self.cuts.append(cut)
            cuts[:, used] = cut[self.cells]
            kernel.add_cut(options, state, cuts[:, used], used)
            used += 1


def _ends(options: CutOptions, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the most (J,) that rows (J, F) sum to over counts of the options."""
    ends = rows * options.low, rows * options.high
    return np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
