"""Candidates of each group, best first, as re-rankers take them: the best of some group that is left, again and again.

The groups are the intersections of all attributes' levels, and their target shares are those of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import cells_of
from mprlib.naming import cell_levels
from mprlib.problem import Problem

# A target this close to a whole number is that number, spoilt by rounding: 100 * 0.29 is 29.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GroupQueues:
    """The pool by groups; an item is its rank in the pool's order, so that the smaller is the better.

    Shapes:  shares (G,), targets; sizes (G,), candidates; starts (G,), where a group begins in ranks; ranks (n,).
    """

    shares: FloatArray
    sizes: IntArray
    starts: IntArray
    ranks: IntArray

    @property
    def n(self) -> int:
        """Candidates of all groups."""
        return self.ranks.size

    def heads(self, taken: IntArray) -> IntArray:
        """Rank (G,) of each group's best candidate after those that are taken (G,); n where none is left."""
        next_ones = np.minimum(self.starts + taken, self.n - 1)
        return np.where(taken < self.sizes, self.ranks[next_ones], self.n)


def group_queues(problem: Problem) -> GroupQueues:
    """The queues of a problem.

    Raises:  InputError where an attribute has no levels.
    """
    cell_levels(problem)
    cells = cells_of(problem)
    return GroupQueues(
        shares=cells.reference_shares,
        sizes=cells.pool_counts,
        starts=np.cumsum(cells.pool_counts) - cells.pool_counts,
        ranks=np.argsort(cells.pool_cell[problem.best_first], kind="stable"),
    )


def remark_on(by_score: int, k: int) -> str:
    """What a reader should know where groups ran out of candidates; empty where none did."""
    if not by_score:
        return ""
    return f"{by_score} of {k} items by similarity alone: the groups that were due had no candidates left"
