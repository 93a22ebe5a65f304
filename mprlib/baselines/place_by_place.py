"""Re-ranking place by place: between the whole numbers around each group's target for every prefix.

At place i a group with the target share p should have between floor(i p) and ceil(i p) of the first i items. A group
below its least is served first, the best candidate of such groups; else the groups below their most are considered,
of which each rule prefers some, and the best candidate of those is taken. The rules differ in whom they prefer:

    det_greedy     all of them
    det_cons       those with the smallest ceil(i p)/p: the places by which they must have their next item
    det_relaxed    those with the smallest ceil(ceil(i p)/p), which leaves more to similarity

With up to three groups every prefix keeps its least; with more, groups may be due together (`det_const_sort` keeps it
always). The source knows no groups without candidates: here these are passed over, and where nobody else may be
taken, the most similar candidate is.

Source: Geyik et al. 2019, "Fairness-Aware Ranking in Search & Recommendation Systems with Application to LinkedIn
Talent Search", section 4.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.baselines.baseline import ORDER, ORDER_MEANING, Chosen, FixedBaseline
from mprlib.baselines.group_queues import ROUNDING, GroupQueues, group_queues, remark_on
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceByPlace(FixedBaseline):
    """A re-ranker that fills places from the first to the last."""

    order: Annotated[str, ORDER, ORDER_MEANING] = "score"

    @staticmethod
    @abstractmethod
    def urgency(most: FloatArray, shares: FloatArray) -> FloatArray:
        """How late each group may be served, the smallest first; most: ceil(i p), shares: p, of the same groups."""

    def choose(self, problem: Problem) -> Chosen:
        """The items in the order of their places.

        Raises:  InputError where labels are no levels.
        """
        queues = group_queues(problem)
        taken = np.zeros(queues.shares.size, dtype=np.intp)
        ranks: list[int] = []
        by_score = 0
        for place in range(1, problem.k + 1):
            heads = queues.heads(taken)
            is_due = self._groups_due(queues, place, taken)
            by_score += not is_due.any()
            group = int(np.argmin(np.where(is_due, heads, queues.n) if is_due.any() else heads))
            ranks.append(int(heads[group]))
            taken[group] += 1
        items = problem.best_first[ranks]
        return Chosen(items=items, is_ordered=self.order == "fair", message=remark_on(by_score, problem.k))

    def _groups_due(self, queues: GroupQueues, place: int, taken: IntArray) -> BoolArray:
        """The groups (G,) that the place may go to; none where those have no candidates."""
        targets = place * queues.shares
        least, most = np.floor(targets + ROUNDING), np.ceil(targets - ROUNDING)
        is_left = taken < queues.sizes
        is_below_least: BoolArray = is_left & (taken < least)
        if is_below_least.any():
            return is_below_least
        is_open: BoolArray = is_left & (taken < most)
        if is_open.any():
            urgency = self.urgency(most[is_open], queues.shares[is_open])
            is_open[is_open] = urgency <= urgency.min() * (1 + ROUNDING)
        return is_open
