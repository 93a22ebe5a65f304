"""From a relaxation to a row: a set that the measuring code accepts, its bounds and its status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mprlib.cells import selection_weights
from mprlib.errors import InputError
from mprlib.function_classes.base import DECIMALS, LAST_BIT, Oracle, cut, uncut_limit, unit_of
from mprlib.method import Proof, selected
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cutting_plane import centred
from mprlib.optimisers.enumeration import enumerate_counts
from mprlib.optimisers.item_swaps import swapped
from mprlib.optimisers.nearness import Nearness
from mprlib.optimisers.region import MANY_CELLS, BallRegion, CutRegion, Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.rounding import BORDER, Climb, rounded
from mprlib.problem import FloatArray, IntArray, Problem
from mprlib.selection import Selection, Status

# How often the measuring code may name a missing function before a repair gives up; more often for a row
# without a set, from a start near the reference with at most this multiple of rho.
CORRECTIONS, LARGEST_CORRECTIONS = 5, 12
HOPEFUL = 1.1
# Swaps inside that the measuring code is asked about, refused ones included.
LARGEST_CHECKED_SWAPS = 120
# A mean this close to the bound, in parts of the range of scores, is the best: the bound's own rounding.
OPTIMALITY = 1e-10
# A value that exceeds the region's own by less than this part of the class's unit is the same number, summed in
# another order.
SAME_VALUE = 1e-12
# Where climbing found nothing: sets that lose up to this part of the bound are searched, with this
# many partial sums carried on.
SEARCHED_LOSS = 0.02
SEARCH_LIMIT = 300
# Below this part of top-k's MPR whole sets are so few that the search finds none either.
SEARCHED_FRACTION = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A rho as it was asked for, and the largest value that the measuring code reports as no more than it.

    Optimisers and their proofs work at the limit: a proof at rho itself would say nothing of sets that
    exceed rho by less than the measuring code tells apart.
    """

    rho: float
    limit: float


def asked_for(values: Sequence[Any], method: str, oracle: Oracle) -> list[Asked]:
    """What was asked for, a value each.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    unit = unit_of(oracle)
    return [Asked(rho=rho, limit=uncut_limit(rho, unit)) for rho in checked_rhos(values, method)]


def distinct_limits(asked: Sequence[Asked]) -> list[float]:
    """Each limit once, falling."""
    return sorted({one.limit for one in asked}, reverse=True)


def checked_rhos(values: Sequence[Any], method: str) -> list[float]:
    """The values as numbers, to the last bit of a twelfth decimal.

    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    rhos = []
    for value in values:
        try:
            rho = float(value)
        except (TypeError, ValueError):
            rho = float("nan")
        if not (np.isfinite(rho) and rho >= 0):
            raise InputError(f"{method}'s rho is {value!r}: a finite number of at least 0 is expected")
        # 0.7 - 0.42 is 0.28 less a last bit; measured values are cut to as many decimals.
        nearest = round(rho, DECIMALS)
        rhos.append(nearest if abs(rho - nearest) <= LAST_BIT else rho)
    return rhos


class Certifier:
    """Rows of one problem and class, from small rho to large, each a start for the next.

    The region learns a function whenever the measuring code refuses a set.
    """

    def __init__(self, problem: Problem, oracle: Oracle, pool: CellPool, region: Region, method: str) -> None:
        self.problem = problem
        self.oracle = oracle
        self.pool = pool
        self.region = region
        self.method = method
        top = pool.top_counts(problem)
        self._top, self.top_value = top, self.measured(top)
        self._last: IntArray | None = None
        is_cut = isinstance(region, CutRegion)
        self._nearness = Nearness.of(problem, oracle, pool, self.top_value) if is_cut else None
        self._same_value = SAME_VALUE * unit_of(oracle)
        # Whether the last set shown to the measuring code taught the region a function.
        self.has_learnt = False

    def weights(self, counts: IntArray) -> FloatArray:
        """Pool weights (n,) of whole counts."""
        return selection_weights(self.problem, self.pool.chosen(counts))

    def measured(self, counts: IntArray) -> float:
        """MPR of whole counts by the measuring code."""
        return self.oracle.worst_case(self.weights(counts)).value

    def best_counts(self, relaxation: Relaxation) -> tuple[IntArray, bool]:
        """The best counts found, and whether they meet rho; else the closest to it."""
        if self.top_value <= relaxation.rho:
            self._last = self._top
            return self._top, True
        if isinstance(self.region, BallRegion) and self.pool.cell_count > MANY_CELLS:
            return self._swapped(relaxation)
        start = rounded(relaxation.counts, self.pool)
        found = _Found(self.pool, relaxation.rho, start)
        for climbed, value in self._climbs(start, relaxation):
            found.consider(climbed, value)
        is_searched = not relaxation.is_infeasible and relaxation.rho >= SEARCHED_FRACTION * self.top_value
        if found.best is None and is_searched:
            searched = self._searched(relaxation)
            if searched is not None:
                found.consider(searched, self.measured(searched))
        if found.best is None:
            return found.closest, False
        self._last = found.best
        return found.best, True

    def _climbs(self, start: IntArray, relaxation: Relaxation) -> Iterator[tuple[IntArray, float]]:
        """Counts after climbing, and their measured values.

        From the relaxation's rounding and the last row's set; where the first leads nowhere, from sets
        near the reference until one does.
        """
        counts, value = self.repaired(start, relaxation)
        yield counts, value
        if self._last is not None:
            yield self.repaired(self._last, relaxation)
        if self._nearness is None or value <= relaxation.rho:
            return
        for near in self._nearness.starts(start, relaxation):
            is_hopeful = self.measured(near) <= HOPEFUL * relaxation.rho
            counts, value = self.repaired(near, relaxation, LARGEST_CORRECTIONS if is_hopeful else CORRECTIONS)
            yield counts, value
            if value <= relaxation.rho:
                return

    def _swapped(self, relaxation: Relaxation) -> tuple[IntArray, bool]:
        counts = swapped(relaxation, self.pool, self.region, self._last)
        is_inside = self.measured(counts) <= relaxation.rho
        if is_inside:
            self._last = counts
        return counts, is_inside

    def repaired(
        self, counts: IntArray, relaxation: Relaxation, corrections: int = CORRECTIONS
    ) -> tuple[IntArray, float]:
        """Counts after climbing, and their measured value."""
        landscape = Climb.of(relaxation, self.pool, self.region)
        if isinstance(self.region, CutRegion):
            value = self.taught(counts)
            if value <= relaxation.rho:
                return self._improved(counts, value, relaxation, landscape)
        best, best_value = counts, np.inf
        for _ in range(corrections):
            counts = landscape.top(counts)
            value = self.taught(counts)
            if value < best_value:
                best, best_value = counts, value
            if value <= relaxation.rho:
                break
            if not self.has_learnt:
                if landscape.rho < relaxation.rho or self.region.value(counts) > landscape.rho:
                    break
                # Inside by the region, refused by a last digit: stay clear of the border.
                landscape = Climb.of(relaxation, self.pool, self.region, slack=-BORDER)
        return best, best_value

    def _improved(
        self, counts: IntArray, value: float, relaxation: Relaxation, landscape: Climb
    ) -> tuple[IntArray, float]:
        """From counts inside, swaps that the measuring code accepts one by one: cuts see too little to climb on."""
        for _ in range(LARGEST_CHECKED_SWAPS):
            after = landscape.next_inside(counts)
            if after is None:
                break
            value_after = self.taught(after)
            if value_after <= relaxation.rho:
                counts, value = after, value_after
            elif not self.has_learnt:
                break
        return counts, value

    def taught(self, counts: IntArray) -> float:
        """Measured value of counts; where the region saw less, it learns the function that saw more."""
        worst = self.oracle.worst_case(self.weights(counts))
        self.has_learnt = False
        seen = self.region.value(counts)
        if isinstance(self.region, CutRegion) and worst.value > seen * (1 + SAME_VALUE) + self._same_value:
            self.region.add(centred(worst.function, self.oracle.cells.reference_shares, self.pool.k))
            self.has_learnt = True
        return worst.value

    def _searched(self, relaxation: Relaxation) -> IntArray | None:
        """The first enumerated counts inside, after climbing where that leads to better ones."""
        if not isinstance(self.region, BallRegion):
            return None
        allowance = SEARCHED_LOSS * abs(relaxation.bound)
        found = enumerate_counts(relaxation, self.pool, self.region, allowance=allowance, limit=SEARCH_LIMIT)
        for counts in found.candidates:
            if self.measured(counts) <= relaxation.rho:
                climbed, value = self.repaired(counts, relaxation)
                is_better = self.pool.similarity(climbed) > self.pool.similarity(counts)
                return climbed if value <= relaxation.rho and is_better else counts
        return None

    def row(
        self,
        asked: Asked,
        relaxation: Relaxation,
        counts: IntArray,
        bound: float | None,
        *,
        is_infeasible: bool = False,
        is_stopped: bool = False,
        message: str | None = None,
    ) -> Selection:
        """The Selection of counts.

        bound: proven total similarity, at most the relaxation's. is_infeasible: no whole set meets rho,
        whatever the relaxation says. is_stopped: by a clock.
        """
        scale, k = self.pool.scale, self.problem.k
        rho_min = relaxation.rho_min
        proof = Proof(
            similarity_bound=None if bound is None else scale.mean(bound, k),
            relaxation_bound=None if relaxation.bound is None else scale.mean(relaxation.bound, k),
            rho_min=None if rho_min is None else cut(rho_min, unit_of(self.oracle)),
            is_infeasible=is_infeasible or relaxation.is_infeasible,
            is_stopped=is_stopped,
            tolerance=scale.tolerance(OPTIMALITY),
        )
        row = selected(
            self.problem,
            self.oracle,
            self.pool.chosen(counts),
            method=self.method,
            value=asked.rho,
            rho=asked.rho,
            proof=proof,
        )
        return replace(row, message=message_of(row, relaxation) if message is None else message)


class _Found:
    """The best counts inside rho among those considered, and the closest outside."""

    def __init__(self, pool: CellPool, rho: float, start: IntArray) -> None:
        self._pool, self._rho = pool, rho
        self.best: IntArray | None = None
        self.closest, self._closest_value = start, np.inf

    def consider(self, counts: IntArray, value: float) -> None:
        """Keep counts of that measured value where they are better than what is kept."""
        if value <= self._rho:
            if self.best is None or self._pool.similarity(counts) > self._pool.similarity(self.best):
                self.best = counts
        elif value < self._closest_value:
            self.closest, self._closest_value = counts, value


def message_of(row: Selection, relaxation: Relaxation) -> str:
    """What a reader of the row should know; empty when all is as usual."""
    status, parts = row.status, []
    if not relaxation.is_converged:
        parts.append("the relaxation was not solved to its tolerance: its bound holds, but a tighter one exists")
    if status == Status.INFEASIBLE and relaxation.is_infeasible:
        parts.append(f"no selection has MPR <= {row.rho:g}: at least {row.rho_min:g} is needed")
    if status == Status.NOT_FOUND:
        parts.append("no set within rho was found, and none was ruled out")
    return "; ".join(parts)
