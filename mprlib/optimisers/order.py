"""The order of a selection in which every prefix stays near the reference, with a certificate.

Readers see the first places most, so a set that represents well can still show them something else. Of all orders
whose prefixes of `first` or more items are within their rho (`mprlib.optimisers.order_course` has the limits) the one
with the largest discounted similarity, sum of s_i / log2(i + 1) over the places, is searched: DCG of the scores.

Within a cell better items come first (exchanging two items of one cell changes no prefix's shares), so an order is a
sequence of cells, and a prefix is known by its counts. `mprlib.optimisers.order_beam_kernel` searches counts place by
place; its bound is proven, so an order is `optimal` where it attains the bound, and limits are `infeasible` where
nothing was left out of the search. Named groups have limits on their counts (`mprlib.optimisers.order_groups`); other
classes that are no unit balls are represented by functions that the measuring code names (separation). Every order
that is handed out is measured prefix by prefix.

Worked example: three women, all more similar than three men. As a set they are even; by score the first three are
women. At rho = 0.1 a prefix of three may be 0.1 sqrt(6/3) = 0.14 off, and three people are 0.17 off at best; at 0.2 it
is 0.28, and four may be 0.24 off, so that the first four have two men.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=3 * [women] + 3 * [men],
...                          reference=[women, men], k=6, attributes={"gender": [0, 1]})
>>> found = mprlib.fair_order(problem, range(6), 0.2, "groups", first=3)
>>> found.items.tolist(), found.status.value
([0, 1, 3, 4, 2, 5], 'optimal')
>>> mprlib.fair_order(problem, range(6), 0.1, "groups", first=3).status.value
'infeasible'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray, IntArray, mean_of
from mprlib.attention import FIRST, LOG2
from mprlib.function_classes.base import Oracle
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.certificate import OPTIMALITY
from mprlib.optimisers.order_course import OrderCourse, prefix_limits
from mprlib.optimisers.request import requested
from mprlib.problem import Problem
from mprlib.selection import SMALLEST_BOUND, Status

# Widths of the beam, one pass after the other: the first finds an order, the others prove it or better it.
WIDTHS = (24, 256, 1_024)
# Width of one more pass where none was found and none ruled out, and entries of counts that its states may have.
LAST_WIDTH, MOST_ENTRIES = 8_192, 8_000_000
# Rounds of separation for classes that are no unit balls.
ROUNDS = 25
# What is said of an order that keeps its limits.
KEPT = (Status.OPTIMAL, Status.FEASIBLE)
# Where no order keeps the limits, how many times them is tried.
FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class FairOrder:
    """The items of a selection in order, and what is proven of it.

    Shapes:  items (k,), positions in the pool.
    status: optimal, feasible, infeasible or not_found, of the limits of prefixes; the items of the last two are the
    order whose prefixes are within the smallest multiple `factor` of their limits that was met.
    similarity and similarity_bound are means over the places, weighted by 1/log2(i + 1).
    """

    items: IntArray
    status: Status
    similarity: float
    similarity_bound: float | None
    factor: float = 1.0

    @property
    def gap(self) -> float | None:
        """(bound - similarity) / |bound|; None without a bound."""
        if self.similarity_bound is None or self.status not in KEPT:
            return None
        return (self.similarity_bound - self.similarity) / max(abs(self.similarity_bound), SMALLEST_BOUND)


def ordered(problem: Problem, oracle: Oracle, items: IntArray, rho: float, k: int, first: int = FIRST) -> FairOrder:
    """The best order of k of some items (k or more) with every prefix of `first` or more within its rho."""
    course = OrderCourse.of(problem, oracle, items)
    limits = prefix_limits(rho, k=k, first=first, unit=oracle.unit)
    found = _Search(course, limits, first, k).best()
    if found.status == Status.NOT_FOUND:
        widest = min(LAST_WIDTH, MOST_ENTRIES // course.cells.size**2)
        if widest > WIDTHS[-1]:
            found = _Search(course, limits, first, k).best((widest,))
    if found.status in KEPT:
        return found
    for factor in FACTORS:
        nearest = _Search(course, limits * factor, first, k).best(WIDTHS[:1])
        if nearest.items.size:
            return replace(nearest, status=found.status, similarity_bound=None, factor=factor)
    by_score = course.items[:k]
    value = mean_of(problem.scores[by_score], LOG2.weights(k))
    return replace(found, items=by_score, similarity=value, factor=np.inf)


def ordered_by_attention(problem: Problem, oracle: Oracle, items: IntArray, rho: float) -> FairOrder:
    """The order with the largest similarity, by the weights of the problem's places, whose MPR by them is within rho.

    An order of all items of a pool is a choice from it (`mprlib.optimisers.order_weights`).
    Raises:  InputError for weights that rise from one place to a later one.
    """
    from mprlib.optimisers.order_weights import WeightedSearch

    pool = cell_pool_of(problem, oracle.cells, items)
    [row] = WeightedSearch(problem, oracle, pool).rows(requested([rho], "fair_order", oracle), "fair_order")
    assert row.similarity is not None
    bound = row.similarity_bound
    return FairOrder(items=row.items, status=row.status, similarity=row.similarity, similarity_bound=bound)


class _Search:
    """One course under given limits (k + 1,)."""

    def __init__(self, course: OrderCourse, limits: FloatArray, first: int, k: int) -> None:
        self._course, self._limits, self._first, self._k = course, limits, min(first, k), k
        self._compiled = course.kernel_course(limits, self._first, k)

    def best(self, widths: tuple[int, ...] = WIDTHS) -> FairOrder:
        """The order that is found, measured; without items where none is."""
        items: IntArray = np.empty(0, dtype=np.intp)
        least, bound = -np.inf, np.inf
        for width in widths:
            found, value, new_bound = self._separated(width, least)
            if found.size:
                items, least = found, value
            # The search looks for what is better than the order at hand.
            bound = min(bound, max(new_bound, least))
            if items.size and self._course.items.size > self._k:
                # Of items that are free to choose an order that keeps the limits is enough.
                break
            if bound - least <= OPTIMALITY or bound == -np.inf:
                break
            if not items.size and self._course.look_closer():
                self._compiled = self._course.kernel_course(self._limits, self._first, self._k)
        return self._described(items, least, bound)

    def _separated(self, width: int, least: float) -> tuple[IntArray, float, float]:
        """The order of one width with prefixes that the measuring code finds within their limits, and a bound."""
        from mprlib.optimisers.order_beam_kernel import searched

        above = least + OPTIMALITY if np.isfinite(least) else least
        bound = np.inf
        for _ in range(ROUNDS):
            order, value, new_bound = searched(self._compiled, width, above)
            bound = min(bound, new_bound)
            if order.size == 0:
                return order, -np.inf, bound
            items = self._course.items_of(order)
            missed = self._course.missed(items, self._limits)
            if not missed:
                return items, value, bound
            if self._course.is_complete:
                # Nothing but rounding, at a limit.
                break
            self._course.add(_distinct(missed))
            self._compiled = self._course.kernel_course(self._limits, self._first, self._k)
        return np.empty(0, dtype=np.intp), -np.inf, bound

    def _described(self, items: IntArray, value: float, bound: float) -> FairOrder:
        scale = self._course.scale
        in_words = None if not np.isfinite(bound) else scale.mean(bound, 1)
        if not items.size:
            status = Status.INFEASIBLE if bound == -np.inf else Status.NOT_FOUND
            return FairOrder(items=items, status=status, similarity=float("nan"), similarity_bound=None)
        similarity = mean_of(self._course.problem.scores[items], LOG2.weights(self._k))
        is_best = bound - value <= OPTIMALITY
        return FairOrder(
            items=items,
            status=Status.OPTIMAL if is_best else Status.FEASIBLE,
            similarity=similarity,
            similarity_bound=similarity if is_best or in_words is None else max(in_words, similarity),
        )


def _distinct(functions: list[FloatArray]) -> list[FloatArray]:
    """Each function once."""
    return list({function.tobytes(): function for function in functions}.values())
