"""DetConstSort: whom each prefix needs, then sorted by similarity as far as the needs allow.

The length i of a prefix is raised from 1. Whenever a group's least, floor(i p), rises, its next best candidate is
appended with the deadline i: it must be among the first i. It then moves up past less similar items, one place at a
time, while the item that it passes stays within its own deadline. Several groups of one i go in by similarity. So
every prefix has the least of every group, for any number of groups, while they have candidates.

Here lengths at which nothing rises are skipped, so that tiny shares take no time, and the ranking is done at k items.
The source knows no groups without candidates: here these are passed over, and when all are, the most similar of the
rest follow.

Source: Geyik et al. 2019, section 4.

Worked example: half of the reference is of either group and all of the first group are more similar. At i = 2 both
groups rise, with the deadline 2, at i = 4 again with the deadline 4. The second item of the first group passes no
one, since whoever stands second must stay there.

>>> import mprlib
>>> groups = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6, 0.5], labels=groups, reference=[[1, 0], [0, 1]], k=4,
...                          reference_size=100, attributes={"sex": [0, 1]})
>>> mprlib.select(problem, "det_const_sort", order="fair").items.tolist()
[0, 3, 1, 4]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import ORDER, ORDER_MEANING, Chosen, FixedBaseline
from mprlib.baselines.group_queues import ROUNDING, GroupQueues, group_queues, remark_on
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class DetConstSort(FixedBaseline):
    """LinkedIn's re-ranking that meets every group's least count in every prefix, and otherwise goes by similarity."""

    name: ClassVar[str] = "det_const_sort"

    order: Annotated[str, ORDER, ORDER_MEANING] = "score"

    def choose(self, problem: Problem) -> Chosen:
        """The items in the order of their places.

        Raises:  InputError where labels are no levels.
        """
        ranks = _sorted_within_deadlines(group_queues(problem), problem.k)
        missing = problem.k - len(ranks)
        others = np.setdiff1d(np.arange(problem.n), ranks)[:missing]
        items = problem.best_first[np.concatenate([np.array(ranks, dtype=np.intp), others])]
        return Chosen(items=items, is_ordered=self.order == "fair", message=remark_on(missing, problem.k))


def _sorted_within_deadlines(queues: GroupQueues, k: int) -> list[int]:
    """Ranks of up to k items in order; fewer where the groups that have a share ran out of candidates."""
    taken = np.zeros(queues.shares.size, dtype=np.intp)
    ranks: list[int] = []
    deadlines: list[float] = []
    while len(ranks) < k:
        rises = _next_rises(queues, taken)
        deadline = float(rises.min())
        if not np.isfinite(deadline):
            break
        heads, rising = queues.heads(taken), np.flatnonzero(rises == deadline)
        for group in rising[np.argsort(heads[rising])][: k - len(ranks)]:
            _insert(ranks, deadlines, int(heads[group]), deadline)
            taken[group] += 1
    return ranks


def _next_rises(queues: GroupQueues, taken: IntArray) -> FloatArray:
    """Length (G,) of the prefix at which each group's least exceeds what it has; infinite where it cannot be served."""
    can_be_served = (taken < queues.sizes) & (queues.shares > 0)
    with np.errstate(divide="ignore", over="ignore"):
        lengths = np.ceil((taken + 1 - ROUNDING) / queues.shares)
    return np.where(can_be_served, lengths, np.inf)


def _insert(ranks: list[int], deadlines: list[float], rank: int, deadline: float) -> None:
    """Append an item and move it up past less similar ones whose deadlines allow one place more."""
    at = len(ranks)
    while at > 0 and ranks[at - 1] > rank and deadlines[at - 1] >= at + 1:
        at -= 1
    ranks.insert(at, rank)
    deadlines.insert(at, deadline)
