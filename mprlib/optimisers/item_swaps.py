"""Whole sets for a ball whose items all differ: swaps of items, with every swap's exact value at hand.

Of embeddings a relaxed optimum takes hundreds of parts, so that its rounding is no good start by
itself. Swaps climb on the merit that the relaxation maximises, similarity - |v|^2 / (2 t), which
is smooth where a penalty for leaving rho is not; t falls from the relaxation's own until the set
lies inside, and the plain improvement inside follows. Then some items of the best set are exchanged
at random and the fall begins again from a little above.

With K the products of features, a swap of g for h changes |v|^2 by

    2 (M_h - M_g) . v + |M_h|^2 + |M_g|^2 - 2 K_gh,

where M v and the chosen items' rows of K are kept up to date: one row a swap, whatever the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import BallRegion
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.rounding import BORDER, SMALLEST_GAIN
from mprlib.problem import FloatArray, IntArray

# Items that may be chosen: those worth most at the relaxation's prices.
CANDIDATES = 2_000
# A unit of rho is worth at least this part of the range of scores over the longest feature: a relaxation
# that ends without prices says nothing of t.
SMALLEST_WORTH = 0.01
# t falls by this factor, at most to this part of the relaxation's.
FALL = 0.9
LOWEST_PART = 0.02
# A new fall starts this many steps above the last one's end.
STEPS_BACK = 2
# Falls for one rho at a k of 50, fewer for larger k, whose swaps cost more; the part of the items
# exchanged before each, and the choice for each of them.
FALLS = 24
FALLS_TIMES_K = 50 * FALLS
FEWEST_FALLS = 2
EXCHANGED_PART = 0.1
FEWEST_EXCHANGED = 2
EXCHANGE_CHOICES = 10
# Swaps of one climb: more than a few times k means that rounding turns it in circles.
LARGEST_SWAPS_PER_ITEM = 8
SEED = 0


@dataclass(kw_only=True, eq=False, slots=True)
class _Chosen:
    """A set on its way.

    Shapes:  scores (C,), squares (C,) of the candidates; chosen (k,), positions among
             them; lean (C,) = M v; products (k, C), rows of K; square = |v|^2.
    row: the row of K (C,) of one candidate.
    """

    scores: FloatArray
    squares: FloatArray
    row: Callable[[int], FloatArray]
    chosen: IntArray
    lean: FloatArray
    products: FloatArray
    square: float

    @classmethod
    def of(
        cls, scores: FloatArray, squares: FloatArray, row: Callable[[int], FloatArray], chosen: IntArray
    ) -> _Chosen:
        """The state of a set."""
        products = np.stack([row(int(item)) for item in chosen])
        lean = products.sum(axis=0)
        return cls(
            scores=scores,
            squares=squares,
            row=row,
            chosen=chosen.copy(),
            lean=lean,
            products=products,
            square=max(float(lean[chosen].sum()), 0.0),
        )

    def similarity(self) -> float:
        return float(self.scores[self.chosen].sum())

    def climb(self, time: float, rho: float) -> bool:
        """Take the best swap by similarity - |v|^2 / (2 t) until none helps; whether the set ends inside."""
        for _ in range(LARGEST_SWAPS_PER_ITEM * self.chosen.size):
            change = self._changes()
            gain = self._similarity_gains() - change / (2.0 * time)
            if not self._take_best(gain, change):
                break
        return self.square <= rho * rho

    def improve(self, rho: float) -> None:
        """Take the swap that gains most similarity inside, until none does."""
        for _ in range(LARGEST_SWAPS_PER_ITEM * self.chosen.size):
            change = self._changes()
            gain = self._similarity_gains()
            gain[self.square + change > rho * rho] = -np.inf
            if not self._take_best(gain, change):
                return

    def exchange(self, time: float, count: int, random: np.random.Generator) -> None:
        """Give up `count` items at random, each for one of the best others."""
        for place in random.choice(self.chosen.size, count, replace=False):
            old = self.chosen[place]
            change = 2.0 * (self.lean - self.lean[old] - self.products[place]) + self.squares + self.squares[old]
            change[self.chosen] = np.inf
            gain = self.scores - self.scores[old] - change / (2.0 * time)
            best = np.argsort(-gain, kind="stable")[:EXCHANGE_CHOICES]
            taken = int(best[random.integers(best.size)])
            if np.isfinite(change[taken]):
                self._swap(int(place), taken, float(change[taken]))

    def _changes(self) -> FloatArray:
        """Change of |v|^2 (k, C) by each swap; infinite for items that are in the set."""
        own = self.squares[self.chosen] - 2.0 * self.lean[self.chosen]
        change = -2.0 * self.products
        change += (2.0 * self.lean + self.squares)[None, :]
        change += own[:, None]
        change[:, self.chosen] = np.inf
        return change

    def _similarity_gains(self) -> FloatArray:
        return self.scores[None, :] - self.scores[self.chosen][:, None]

    def _take_best(self, gain: FloatArray, change: FloatArray) -> bool:
        best = int(gain.argmax())
        if not gain.flat[best] > SMALLEST_GAIN:
            return False
        place, taken = divmod(best, self.scores.size)
        self._swap(place, taken, float(change[place, taken]))
        return True

    def _swap(self, place: int, taken: int, change: float) -> None:
        row = self.row(taken)
        self.lean += row - self.products[place]
        self.products[place] = row
        self.chosen[place] = taken
        self.square += change


def swapped(relaxation: Relaxation, pool: CellPool, region: BallRegion, start: IntArray | None) -> IntArray:
    """Whole counts (G,), the most similar found inside rho; else the closest to it.

    start: counts known to lie inside, None where there are none.
    """
    value = pool.scores - relaxation.price[pool.cell]
    largest = np.argsort(-relaxation.counts[pool.cell], kind="stable")[: pool.k]
    known = np.zeros(0, dtype=np.intp) if start is None else np.flatnonzero(pool.rank < start[pool.cell])
    near = np.argsort(-value, kind="stable")[:CANDIDATES]
    candidates = np.union1d(np.union1d(near, largest), known)
    cells = pool.cell[candidates]
    scores, squares = pool.scores[candidates], region.squares(cells)
    shared = scores, squares, cache(lambda item: region.products(cells, int(cells[item])))
    # A last digit decides what is inside; the measuring code drops it.
    rho = relaxation.rho - BORDER * region.unit
    if candidates.size == pool.k:
        return np.bincount(pool.cell, minlength=pool.cell_count)
    state = _Chosen.of(*shared, np.searchsorted(candidates, largest))
    time = _first_time(relaxation, scores, squares)
    count = min(pool.k, max(FEWEST_EXCHANGED, round(EXCHANGED_PART * pool.k)))
    random = np.random.default_rng(SEED)
    best = closest = state.chosen.copy()
    best_similarity, closest_square = -np.inf, np.inf
    if start is not None:
        best = np.searchsorted(candidates, known)
        best_similarity = float(scores[best].sum())
    part = 1.0
    for _ in range(min(FALLS, max(FEWEST_FALLS, FALLS_TIMES_K // pool.k))):
        while not state.climb(part * time, rho) and part > LOWEST_PART:
            part *= FALL
        if state.square < closest_square:
            closest, closest_square = state.chosen.copy(), state.square
        if state.square <= rho * rho:
            state.improve(rho)
            if state.similarity() > best_similarity + SMALLEST_GAIN:
                best, best_similarity = state.chosen.copy(), state.similarity()
        from_best = best if np.isfinite(best_similarity) else closest
        state = _Chosen.of(*shared, from_best)
        part = min(1.0, part / FALL**STEPS_BACK)
        state.exchange(part * time, count, random)
    found = best if np.isfinite(best_similarity) else closest
    return np.bincount(pool.cell[candidates[found]], minlength=pool.cell_count)


def _first_time(relaxation: Relaxation, scores: FloatArray, squares: FloatArray) -> float:
    """The relaxation's t = |v| / |z|; no set of items that differ comes closer than an item's own length."""
    longest = float(np.sqrt(squares.max())) or 1.0
    smallest = SMALLEST_WORTH * (float(np.ptp(scores)) or 1.0) / longest
    return max(relaxation.rho, longest) / max(relaxation.multiplier, smallest)
