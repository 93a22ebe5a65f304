"""Whole counts of trees: leaves are never nearer than whole counts allow, and near-optimal sets are all measured.

*The smallest rho.* The share of a leaf is a multiple of 1/k, so that its gap is at least the distance of q_L from the
nearest one. For each tree these distances give a lower bound on MPR; the best tree's is found as any tree's value is.

*The best set.* At the relaxation's prices a set that is better than the incumbent loses less than the gap, a sum over
cells. Sets that do and that meet all cuts are listed depth first. The measuring code, which is exact for trees,
accepts such a set, which is the new incumbent, or names a tree that becomes one more cut. None left: the incumbent
is the best set.

Worked example: one attribute of two levels, q = 1/2, k = 3: either leaf is 1/6 from its reference share at least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.near_counts import ROUNDING, margin_of
from mprlib.optimisers.relaxation import Relaxation, centred_cut
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.ball_prices import losses
from mprlib.optimisers.whole.deepening import deepened, over_all, with_counts
from mprlib.optimisers.whole.leaf_programme import LeafProgramme, Optimum
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.cut_kernel import CutCells, CutOptions

# A listing has this part of the nodes, most of those that end are shorter; what a linear programme costs in nodes, and
# more with the size of its tables.
LISTED = 15
LEAST_COST, COST_ENTRIES = 500, 256
# A node of branch and bound is listed, with so many nodes, where its sets are at most ten to this power.
MOST_LISTED, NODES_WITHIN = 12.0, 2_000
# Sets that the measuring code is asked about for one rho: as many as take some milliseconds, by the size of its
# tables, and within limits.
MEASURED_ENTRIES = 200_000_000
FEWEST_MEASURED, MOST_MEASURED = 20, 300


@dataclass(kw_only=True, eq=False, slots=True)
class _Listing:
    """One listing of sets: the incumbent's counts (F,), and how many sets may still be measured."""

    counts: IntArray
    left: int


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class TreeProof:
    """Proofs for one problem's trees.  Shapes: cells (F,), those with items.

    cuts: those found here, (G,) each. Local search has its own, and finds the same sets whatever is proven.
    programme: made when it is asked for. cost: of one of its optima, in nodes.
    """

    separator: Separator
    oracle: TreeOracle
    pool: CellPool
    cells: IntArray
    measured: int
    cost: int
    programme: Callable[[], LeafProgramme]
    cuts: list[FloatArray] = field(default_factory=list)

    @classmethod
    def of(cls, separator: Separator, oracle: TreeOracle) -> TreeProof:
        """The proof for the exact oracle of trees."""
        pool = separator.pool
        measured = min(max(MEASURED_ENTRIES // oracle.entry_count, FEWEST_MEASURED), MOST_MEASURED)
        cells = np.flatnonzero(pool.capacity)
        return cls(
            separator=separator,
            oracle=oracle,
            pool=pool,
            cells=cells,
            measured=measured,
            cost=LEAST_COST + oracle.leaf_sets.size // COST_ENTRIES,
            programme=cache(lambda: LeafProgramme(pool, oracle)),
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """A lower bound on the smallest MPR, from the distances of leaves to whole counts."""
        return Floor(rho=max(self.oracle.whole_floor(self.pool.k) - SMALLEST_EXCESS, 0.0), counts=closest)

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best of the sets that lose less than the gap, each measured."""
        from mprlib.optimisers.whole import cut_kernel as kernel

        price = relaxation.price[self.cells]
        cells = kernel.CutCells(
            self.pool.k,
            self.pool.capacity[self.cells].astype(np.int64),
            price,
            losses(self.pool, relaxation.price, margin_of(relaxation, self.pool), self.cells),
            relaxation.rho * relaxation.multiplier,
        )
        listing = _Listing(counts=np.zeros(self.cells.size, np.int64), left=self.measured)
        start = -np.inf if incumbent is None else self.pool.similarity(incumbent)
        bound = relaxation.bound

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            return self._listed(cells, listing, relaxation.rho, bound, threshold, left)

        found = deepened(search, bound, start, -(-nodes // LISTED), self.pool.k)
        found = with_counts(found, listing.counts, self.cells, self.pool.cell_count)
        return found if found.is_complete else self._branched(relaxation.rho, found, start, nodes)

    def _branched(self, rho: float, found: Searched, start: float, nodes: int) -> Searched:
        """The result of branch and bound after a listing that did not end."""
        from mprlib.optimisers.whole.leaf_branching import LeafBranching

        best = start if found.counts is None else self.pool.similarity(found.counts)
        branching = LeafBranching(
            separator=self.separator,
            programme=self.programme(),
            rho=rho,
            best=best,
            most=nodes // self.cost,
            listing=partial(self._listed_within, rho),
        )
        further = branching.searched(found.bound)
        counts = found.counts if further.counts is None else further.counts
        return replace(further, counts=counts, nodes=found.nodes + further.nodes)

    def _listed_within(
        self, rho: float, optimum: Optimum, limits: tuple[FloatArray, FloatArray], best: float
    ) -> tuple[IntArray | None, bool]:
        """The best counts (G,) within limits that are better than `best`, if any were found, and whether all were
        listed; nothing is done where they are too many."""
        from mprlib.optimisers.near_kernel import margin
        from mprlib.optimisers.whole import cut_kernel as kernel

        pool, cells = self.pool, self.cells
        lost = losses(pool, optimum.price, margin(pool.scores, pool.first, pool.capacity, optimum.price, pool.k), cells)
        low, high = limits
        counts = np.arange(pool.k + 1)
        lost[(counts < low[cells, None]) | (counts > high[cells, None])] = np.inf
        choices = np.count_nonzero(lost <= optimum.bound - best + ROUNDING, axis=1)
        if choices.min() == 0 or np.log10(choices).sum() > MOST_LISTED:
            return None, bool(choices.min() == 0)
        capacity = pool.capacity[cells].astype(np.int64)
        problem = kernel.CutCells(pool.k, capacity, optimum.price[cells], lost, optimum.room)
        listing = _Listing(counts=np.zeros(cells.size, np.int64), left=FEWEST_MEASURED)
        found, is_complete, _ = self._listed(problem, listing, rho, optimum.bound, best, NODES_WITHIN)
        is_better = found > best
        return over_all(listing.counts, cells, pool.cell_count) if is_better else None, is_complete

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _listed(
        self, cells: CutCells, listing: _Listing, rho: float, bound: float, best: float, nodes: int
    ) -> tuple[float, bool, int]:
        """One listing of the sets above a similarity."""
        from mprlib.optimisers.whole import cut_kernel as kernel

        held = np.array([*self.separator.region.directions.T, *self.cuts]).reshape(-1, self.pool.cell_count)
        options = kernel.cut_options(cells, bound - best)
        # Most of the cuts are far from rho, and would only be carried along.
        near = held[_may_refuse(options, held[:, self.cells], rho)][:, self.cells]
        visited, used = 0, len(near)
        state = kernel.new_state(cells, used + listing.left)
        cuts = np.zeros((self.cells.size, used + listing.left))
        cuts[:, :used] = near.T
        kernel.add_cuts(options, state, cuts, used)
        while True:
            limits = (rho + SMALLEST_EXCESS, bound - best, nodes - visited)
            loss, is_complete, own = kernel.next_candidate(cells, options, state, cuts, used, limits)
            visited += own
            if not np.isfinite(loss):
                return best, is_complete, visited
            if listing.left == 0:
                return best, False, visited
            listing.left -= 1
            counts = np.zeros(self.cells.size, np.int64)
            counts[options.order] = options.counts[options.order, state.pick[:-1] - 1]
            worst = self.separator.worst_case(over_all(counts, self.cells, self.pool.cell_count))
            if worst.value <= rho:
                best = bound - loss
                listing.counts[:] = counts
                continue
            cut = centred_cut(worst.function, self.oracle.cells.reference_shares, self.pool.k)
            self.cuts.append(cut)
            cuts[:, used] = cut[self.cells]
            kernel.add_cut(options, state, cuts[:, used], used)
            used += 1


def _may_refuse(options: CutOptions, cuts: FloatArray, rho: float) -> BoolArray:
    """Which cuts (J, F) are beyond rho for some counts of the options, or so near that rounding decides."""
    ends = cuts * options.low, cuts * options.high
    least, most = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
    beyond: BoolArray = np.maximum(most, -least) > rho
    return beyond
