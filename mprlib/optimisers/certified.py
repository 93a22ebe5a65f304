"""From a relaxation to a row: a set that the measuring code accepts, its bounds and its status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mprlib.cells import selection_weights
from mprlib.errors import InputError
from mprlib.function_classes.base import DECIMALS, LAST_BIT, Oracle
from mprlib.method import selected
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
# A similarity within this part of the bound is the best: the bound's own rounding.
OPTIMALITY = 1e-10
# A value that exceeds the region's own by less than this is the same number, summed in another order.
SAME_VALUE = 1e-12
# Where climbing found nothing: sets that lose up to this part of the bound are searched, with this
# many partial sums carried on.
SEARCHED_LOSS = 0.02
SEARCH_LIMIT = 300
# Below this part of top-k's MPR whole sets are so few that the search finds none either.
SEARCHED_FRACTION = 0.1


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
        best: IntArray | None = None
        closest, closest_value = start, np.inf
        for climbed, value in self._climbs(start, relaxation):
            if value <= relaxation.rho:
                if best is None or self.pool.similarity(climbed) > self.pool.similarity(best):
                    best = climbed
            elif value < closest_value:
                closest, closest_value = climbed, value
        if best is None and not relaxation.is_infeasible and relaxation.rho >= SEARCHED_FRACTION * self.top_value:
            best = self._searched(relaxation)
        if best is not None:
            self._last = best
        return (closest, False) if best is None else (best, True)

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
        counts = swapped(relaxation, self.pool, self.region.features, self._last)
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
                return self._improved(counts, value, landscape)
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

    def _improved(self, counts: IntArray, value: float, landscape: Climb) -> tuple[IntArray, float]:
        """From counts inside, swaps that the measuring code accepts one by one: cuts see too little to climb on."""
        for _ in range(LARGEST_CHECKED_SWAPS):
            after = landscape.next_inside(counts)
            if after is None:
                break
            value_after = self.taught(after)
            if value_after <= landscape.rho - BORDER:
                counts, value = after, value_after
            elif not self.has_learnt:
                break
        return counts, value

    def taught(self, counts: IntArray) -> float:
        """Measured value of counts; where the region saw less, it learns the function that saw more."""
        worst = self.oracle.worst_case(self.weights(counts))
        self.has_learnt = False
        seen = self.region.value(counts)
        if isinstance(self.region, CutRegion) and worst.value > seen * (1 + SAME_VALUE) + SAME_VALUE:
            self.region.add(centred(worst.function, self.oracle.cells.reference_shares, self.pool.k))
            self.has_learnt = True
        return worst.value

    def _searched(self, relaxation: Relaxation) -> IntArray | None:
        if not isinstance(self.region, BallRegion):
            return None
        allowance = SEARCHED_LOSS * abs(relaxation.bound)
        found = enumerate_counts(relaxation, self.pool, self.region, allowance=allowance, limit=SEARCH_LIMIT)
        for counts in found.candidates:
            if self.measured(counts) <= relaxation.rho:
                return self.repaired(counts, relaxation)[0]
        return None

    def row(
        self, relaxation: Relaxation, counts: IntArray, is_inside: bool, bound: float | None, **fields: Any
    ) -> Selection:
        """The Selection of counts. bound: proven total similarity, at most the relaxation's."""
        k = self.problem.k
        # The order of the sums differs between a bound and a mean of scores: never below what is attained.
        row = selected(
            self.problem,
            self.oracle,
            self.pool.chosen(counts),
            method=self.method,
            value=relaxation.rho,
            rho=relaxation.rho,
            rho_min=relaxation.rho_min,
            relaxation_bound=None if relaxation.bound is None else relaxation.bound / k,
            similarity_bound=None if bound is None else bound / k,
            **fields,
        )
        if not is_inside:
            status = Status.INFEASIBLE if relaxation.is_infeasible else Status.NOT_FOUND
        elif bound is not None and row.similarity >= (bound - OPTIMALITY * max(abs(bound), 1.0)) / k:
            status = Status.OPTIMAL
        else:
            status = Status.FEASIBLE
        row = replace(row, status=row.status if "status" in fields else status)
        if status == Status.OPTIMAL:
            row = replace(row, similarity_bound=row.similarity)
            if row.relaxation_bound < row.similarity:
                row = replace(row, relaxation_bound=row.similarity)
        return row if "message" in fields else replace(row, message=message_of(relaxation, row.status))


def message_of(relaxation: Relaxation, status: Status) -> str:
    """What a reader of the row should know; empty when all is as usual."""
    parts = []
    if not relaxation.is_converged:
        parts.append("the relaxation was not solved to its tolerance: its bound holds, but a tighter one exists")
    if status == Status.INFEASIBLE and relaxation.is_infeasible:
        parts.append(f"no selection has MPR <= {relaxation.rho:g}: at least {relaxation.rho_min:g} is needed")
    if status == Status.NOT_FOUND:
        parts.append("no set within rho was found, and none was ruled out")
    return "; ".join(parts)
