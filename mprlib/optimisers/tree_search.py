"""The best whole counts of one rho under trees: simulated annealing, then ascent, with the best of all trees at hand.

Near rho thousands of trees see almost the same gap, each of which would be a cut. The best tree at counts is found by
dynamic programming over the sets that trees make; as a move changes few leaves, that takes microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import IntArray
from mprlib.cells import Cells
from mprlib.function_classes.base import ListedTrees
from mprlib.optimisers.ball_annealing import Schedule
from mprlib.optimisers.certificate import OPTIMALITY
from mprlib.optimisers.local_search import BORDER, nearest_to_the_margin
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.rounding import rounded
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent

if TYPE_CHECKING:
    from mprlib.optimisers.tree_moves_kernel import Trees
    from mprlib.optimisers.tree_search_kernel import Limits, Scores

# At first; then where no set within rho was found, and from one that is further from the bound than this, relative to
# it.
FIRST = Schedule(warmest=0.02, coldest=0.001, penalty=8.0, steps=6_000)
WITHOUT_SET = Schedule(warmest=0.1, coldest=0.001, penalty=16.0, steps=30_000)
FAR_FROM_BOUND = Schedule(warmest=0.02, coldest=0.001, penalty=16.0, steps=30_000)
FAR_GAP = 0.001
# Trees that are asked before the best of all.
KEPT = 64
# Cells between which an ascent moves items, and its moves of which all pairs are tried.
NEAR_CELLS, PAIRS_OF = 32, 64
# How often the best tree is asked for in one annealing or ascent: as often as takes some milliseconds, by the size of
# its tables, and not less than this.
WORK, FEWEST = 8_000_000, 64
# Numbers of sets, which are never counted from the end: compiled code need not look at their signs.
NUMBERS = np.uint32


class TreeSearch:
    """Search between the cells with items of one pool."""

    def __init__(self, separator: Separator, listed: ListedTrees) -> None:
        from mprlib.optimisers import tree_moves_kernel as moves
        from mprlib.optimisers import tree_search_kernel as kernel

        self._kernel, self._separator, self._pool = kernel, separator, separator.pool
        self._cells: IntArray = np.flatnonzero(self._pool.capacity)
        self._trees = trees_of(separator.oracle.cells, listed, self._cells, self._pool.k)
        leaves = min(2 ** len(listed.ways_to_split), self._pool.cell_count)
        self._kept = moves.Kept(
            leaves=np.full((KEPT, leaves), self._trees.target.size, NUMBERS),
            leaf=np.zeros((KEPT, self._cells.size), NUMBERS),
            order=np.arange(KEPT),
            held=np.zeros(1, np.int64),
        )
        size = len(self._trees.parts) + 2 * self._trees.holding.size // max(self._cells.size, 1)
        self._evaluations = max(WORK // size, FEWEST)

    def best(self, relaxation: Relaxation, previous: IntArray | None) -> Incumbent:
        """The incumbent, from a relaxation's optimum and the counts of a smaller rho."""
        start = rounded(relaxation.counts, self._pool)
        found = self._best(relaxation, start, previous, BORDER)
        if found.is_feasible and self._separator.measured(found.counts) > relaxation.rho:
            # At rho but for rounding, and the measuring code says above it: keep away from rho.
            found = self._best(relaxation, start, previous, -BORDER)
        if found.is_feasible and self._separator.measured(found.counts) > relaxation.rho:
            return Incumbent(counts=found.counts, is_feasible=False)
        return found

    def improved(self, counts: IntArray, relaxation: Relaxation) -> IntArray:
        """Counts (G,) that meet rho, after an ascent from some that do."""
        found = self._climbed(relaxation, counts, -BORDER)
        return found if self._separator.measured(found) <= relaxation.rho else counts

    def _best(self, relaxation: Relaxation, start: IntArray, previous: IntArray | None, slack: float) -> Incumbent:
        """The incumbent, where values up to rho + slack, in the class's unit, meet rho."""
        known = Incumbent(counts=start if previous is None else previous, is_feasible=previous is not None)
        found = self._annealed(relaxation, start, known, FIRST, slack)
        if self._is_far(found, relaxation):
            further = FAR_FROM_BOUND if found.is_feasible else WITHOUT_SET
            found = self._annealed(relaxation, found.counts, found, further, slack)
        if not found.is_feasible or self._pool.similarity(found.counts) >= self._enough(relaxation):
            return found
        return Incumbent(counts=self._climbed(relaxation, found.counts, slack), is_feasible=True)

    def _annealed(
        self, relaxation: Relaxation, start: IntArray, known: Incumbent, schedule: Schedule, slack: float
    ) -> Incumbent:
        """The incumbent after annealing from counts (G,); the closest to rho where there is none."""
        from mprlib.optimisers.cooling_kernel import cooling

        most = self._pool.similarity(known.counts) if known.is_feasible else -np.inf
        own = start[self._cells].astype(np.int64)
        found = self._kernel.Found(counts=own.copy(), closest=own.copy(), least=np.full(1, np.inf))
        limits = self._limits(relaxation, schedule.penalty, slack)
        scores, cooled = self._scores(relaxation), cooling(schedule.warmest, schedule.coldest, schedule.steps)
        after = self._kernel.annealed(self._trees, scores, self._kept, limits, cooled, own, most, found)
        if after > most:
            return Incumbent(counts=self._over_all(found.counts), is_feasible=True)
        return known if known.is_feasible else Incumbent(counts=self._over_all(found.closest), is_feasible=False)

    def _climbed(self, relaxation: Relaxation, counts: IntArray, slack: float) -> IntArray:
        """Counts (G,) after an ascent from some within rho."""
        own = counts[self._cells].astype(np.int64)
        limits = self._limits(relaxation, FIRST.penalty, slack)
        self._kernel.climbed(self._trees, self._scores(relaxation), self._kept, limits, own)
        return self._over_all(own)

    def _limits(self, relaxation: Relaxation, penalty: float, slack: float) -> Limits:
        unit = self._separator.oracle.unit
        return self._kernel.Limits(
            rho=relaxation.rho + slack * unit,
            penalty=penalty * max(relaxation.multiplier, 1.0 / unit),
            enough=self._enough(relaxation),
            evaluations=self._evaluations,
            pairs_of=PAIRS_OF,
        )

    def _scores(self, relaxation: Relaxation) -> Scores:
        pool, cells = self._pool, self._cells
        near = np.flatnonzero(np.isin(cells, nearest_to_the_margin(relaxation, pool, NEAR_CELLS)))
        return self._kernel.Scores(
            marginals=pool.marginals,
            offset=pool.offset[cells].astype(np.int64),
            price=relaxation.price[cells],
            near=near.astype(np.int64),
        )

    def _enough(self, relaxation: Relaxation) -> float:
        """A similarity that attains the bound."""
        return np.inf if relaxation.is_infeasible else relaxation.bound - OPTIMALITY * self._pool.k

    def _is_far(self, found: Incumbent, relaxation: Relaxation) -> bool:
        pool = self._pool
        if relaxation.is_infeasible or not found.is_feasible:
            return not relaxation.is_infeasible
        bound = pool.scale.mean(relaxation.bound, pool.k)
        return bound - pool.scale.mean(pool.similarity(found.counts), pool.k) > FAR_GAP * abs(bound)

    def _over_all(self, counts: IntArray) -> IntArray:
        found = np.zeros(self._pool.cell_count, np.intp)
        found[self._cells] = counts
        return found


def trees_of(cells: Cells, listed: ListedTrees, moving: IntArray, k: int) -> Trees:
    """Trees over all cells as they are seen by the counts of some of them, for sets of k items."""
    from mprlib.optimisers import tree_moves_kernel as kernel

    sets, empty = listed.leaf_sets, len(listed.leaf_sets)
    # The number of each set of the level below, the empty one's in the last place.
    number, ways, sizes, count = np.arange(empty + 1), [], [], empty + 1
    for level in listed.ways_to_split[::-1]:
        parts = number[level]
        own, size = _ways(parts, empty)
        # What nothing splits is a leaf, which some side of a split holds as it is.
        number = np.append(parts.min(axis=(1, 2)), empty)
        number[:-1][size > 0] = count + np.arange(np.count_nonzero(size))
        ways.append(own)
        sizes.append(size[size > 0])
        count += len(sizes[-1])
    # The last set is that of all cells.
    ways.append(np.array([[number[0], empty]]))
    is_held = sets[:, moving] > 0
    weight = np.full(empty, 1.0 / k) if listed.is_signed else listed.scale / (sets @ cells.masses) / k**2
    return kernel.Trees(
        first=np.cumsum([0, *np.concatenate(sizes), 1]),
        parts=np.concatenate(ways).astype(NUMBERS),
        start=np.cumsum([0, *is_held.sum(axis=0)]),
        holding=(np.flatnonzero(np.ascontiguousarray(is_held.T)) % empty).astype(NUMBERS),
        members=is_held,
        target=k * (sets @ cells.reference_shares),
        weight=weight,
        is_signed=listed.is_signed,
    )


def _ways(parts: IntArray, empty: int) -> tuple[IntArray, IntArray]:
    """The distinct ways (any, 2) to split each set, set after set, and how many each has (sets,).

    parts (sets, S, 2): what splits leave. One that leaves all on one side is no way to split a set.
    """
    low, high, base = parts.min(axis=2), parts.max(axis=2), int(parts.max()) + 1
    way = np.sort(np.where((low == empty) | (high == empty), -1, low * base + high), axis=1)
    is_new = way >= 0
    is_new[:, 1:] &= way[:, 1:] != way[:, :-1]
    return np.column_stack(np.divmod(way[is_new], base)), is_new.sum(axis=1)
