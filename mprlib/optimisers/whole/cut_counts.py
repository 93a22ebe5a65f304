"""Whole counts of trees: leaves are never nearer than whole counts allow, and sets near the bound are looked at.

*The smallest rho.* The share of a leaf is a multiple of 1/k, so that its gap is at least the distance of q_L from the
nearest one. For each tree these distances give a lower bound on MPR; the best tree's is found as any tree's value is.

*The best set.* Sets that lose less than the gap at the relaxation's prices are listed (`cut_listing`). Where that does
not end soon, branch and bound follows (`leaf_branching`), by linear programmes that know what trees allow whole counts
of their leaves; the sets of a node are listed where they are few.

Worked example: one attribute of two levels, q = 1/2, k = 3: either leaf is 1/6 from its reference share at least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from mprlib.arrays import IntArray
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.cut_listing import CutListing, Listed
from mprlib.optimisers.whole.deepening import deepened
from mprlib.optimisers.whole.leaf_branching import LeafBranching
from mprlib.optimisers.whole.leaf_programme import LeafProgramme
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

# The first listing has this part of the nodes, as most of those that end are short. A linear programme costs so many
# nodes, and one more for each so many entries of its table of leaves.
LISTED = 15
LEAST_COST, COST_ENTRIES = 650, 300
# Few proofs end where the listing did not even end in the first part of the gap: these have this part of the linear
# programmes, and are left out where fewer than so many remain, which the first node alone may take.
PART_FOR_HARD, FEWEST_PROGRAMMES = 0.05, 13
# Sets that the measuring code is asked about for one rho: as many as take some milliseconds, by the size of its
# tables, and within limits.
MEASURED_ENTRIES = 200_000_000
FEWEST_MEASURED, MOST_MEASURED = 20, 300


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class TreeProof:
    """Proofs for one problem's trees.

    measured: sets that one listing may measure. programme: made when it is asked for. cost: of one of its optima, in
    nodes.
    """

    separator: Separator
    oracle: TreeOracle
    pool: CellPool
    listing: CutListing
    measured: int
    programme: Callable[[], LeafProgramme]
    cost: Callable[[], int]

    @classmethod
    def of(cls, separator: Separator, oracle: TreeOracle) -> TreeProof:
        """The proof for the exact oracle of trees."""
        pool = separator.pool
        return cls(
            separator=separator,
            oracle=oracle,
            pool=pool,
            listing=CutListing(separator=separator, oracle=oracle, pool=pool),
            measured=min(max(MEASURED_ENTRIES // oracle.entry_count, FEWEST_MEASURED), MOST_MEASURED),
            # Where local search attains the bound nobody asks for them.
            programme=cache(lambda: LeafProgramme(pool, oracle)),
            cost=cache(lambda: LEAST_COST + oracle.leaf_sets.size // COST_ENTRIES),
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """A lower bound on the smallest MPR, from the distances of leaves to whole counts."""
        return Floor(rho=max(self.oracle.whole_floor(self.pool.k) - SMALLEST_EXCESS, 0.0), counts=closest)

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best of the sets that lose less than the gap, each measured."""
        items, cuts = self.listing.priced(relaxation), cache(lambda: self.listing.near(relaxation))
        start = -np.inf if incumbent is None else self.pool.similarity(incumbent)
        listed = Listed(best=start, left=self.measured)

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            listed.best = threshold
            return self.listing.under_cuts(items, cuts, relaxation, listed, left)

        first = self.listing.first_part(items, relaxation.bound - start)
        found = deepened(search, relaxation.bound, start, -(-nodes // LISTED), self.pool.k, first)
        found = replace(found, counts=listed.counts)
        return found if found.is_complete else self._branched(relaxation, found, start, nodes)

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _branched(self, relaxation: Relaxation, found: Searched, start: float, nodes: int) -> Searched:
        """The result of branch and bound after a listing that did not end, where it has a prospect."""
        most = nodes // self.cost()
        if start > -np.inf and found.bound == relaxation.bound:
            most = int(PART_FOR_HARD * most)
            if most < FEWEST_PROGRAMMES:
                return found
        branching = LeafBranching(
            separator=self.separator,
            programme=self.programme(),
            rho=relaxation.rho,
            best=start if found.counts is None else self.pool.similarity(found.counts),
            most=most,
            gap=relaxation.bound - start,
            listing=partial(self.listing.within, relaxation.rho),
        )
        further = branching.searched(found.bound)
        counts = found.counts if further.counts is None else further.counts
        return replace(further, counts=counts, nodes=found.nodes + further.nodes)
