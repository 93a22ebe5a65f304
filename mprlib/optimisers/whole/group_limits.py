"""Whole counts of named groups: |c_G / k - q_G| <= rho for every group's whole count c_G, hence

    ceil(k (q_G - rho))  <=  c_G  <=  floor(k (q_G + rho)).

A group that admits no whole number rules rho out. Rounded limits hold for fractional counts as well, so that the
linear programme with them has a sharper bound than the relaxation with rho itself. At its prices the counts that
may belong to a better set are searched depth first. Where that search does not end and leaves a wide gap, it is the
incumbent that is poor as a rule: simulated annealing at the same prices looks for a better one, and the search for
what is better yet is made once more.

The MPR of a set is one of the distances |c / k - q_G|: the smallest possible one is found by bisection among those.

Worked example: k = 5 and q = 0.3: k q = 1.5, so rho below 0.1 admits neither 1 nor 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.groups import GroupsOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.ranged_programme import RangedCells
from mprlib.optimisers.relaxation import Relaxation, top_sum
from mprlib.optimisers.whole.ball_prices import losses
from mprlib.optimisers.whole.deepening import deepened, over_all, with_counts
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

if TYPE_CHECKING:
    from mprlib.optimisers.whole.group_kernel import Grouped

# A linear programme without a point is believed where its certificate exceeds the rounding of its sums.
SMALLEST_CERTIFICATE = 1e-9
# Steps of the bisection for the smallest rho.
LARGEST_STEPS = 30
# So many nodes ask for no search.
NO_SEARCH = 1
# A gap, relative to the bound, above which a better set is looked for by annealing: tens of milliseconds.
WIDE_GAP = 0.004
# Temperatures in parts of the range of scores: from a few ranks of a cell to less than two scores differ, as a rule.
# An item beyond a limit costs this much more than any price saves.
WARMEST, COLDEST, ANNEALING_STEPS, PENALTY = 0.05, 0.002, 600_000, 0.1


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GroupProof:
    """Proofs for one problem's named groups.

    Shapes:  cells (F,), those with items; group (F, sets of attributes), each one's groups; target (groups,) = k q_G;
             held (groups,), the most items of each group in k. sign: units of rho per share, 2 for signed functions.
    """

    pool: CellPool
    names: tuple[str, ...]
    cells: IntArray
    group: IntArray
    target: FloatArray
    held: IntArray
    sign: float
    programme: Callable[[], RangedCells]

    @classmethod
    def of(cls, pool: CellPool, oracle: GroupsOracle) -> GroupProof:
        """The proof for these groups."""

        held = np.minimum(np.rint(oracle.totals(pool.capacity.astype(float))), pool.k)
        return cls(
            pool=pool,
            names=oracle.names,
            cells=np.flatnonzero(pool.capacity),
            group=oracle.codes.T[pool.capacity > 0].astype(np.int64),
            target=pool.k * oracle.totals(oracle.cells.reference_shares),
            held=held.astype(np.int64),
            sign=2.0 if oracle.signed else 1.0,
            # Where local search attains the bound nobody asks for it.
            programme=cache(lambda: RangedCells(pool, oracle.codes, len(oracle.names))),
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest MPR, by bisection from the closest counts known, whose MPR is `value`."""
        whole = np.arange(self.pool.k + 1)
        distances = np.abs(whole[None, :] - self.target[:, None])
        distances[whole[None, :] > self.held[:, None]] = np.inf
        least = float(distances.min(axis=1).max()) * self.sign / self.pool.k
        possible = np.unique(distances[np.isfinite(distances)]) * self.sign / self.pool.k
        # The MPR of the closest counts is the last one.
        possible, best = possible[(possible >= least) & (possible <= value)], closest
        for _ in range(LARGEST_STEPS):
            if possible.size <= 1:
                break
            middle = (possible.size - 1) // 2
            found = self._found(float(possible[middle]), nodes)
            if found.counts is not None:
                best, possible = found.counts, possible[: middle + 1]
            elif found.is_complete:
                possible = possible[middle + 1 :]
            else:
                break
        return Floor(rho=max(float(possible[0]) - SMALLEST_EXCESS, 0.0), counts=best, is_attained=possible.size == 1)

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best counts within the rounded limits."""
        return self._searched(relaxation.rho, incumbent, nodes, is_any=False)

    def obstacle(self, rho: float) -> str:
        """The groups that admit no whole count within rho."""
        low, high = self._limits(rho)
        empty = np.flatnonzero(low > high)
        if empty.size == 0:
            return ""
        first = empty[0]
        groups = "1 group admits" if empty.size == 1 else f"{empty.size} groups admit"
        among = "" if empty.size == 1 else "among them "
        return f"{groups} no whole count within {rho:g}, {among}{self.names[first]}: k q = {self.target[first]:.4g}"

    def _found(self, rho: float, nodes: int) -> Searched:
        return self._searched(rho, None, nodes, is_any=True)

    def _limits(self, rho: float) -> tuple[IntArray, IntArray]:
        """The smallest and the largest whole count of each group."""
        room = self.pool.k * (rho + SMALLEST_EXCESS) / self.sign
        low = np.maximum(np.ceil(self.target - room), 0).astype(np.int64)
        return low, np.minimum(np.floor(self.target + room), self.held).astype(np.int64)

    def _searched(self, rho: float, incumbent: IntArray | None, nodes: int, *, is_any: bool) -> Searched:
        from mprlib.optimisers.whole import group_kernel as kernel

        none = Searched(counts=None, bound=-np.inf, is_complete=True)
        low, high = self._limits(rho)
        if (low > high).any():
            return none
        solved = self.programme().priced(low.astype(float), high.astype(float))
        price = solved.price
        reduced = self.pool.scores - self._of_items(price)
        k = self.pool.k
        best = reduced if k >= reduced.size else np.partition(reduced, reduced.size - k)[-k:]
        bound = float(best.sum()) + float(np.where(price > 0, high, low) @ price)
        if solved.is_infeasible:
            if self._is_ruled_out(price, low, high) or self._is_ruled_out(-price, low, high):
                return none
            return Searched(counts=None, bound=np.inf, is_complete=False)
        start = -np.inf if incumbent is None else self.pool.similarity(incumbent)
        loss = losses(self.pool, self._of_cells(price), float(best.min()), self.cells)
        problem = kernel.Grouped(
            self.pool.k, self.group, self.pool.capacity[self.cells].astype(np.int64), loss, low, high, price
        )
        counts = np.zeros(self.cells.size, np.int64)

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            best, is_complete, visited = kernel.cheapest(problem, bound, threshold, left, is_any, counts)
            return best, is_complete, visited

        found = with_counts(
            deepened(search, bound, start, nodes, self.pool.k), counts, self.cells, self.pool.cell_count
        )
        if is_any or nodes <= NO_SEARCH or found.is_complete or not self._is_wide(found, start):
            return found
        known = start if found.counts is None else self.pool.similarity(found.counts)
        better = self._annealed(problem, reduced, bound, known)
        if better is None:
            return found
        counts[:] = better
        again = deepened(search, bound, self.pool.similarity(self._over_all(better)), nodes, self.pool.k)
        return Searched(
            counts=self._over_all(counts),
            bound=min(found.bound, again.bound),
            is_complete=again.is_complete,
            nodes=found.nodes + again.nodes,
        )

    def _is_wide(self, found: Searched, start: float) -> bool:
        """Whether the best counts known, those of the incumbent or those found, are far below the bound."""
        scale, k = self.pool.scale, self.pool.k
        known = start if found.counts is None else self.pool.similarity(found.counts)
        if known == -np.inf:
            return True
        bound = scale.mean(found.bound, k)
        return bound - scale.mean(known, k) > WIDE_GAP * abs(bound)

    def _annealed(self, problem: Grouped, reduced: FloatArray, bound: float, known: float) -> IntArray | None:
        """Counts (F,) within the limits that are better than what is known, from the k best items at the prices."""
        from mprlib.optimisers.cooling_kernel import cooling
        from mprlib.optimisers.whole import group_anneal_kernel as kernel

        best_items = np.argsort(-reduced, kind="stable")[: self.pool.k]
        counts = np.bincount(self.pool.cell[best_items], minlength=self.pool.cell_count)[self.cells].astype(np.int64)
        penalty = PENALTY + float(np.abs(problem.price).max(initial=0.0))
        best = np.zeros_like(counts)
        kernel.annealed(problem, penalty, cooling(WARMEST, COLDEST, ANNEALING_STEPS), bound - known, counts, best)
        return best if best.any() else None

    def _over_all(self, counts: IntArray) -> IntArray:
        return over_all(counts, self.cells, self.pool.cell_count)

    def _is_ruled_out(self, ray: FloatArray, low: IntArray, high: IntArray) -> bool:
        """Whether k items cannot have as large a sum of the ray's values (groups,) as their limits ask for."""
        asked = float(np.where(ray > 0, low, high) @ ray)
        shortfall = asked - top_sum(self._of_items(ray), self.pool.k)
        return shortfall > SMALLEST_CERTIFICATE * float(np.abs(ray).max(initial=0.0))

    def _of_cells(self, price: FloatArray) -> FloatArray:
        """Sums (G,) of the groups' prices over each cell's groups; 0 on cells without items."""
        sums = np.zeros(self.pool.cell_count)
        sums[self.cells] = price[self.group].sum(axis=1)
        return sums

    def _of_items(self, price: FloatArray) -> FloatArray:
        return self._of_cells(price)[self.pool.cell]
