"""Local search over sets of items for a ball whose items nearly all differ, with every swap's exact value.

For embeddings the relaxation's optimum has hundreds of fractional items, so that its rounding alone is a poor
start. Ascents use the relaxation's own merit, similarity - |v|^2 / (2 t), which is smooth where a penalty for
violating rho is not. t falls from the relaxation's value until the set meets rho (annealing); then
swaps inside rho improve similarity. For a restart some items of the incumbent are exchanged at random and t
starts a little above its last value (iterated local search).

With K the inner products of features, swapping g for h changes |v|^2 by

    2 (M_h - M_g) . v + |M_h|^2 + |M_g|^2 - 2 K_gh.

M v is kept up to date, which costs one row of K per swap. The loops are compiled: `item_swap_kernel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.local_search import BORDER, SMALLEST_GAIN
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent
from mprlib.optimisers.shortlist import Shortlist

if TYPE_CHECKING:
    from mprlib.optimisers.item_swap_kernel import Rule, State
    from mprlib.optimisers.item_swap_kernel import Shortlist as Listed

# Items that may be selected: those with the highest scores net of the relaxation's prices.
CANDIDATES = 2_000
# Smallest multiplier of rho that t is computed from, as a part of the range of scores over the longest feature: a
# relaxation that ended without multipliers has 0.
SMALLEST_MULTIPLIER = 0.01
# Cooling: t falls by this factor per step, at most to this part of the relaxation's t.
COOLING = 0.9
LOWEST_PART = 0.02
# A restart begins this many steps above the t at which the last one ended.
STEPS_BACK = 2
# Swaps that all restarts of a rho may look at, if each looked at every one once: about 70 ms. Restarts are this many
# swaps over k times the candidates, within these limits.
SWAPS_LOOKED_AT = 24_000_000
LARGEST_RESTARTS = 2_400
FEWEST_RESTARTS = 24
# Part of the items exchanged before a restart, but FEWEST_EXCHANGED at least: enough to leave the local optimum,
# few enough to keep most of the incumbent. Each is exchanged for a random one of the EXCHANGE_CHOICES best others;
# every second restart goes further (see `item_swap_kernel.Rule`).
EXCHANGED_PART = 0.1
FEWEST_EXCHANGED = 2
EXCHANGE_CHOICES = 10
# Swaps of one ascent per item: an ascent needs each item a few times; more means that rounding makes it cycle.
LARGEST_SWAPS_PER_ITEM = 8


class ItemSwaps:
    """Iterated local search over the items of one problem, in its ball."""

    def __init__(self, separator: Separator, ball: BallRegion) -> None:
        self._separator, self._pool, self._ball = separator, separator.pool, ball
        self._shortlist = Shortlist(self._pool, ball)

    def best(self, relaxation: Relaxation, previous: IntArray | None) -> Incumbent:
        """The incumbent, from a relaxation's optimum and the counts of a smaller rho."""
        counts = self.counts(relaxation, previous)
        return Incumbent(counts=counts, is_feasible=self._separator.measured(counts) <= relaxation.rho)

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
        return np.bincount(pool.cell[self._searched(relaxation, items, largest, known)], minlength=pool.cell_count)

    def _searched(self, relaxation: Relaxation, items: IntArray, start: IntArray, known: IntArray) -> IntArray:
        """Reduced items (k,) of the best set found among some, from a start; known: those of a set, or none."""
        from mprlib.optimisers import item_swap_kernel as kernel

        listed, shortlist = self._shortlist.renew(items), self._shortlist
        best = shortlist.places(known if known.size else start)
        most = float(listed.scores[best].sum()) if known.size else -np.inf
        # The measuring code cuts the last digits of a value; a set at rho in the ball may exceed it by those.
        rho = relaxation.rho - BORDER * self._ball.unit
        state = _state(shortlist.places(start), items.size)
        kernel.search(listed, _rule(self._pool.k, items.size), rho, _first_time(relaxation, listed), state, best, most)
        found: IntArray = shortlist.items[best]
        return found

    def _best_items(self, relaxation: Relaxation, size: int) -> IntArray:
        """Reduced items, the best at the relaxation's prices."""
        value = self._pool.scores - relaxation.price[self._pool.cell]
        return np.argsort(-value, kind="stable")[:size]

    def _candidate_items(self, relaxation: Relaxation, largest: IntArray, known: IntArray) -> IntArray:
        """Reduced items (C,), rising: the best at the relaxation's prices, and those of both starts."""
        return np.union1d(np.union1d(self._best_items(relaxation, CANDIDATES), largest), known)


def _rule(k: int, candidates: int) -> Rule:
    from mprlib.optimisers import item_swap_kernel as kernel

    return kernel.Rule(
        restarts=min(LARGEST_RESTARTS, max(FEWEST_RESTARTS, SWAPS_LOOKED_AT // (k * candidates))),
        swaps=LARGEST_SWAPS_PER_ITEM * k,
        exchanged=min(k, max(FEWEST_EXCHANGED, round(EXCHANGED_PART * k))),
        choices=EXCHANGE_CHOICES,
        cooling=COOLING,
        lowest=LOWEST_PART,
        back=COOLING**-STEPS_BACK,
        smallest_gain=SMALLEST_GAIN,
    )


def _state(chosen: IntArray, size: int) -> State:
    from mprlib.optimisers import item_swap_kernel as kernel

    return kernel.State(chosen, np.zeros(size, dtype=np.bool_), np.zeros(size), np.zeros(1))


def _first_time(relaxation: Relaxation, listed: Listed) -> float:
    """The relaxation's t = |v| / |z|, where a set of distinct items has |v| of an item's own length at least."""
    longest = float(np.sqrt(max(listed.squares.max(), 0.0))) or 1.0
    smallest = SMALLEST_MULTIPLIER * (float(np.ptp(listed.scores)) or 1.0) / longest
    return max(relaxation.rho, longest) / max(relaxation.multiplier, smallest)
