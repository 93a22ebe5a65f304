"""Incumbents: the best whole counts found for each rho, from the smallest rho to the largest.

The incumbent of a smaller rho meets every larger one, so it is one more start there. Sets are searched cell
by cell, or item by item for a ball whose items nearly all differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mprlib.arrays import IntArray
from mprlib.optimisers.cell_search import CellSearch
from mprlib.optimisers.item_swaps import ItemSwaps
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent, SetSearch


@dataclass(kw_only=True, eq=False, slots=True)
class Incumbents:
    """Incumbents of one problem and class. top_counts (G,) are those of top-k, top_value their MPR."""

    separator: Separator
    search: SetSearch
    top_counts: IntArray
    top_value: float
    previous: IntArray | None = None

    @classmethod
    def of(cls, separator: Separator) -> Incumbents:
        """The search that suits the problem's cells."""
        pool = separator.pool
        top_counts = pool.top_counts(separator.problem)
        top_value = separator.measured(top_counts)
        ball = separator.region.ball
        search: SetSearch
        if ball is not None and pool.has_many_cells:
            search = ItemSwaps(separator, ball)
        else:
            search = CellSearch(separator, top_counts, top_value)
        return cls(separator=separator, search=search, top_counts=top_counts, top_value=top_value)

    def best(self, relaxation: Relaxation) -> Incumbent:
        """The best counts found for a rho that is no smaller than the last one."""
        calls = self.separator.calls
        if self.top_value <= relaxation.rho:
            found = Incumbent(counts=self.top_counts, is_feasible=True)
        else:
            found = self.search.best(relaxation, self.previous)
        if found.is_feasible:
            self.previous = found.counts
        return replace(found, oracle_calls=self.separator.calls - calls)
