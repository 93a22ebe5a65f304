"""The best whole counts of one rho, by local search between cells with separation.

Starts are the relaxation's rounding, the incumbent of a smaller rho, and, where cuts see too little, sets
near the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.ball_search import BallSearch
from mprlib.optimisers.local_search import BORDER, LocalSearch
from mprlib.optimisers.reference_starts import ReferenceStarts
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.rounding import rounded
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent

# Rounds of constraint generation per local search; more from a start near the reference whose MPR is at most
# PROMISING times rho, where the few functions that still exceed rho are likely to be the last.
CORRECTIONS, PROMISING_CORRECTIONS = 5, 12
PROMISING = 1.1
# Moves inside rho that the measuring code is asked about in one ascent, refused ones included.
LARGEST_CHECKED_MOVES = 120


@dataclass(frozen=True, slots=True)
class Optimum:
    """Counts (G,) after a local search, and their MPR by the measuring code."""

    counts: IntArray
    value: float


class CellSearch:
    """Local search between the cells of one problem and class."""

    def __init__(self, separator: Separator, top_counts: IntArray, top_value: float) -> None:
        self._separator = separator
        self._pool, self._region = separator.pool, separator.region
        ball = separator.region.ball
        self._ball = None if ball is None or not ball.is_complete else BallSearch(separator.pool, ball)
        self._last: tuple[Relaxation, LocalSearch] | None = None
        self._top_counts, self._top_value = top_counts, top_value

    def best(self, relaxation: Relaxation, previous: IntArray | None) -> Incumbent:
        """The incumbent, from a relaxation's optimum and the counts of a smaller rho."""
        start = rounded(relaxation.counts, self._pool)
        if self._ball is not None:
            return self._best_in_ball(self._ball, relaxation, [start] if previous is None else [start, previous])
        best: Optimum | None = None
        most, closest, closest_value = -np.inf, start, np.inf
        for found in self._local_optima(start, relaxation, previous):
            if found.value <= relaxation.rho:
                similarity = self._pool.similarity(found.counts)
                if best is None or similarity > most:
                    best, most = found, similarity
            elif found.value < closest_value:
                closest, closest_value = found.counts, found.value
        return Incumbent(counts=closest if best is None else best.counts, is_feasible=best is not None)

    def improved(self, counts: IntArray, relaxation: Relaxation) -> IntArray:
        """Counts that meet rho, after local search from some that do; over cuts these counts themselves.

        What local search finds over cuts depends on those it has added before: it would end elsewhere later on.
        """
        if self._ball is None:
            return counts
        [optimum] = self._ball.optima(relaxation, [counts])
        found = self._measured(self._ball, relaxation, optimum)
        is_better = self._pool.similarity(found.counts) > self._pool.similarity(counts)
        return found.counts if found.value <= relaxation.rho and is_better else counts

    def _local_optima(self, start: IntArray, relaxation: Relaxation, previous: IntArray | None) -> Iterator[Optimum]:
        """Optima over cuts from one start after another; those near the reference until one meets rho."""
        found = self._optimum(start, relaxation)
        yield found
        if previous is not None:
            yield self._optimum(previous, relaxation)
        if found.value <= relaxation.rho:
            return
        near_reference = self._near_reference
        for near in () if near_reference is None else near_reference.starts(start, relaxation):
            is_promising = self._separator.measured(near) <= PROMISING * relaxation.rho
            found = self._optimum(near, relaxation, PROMISING_CORRECTIONS if is_promising else CORRECTIONS)
            yield found
            if found.value <= relaxation.rho:
                return

    @cached_property
    def _near_reference(self) -> ReferenceStarts | None:
        return ReferenceStarts.of(self._separator, self._top_counts, self._top_value)

    def _best_in_ball(self, ball: BallSearch, relaxation: Relaxation, starts: list[IntArray]) -> Incumbent:
        """The most similar optimum that meets rho of those from some starts; the closest to rho where none does."""
        optima = sorted(ball.optima(relaxation, starts), key=self._pool.similarity, reverse=True)
        found = []
        for counts in optima:
            found.append(self._measured(ball, relaxation, counts))
            if found[-1].value <= relaxation.rho:
                # The others are no more similar, unless this one was moved away from rho, which is rare.
                return Incumbent(counts=found[-1].counts, is_feasible=True)
        return Incumbent(counts=min(found, key=lambda one: one.value).counts, is_feasible=False)

    def _measured(self, ball: BallSearch, relaxation: Relaxation, counts: IntArray) -> Optimum:
        """A ball's optimum, whose value is MPR but for rounding."""
        found, limit = Optimum(counts, self._separator.measured(counts)), relaxation.rho + BORDER * self._region.unit
        if found.value <= relaxation.rho or self._region.value(counts) > limit:
            return found
        # The region values the counts at rho, the measuring code above it by rounding: keep away from rho.
        [counts] = ball.optima(relaxation, [counts], slack=-BORDER)
        again = Optimum(counts, self._separator.measured(counts))
        return again if again.value < found.value else found

    def _search_of(self, relaxation: Relaxation) -> LocalSearch:
        """The local search of a relaxation, which all its starts share."""
        if self._last is None or self._last[0] is not relaxation:
            self._last = relaxation, LocalSearch.of(relaxation, self._pool, self._region)
        return self._last[1]

    def _optimum(self, counts: IntArray, relaxation: Relaxation, corrections: int = CORRECTIONS) -> Optimum:
        """Local search over cuts from counts; each optimum that the measuring code refuses adds a cut, up to
        `corrections`."""
        search = self._search_of(relaxation)
        value = self._separator.separate(counts).value
        if value <= relaxation.rho:
            return self._checked_ascent(Optimum(counts, value), relaxation, search)
        best = Optimum(counts, np.inf)
        for _ in range(corrections):
            counts = search.optimum(counts)
            separated = self._separator.separate(counts)
            if separated.value < best.value:
                best = Optimum(counts, separated.value)
            if separated.value <= relaxation.rho:
                break
            if not separated.is_cut_added:
                if search.rho < relaxation.rho or self._region.value(counts) > search.rho:
                    break
                # The region values the counts at rho, the measuring code above it by rounding: keep away from rho.
                search = LocalSearch.of(relaxation, self._pool, self._region, slack=-BORDER)
        return best

    def _checked_ascent(self, best: Optimum, relaxation: Relaxation, search: LocalSearch) -> Optimum:
        """From counts inside rho, moves that the measuring code accepts one by one: cuts alone would lead outside."""
        for _ in range(LARGEST_CHECKED_MOVES):
            after = search.next_inside(best.counts)
            if after is None:
                break
            separated = self._separator.separate(after)
            if separated.value <= relaxation.rho:
                best = Optimum(after, separated.value)
            elif not separated.is_cut_added:
                break
        return best
