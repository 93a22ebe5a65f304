"""Branch and bound over the whole counts of cells, by linear programmes under what trees allow (`leaf_programme`).

The open node with the largest bound is next, and from there one child after the other, the one that loses less first.
Where the sets of a node that may be better are few they are listed. At whole counts the measuring code accepts the set,
which is the new incumbent, or the trees that refuse it become cuts. Where no node is open the incumbent is the best
set; else the largest bound of the open ones holds for all sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.certificate import OPTIMALITY
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.cut_listing import Listed
from mprlib.optimisers.whole.leaf_programme import LeafProgramme, Optimum
from mprlib.optimisers.whole.proof import Searched

# How often trees are asked at the first node, and at each of the others.
FIRST_TREES, TREES = 12, 1
# Counts are whole within this.
WHOLE = 1e-6
# A search goes on while at its pace so far it closes this part of the gap within its limit, as its pace grows later: of
# the searches that are slower, hardly any ends.
LEAST_CLOSED = 0.5

# From a node's optimum, the limits of its counts and a similarity: what was found above it, and whether all was.
Listing = Callable[[Optimum, tuple[FloatArray, FloatArray], float], tuple[Listed, bool]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Node:
    """Counts between low and high, (G,) each, and a bound on the similarity of sets with such."""

    bound: float
    low: FloatArray
    high: FloatArray


@dataclass(kw_only=True, eq=False, slots=True)
class LeafBranching:
    """One search, for sets above a similarity that meet rho; counts (G,) are those of the best one found.

    most: linear programmes, at most. gap: from the incumbent to the relaxation's bound, infinite without one. listing:
    of the sets of a node, see there. _open: nodes by falling bound, then in the order in which they were opened.
    _unclear: the largest bound of nodes that rounding left neither open nor not. _before: programmes that were solved
    before this search.
    """

    separator: Separator
    programme: LeafProgramme
    rho: float
    best: float
    most: int
    gap: float
    listing: Listing
    counts: IntArray | None = None
    visited: int = 0
    _open: list[tuple[float, int, _Node]] = field(default_factory=list)
    _opened: int = 0
    _unclear: float = -np.inf
    _before: int = 0

    def searched(self, bound: float) -> Searched:
        """The result, from a bound on all sets."""
        pool = self.separator.pool
        if not self.programme.at(self.rho):
            return Searched(counts=None, bound=-np.inf, is_complete=True)
        self._push(_Node(bound=bound, low=np.zeros(pool.cell_count), high=pool.capacity.astype(float)))
        self._before = self.programme.solved
        try:
            while self._open and self._has_prospect(-np.inf):
                node = heappop(self._open)[2]
                if node.bound > self._enough():
                    self._plunge(node)
        except PathLost:
            return Searched(counts=self.counts, bound=bound, is_complete=False, nodes=self.visited)
        largest = self._largest(-np.inf)
        is_complete = largest <= self._enough()
        return Searched(counts=self.counts, bound=largest, is_complete=is_complete, nodes=self.visited)

    def _plunge(self, node: _Node) -> None:
        """From a node to one of its children, and on from there, until one is closed or the limit is met."""
        while self._has_prospect(node.bound):
            self.visited += 1
            trees = FIRST_TREES if self.visited == 1 else TREES
            found = self.programme.optimum(node.low, node.high, self._enough(), trees)
            if found.bound <= self._enough():
                return
            listed = self._listed(node, found)
            if listed is None:
                return
            node = replace(listed, bound=min(node.bound, found.bound))
            cell, is_more = self.programme.parting(found.counts, WHOLE)
            if cell >= 0:
                node = self._parted(node, cell, float(np.floor(found.counts[cell])), is_more=is_more)
            elif found.bound == np.inf or not self._is_refused(np.rint(found.counts)):
                if node.bound > self._enough():
                    self._unclear = max(self._unclear, node.bound)
                return
        self._push(node)

    def _listed(self, node: _Node, found: Optimum) -> _Node | None:
        """None where all sets of a node that may be better were listed, by the prices of its optimum; the best is kept.
        Else the node, without counts that no such set has."""
        if not np.isfinite(found.bound - self.best):
            return node
        listed, is_complete = self.listing(found, (node.low, node.high), self.best)
        if listed.counts is not None:
            self._keep(listed.counts)
        if is_complete or listed.ends is None:
            return None
        low, high = listed.ends.astype(float)
        return replace(node, low=low, high=high)

    def _parted(self, node: _Node, cell: int, count: float, *, is_more: bool) -> _Node:
        """The child with up to so many items of a cell, or with more; the other one is open."""
        low, high = node.low.copy(), node.high.copy()
        high[cell], low[cell] = min(high[cell], count), max(low[cell], count + 1.0)
        fewer, more = replace(node, high=high), replace(node, low=low)
        self._push(fewer if is_more else more)
        return more if is_more else fewer

    def _is_refused(self, whole: FloatArray) -> bool:
        """Whether whole counts do not meet rho, and trees that see it were added; else they may be the best."""
        pool, counts = self.separator.pool, whole.astype(np.intp)
        if counts.sum() == pool.k and self.separator.measured(counts) <= self.rho:
            self._keep(counts)
            return False
        return self.programme.add_trees(self.programme.leaves.held(whole))

    def _keep(self, counts: IntArray) -> None:
        """Counts (G,) that meet rho, where they are better than the incumbent. Those of a listing need not be: losses
        at the prices of an optimum beyond a node's limits are too small."""
        similarity = self.separator.pool.similarity(counts)
        if similarity > self.best:
            self.best, self.counts = similarity, counts

    def _push(self, node: _Node) -> None:
        self._opened += 1
        heappush(self._open, (-node.bound, self._opened, node))

    def _has_prospect(self, bound: float) -> bool:
        """Whether programmes are left, and are likely to suffice for the open nodes and one more of that bound."""
        solved = self.programme.solved - self._before
        if solved >= self.most or self.gap == np.inf:
            return solved < self.most
        left = self._largest(bound) - self.best
        return self.gap - left >= LEAST_CLOSED * solved / self.most * self.gap

    def _largest(self, bound: float) -> float:
        """The bound on all sets: of open and unclear nodes, of one more node with that bound, and of the incumbent."""
        first = -self._open[0][0] if self._open else -np.inf
        return max(self.best, self._unclear, bound, first)

    def _enough(self) -> float:
        """A bound that leaves nothing better than the incumbent, but for rounding."""
        return self.best + OPTIMALITY * self.separator.pool.k
