"""Separation: the measuring code values whole counts, and a function that the region misses becomes a cut."""

from __future__ import annotations

from dataclasses import dataclass

from mprlib.arrays import IntArray
from mprlib.function_classes.base import Oracle, WorstCase
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import Region
from mprlib.problem import Problem

# Counts whose MPR is kept: those that one rho ends with are where the next one starts.
MOST_KNOWN = 8


@dataclass(frozen=True, slots=True)
class Separated:
    """The measured MPR of counts, and whether the region has gained a cut by it."""

    value: float
    is_cut_added: bool


class Separator:
    """The measuring code for one problem, class and region; `calls` counts its uses."""

    def __init__(self, problem: Problem, oracle: Oracle, pool: CellPool, region: Region) -> None:
        self.problem = problem
        self.oracle = oracle
        self.pool = pool
        self.region = region
        self.calls = 0
        self._known: dict[bytes, WorstCase] = {}

    def worst_case(self, counts: IntArray) -> WorstCase:
        """The function that sees the largest gap of whole counts."""
        self.calls += 1
        return self.known(counts)

    def known(self, counts: IntArray) -> WorstCase:
        """The same, which is not asked for anew where the last counts that it was asked for come again."""
        key = counts.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self.oracle.worst_case_in(self.problem, counts, lambda: self.pool.chosen(counts))
            if len(self._known) == MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = found
        return found

    def measured(self, counts: IntArray) -> float:
        """MPR of whole counts."""
        return self.worst_case(counts).value

    def separate(self, counts: IntArray) -> Separated:
        """MPR of whole counts, with the function that attains it added to the region where that misses it."""
        worst = self.worst_case(counts)
        return Separated(worst.value, self.region.separate(counts, worst))
