"""Local search over sets of items for a ball whose items nearly all differ, with every swap's exact value.

For embeddings the relaxation's optimum has hundreds of fractional items, so that its rounding alone is a poor
start. Steepest ascent uses the relaxation's own merit, similarity - |v|^2 / (2 t), which is smooth where a
penalty for violating rho is not. t falls from the relaxation's value until the set meets rho (annealing); then
swaps inside rho improve similarity. For a restart some items of the incumbent are exchanged at random and t
starts a little above its last value (iterated local search).

With K the inner products of features, swapping g for h changes |v|^2 by

    2 (M_h - M_g) . v + |M_h|^2 + |M_g|^2 - 2 K_gh.

M v and the rows of K of the selected items are kept up to date, which costs one new row of K per swap.

Where the best set is far from the relaxation's bound, or none is known, simulated annealing goes on. Its products are
of the items that are best at one relaxation's prices, and serve nearby rhos as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.ball_annealing import ITEM_SCHEDULES, BallAnnealing
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.local_search import BORDER, SMALLEST_GAIN
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent

# Items that may be selected: those with the highest scores net of the relaxation's prices.
CANDIDATES = 2_000
# Smallest multiplier of rho that t is computed from, as a part of the range of scores over the longest feature: a
# relaxation that ended without multipliers has 0.
SMALLEST_MULTIPLIER = 0.01
# Annealing: t falls by this factor per step, at most to this part of the relaxation's t.
COOLING = 0.9
LOWEST_PART = 0.02
# A restart begins this many steps above the t at which the last one ended.
STEPS_BACK = 2
# Restarts per rho up to k = 50, fewer for larger k, whose swaps cost more, but FEWEST_RESTARTS at least.
RESTARTS = 24
RESTARTS_TIMES_K = 50 * RESTARTS
FEWEST_RESTARTS = 2
# Part of the items exchanged before a restart, but FEWEST_EXCHANGED at least: enough to leave the local optimum,
# few enough to keep most of the incumbent. Each is exchanged for a random one of the EXCHANGE_CHOICES best others.
EXCHANGED_PART = 0.1
FEWEST_EXCHANGED = 2
EXCHANGE_CHOICES = 10
# Swaps of one ascent per item: an ascent needs each item a few times; more means that rounding makes it cycle.
LARGEST_SWAPS_PER_ITEM = 8
# A gap, relative to the relaxation's bound, above which annealing looks for a better set. It selects from more items,
# chosen anew when rho has grown by this factor.
WIDE_GAP = 0.05
ANNEALED_CANDIDATES = 3_000
RENEWED = 1.6
# Multiplications for the products of those items: a part of a second. Fewer items are taken where features are many.
PRODUCTS = 500_000_000
# Seed of the exchanges, set anew for each rho: reruns agree.
SEED = 0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Candidates:
    """The items among which sets are searched.

    Shapes:  scores, squares (C,), of M_g. row: the row of K (C,) of one candidate.
    """

    scores: FloatArray
    squares: FloatArray
    row: Callable[[int], FloatArray]


class _Selected:
    """A set under local search.

    Shapes:  chosen (k,), positions among the candidates; v_products (C,) = M v;
             rows (k, C), rows of K of the chosen; square = |v|^2.
    """

    def __init__(self, candidates: _Candidates, chosen: IntArray) -> None:
        self._scores, self._squares, self._row = candidates.scores, candidates.squares, candidates.row
        self.chosen = chosen.copy()
        self._rows = np.stack([self._row(int(item)) for item in chosen])
        self._v_products: FloatArray = self._rows.sum(axis=0)
        self.square = max(float(self._v_products[chosen].sum()), 0.0)

    def similarity(self) -> float:
        """Total similarity of the chosen items."""
        return float(self._scores[self.chosen].sum())

    def ascend(self, time: float, rho: float) -> bool:
        """Steepest ascent on similarity - |v|^2 / (2 t) for t = `time`; whether the set then meets rho."""
        for _ in range(LARGEST_SWAPS_PER_ITEM * self.chosen.size):
            change = self._changes()
            gain = self._similarity_gains() - change / (2.0 * time)
            if not self._apply_best(gain, change):
                break
        return self.square <= rho * rho

    def improve(self, rho: float) -> None:
        """Steepest ascent on similarity by swaps inside rho."""
        for _ in range(LARGEST_SWAPS_PER_ITEM * self.chosen.size):
            change = self._changes()
            gain = self._similarity_gains()
            gain[self.square + change > rho * rho] = -np.inf
            if not self._apply_best(gain, change):
                return

    def exchange(self, time: float, count: int, random: np.random.Generator) -> None:
        """Exchange `count` random items, each for one of the best others, also where that loses."""
        for place in random.choice(self.chosen.size, count, replace=False):
            old = self.chosen[place]
            change = (
                2.0 * (self._v_products - self._v_products[old] - self._rows[place])
                + self._squares
                + self._squares[old]
            )
            change[self.chosen] = np.inf
            gain = self._scores - self._scores[old] - change / (2.0 * time)
            best = np.argsort(-gain, kind="stable")[:EXCHANGE_CHOICES]
            new = int(best[random.integers(best.size)])
            if np.isfinite(change[new]):
                self._swap(int(place), new, float(change[new]))

    def _changes(self) -> FloatArray:
        """Change of |v|^2 (k, C) by each swap; infinite for items that are selected already."""
        own = self._squares[self.chosen] - 2.0 * self._v_products[self.chosen]
        change = -2.0 * self._rows
        change += (2.0 * self._v_products + self._squares)[None, :]
        change += own[:, None]
        change[:, self.chosen] = np.inf
        return change

    def _similarity_gains(self) -> FloatArray:
        return self._scores[None, :] - self._scores[self.chosen][:, None]

    def _apply_best(self, gain: FloatArray, change: FloatArray) -> bool:
        best = int(gain.argmax())
        if not gain.flat[best] > SMALLEST_GAIN:
            return False
        place, new = divmod(best, self._scores.size)
        self._swap(place, new, float(change[place, new]))
        return True

    def _swap(self, place: int, new: int, change: float) -> None:
        row = self._row(new)
        self._v_products += row - self._rows[place]
        self._rows[place] = row
        self.chosen[place] = new
        self.square += change


@dataclass(kw_only=True, eq=False, slots=True)
class _Best:
    """The most similar set that met rho, and the set closest to rho; positions (k,) among the candidates."""

    rho: float
    closest: IntArray
    closest_square: float = np.inf
    feasible: IntArray | None = None
    similarity: float = -np.inf

    @property
    def chosen(self) -> IntArray:
        """The better of the two."""
        return self.closest if self.feasible is None else self.feasible

    def consider(self, state: _Selected) -> None:
        """Keep a set after annealing, improved where it meets rho."""
        if state.square < self.closest_square:
            self.closest, self.closest_square = state.chosen.copy(), state.square
        if state.square <= self.rho * self.rho:
            state.improve(self.rho)
            if state.similarity() > self.similarity + SMALLEST_GAIN:
                self.feasible, self.similarity = state.chosen.copy(), state.similarity()


class ItemSwaps:
    """Iterated local search over the items of one problem, in its ball."""

    def __init__(self, separator: Separator, ball: BallRegion, *, is_annealed: bool = True) -> None:
        self._separator, self._pool, self._ball = separator, separator.pool, ball
        self._annealing: BallAnnealing | None = None
        self._annealed_until, self._is_annealed = 0.0, is_annealed

    def best(self, relaxation: Relaxation, previous: IntArray | None) -> Incumbent:
        """The incumbent, from a relaxation's optimum and the counts of a smaller rho."""
        counts = self.counts(relaxation, previous)
        found = Incumbent(counts=counts, is_feasible=self._separator.measured(counts) <= relaxation.rho)
        return self._annealed(relaxation, found)

    def improved(self, counts: IntArray, relaxation: Relaxation) -> IntArray:
        """The counts as they are: a search that starts from the incumbent keeps it."""
        return counts

    def counts(self, relaxation: Relaxation, previous: IntArray | None) -> IntArray:
        """Whole counts (G,), the most similar found that meet rho in the ball; else the closest to rho."""
        pool = self._pool
        largest = np.argsort(-relaxation.counts[pool.cell], kind="stable")[: pool.k]
        known = np.zeros(0, dtype=np.intp) if previous is None else np.flatnonzero(pool.rank < previous[pool.cell])
        items = self._candidate_items(relaxation, largest, known)
        if items.size == pool.k:
            return np.bincount(pool.cell, minlength=pool.cell_count)
        candidates = self._candidates(items)
        # The measuring code cuts the last digits of a value; a set at rho in the ball may exceed it by those.
        rho = relaxation.rho - BORDER * self._ball.unit
        best = _Best(rho=rho, closest=np.searchsorted(items, largest))
        if previous is not None:
            best.feasible = np.searchsorted(items, known)
            best.similarity = float(candidates.scores[best.feasible].sum())
        self._restart(candidates, best, _first_time(relaxation, candidates))
        return np.bincount(pool.cell[items[best.chosen]], minlength=pool.cell_count)

    def _annealed(self, relaxation: Relaxation, found: Incumbent) -> Incumbent:
        """The incumbent after annealing, where it is far from the bound."""
        pool, known = self._pool, -np.inf
        if found.is_feasible:
            known, bound = pool.similarity(found.counts), pool.scale.mean(relaxation.bound, pool.k)
            if bound - pool.scale.mean(known, pool.k) <= WIDE_GAP * abs(bound):
                return found
        if relaxation.is_infeasible or not (self._is_annealed and self._ball.is_complete):
            return found
        counts = self._annealing_near(relaxation).best(relaxation, known)
        if counts is None or self._separator.measured(counts) > relaxation.rho:
            return found
        return Incumbent(counts=counts, is_feasible=True)

    def _annealing_near(self, relaxation: Relaxation) -> BallAnnealing:
        """The annealing over the best items at the prices of this rho, or of one that is little smaller."""
        if self._annealing is None or relaxation.rho > self._annealed_until:
            affordable = int((PRODUCTS / self._ball.features.shape[1]) ** 0.5)
            items = self._best_items(relaxation, max(min(ANNEALED_CANDIDATES, affordable), 2 * self._pool.k))
            cells = np.unique(self._pool.cell[items])
            self._annealing = BallAnnealing.of(self._pool, self._ball, cells, ITEM_SCHEDULES)
            self._annealed_until = RENEWED * relaxation.rho
        return self._annealing

    def _best_items(self, relaxation: Relaxation, size: int) -> IntArray:
        """Reduced items, the best at the relaxation's prices."""
        value = self._pool.scores - relaxation.price[self._pool.cell]
        return np.argsort(-value, kind="stable")[:size]

    def _restart(self, candidates: _Candidates, best: _Best, time: float) -> None:
        """Anneal, restart from the incumbent with some items exchanged, and again; `best` keeps what is found."""
        k = self._pool.k
        exchanged = min(k, max(FEWEST_EXCHANGED, round(EXCHANGED_PART * k)))
        random = np.random.default_rng(SEED)
        state = _Selected(candidates, best.closest)
        part = 1.0
        for _ in range(min(RESTARTS, max(FEWEST_RESTARTS, RESTARTS_TIMES_K // k))):
            while not state.ascend(part * time, best.rho) and part > LOWEST_PART:
                part *= COOLING
            best.consider(state)
            state = _Selected(candidates, best.chosen)
            part = min(1.0, part / COOLING**STEPS_BACK)
            state.exchange(part * time, exchanged, random)

    def _candidate_items(self, relaxation: Relaxation, largest: IntArray, known: IntArray) -> IntArray:
        """Reduced items (C,), rising: the best at the relaxation's prices, and those of both starts."""
        return np.union1d(np.union1d(self._best_items(relaxation, CANDIDATES), largest), known)

    def _candidates(self, items: IntArray) -> _Candidates:
        cells, ball = self._pool.cell[items], self._ball
        return _Candidates(
            scores=self._pool.scores[items],
            squares=ball.squares(cells),
            row=cache(lambda item: ball.products(cells, int(cells[item]))),
        )


def _first_time(relaxation: Relaxation, candidates: _Candidates) -> float:
    """The relaxation's t = |v| / |z|, where a set of distinct items has |v| of an item's own length at least."""
    longest = float(np.sqrt(candidates.squares.max())) or 1.0
    smallest = SMALLEST_MULTIPLIER * (float(np.ptp(candidates.scores)) or 1.0) / longest
    return max(relaxation.rho, longest) / max(relaxation.multiplier, smallest)
