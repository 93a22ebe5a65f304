"""Items and order together: the largest attention-weighted similarity with attention-weighted MPR at most rho.

Places have falling weights w_i (`mprlib.attention`), and sum w_i s_(i) is maximised over all choices of k items in an
order with MPR <= rho under those weights. Similarity has to be weighted too: unweighted, reordering would be free.

    dual bound       subgradients on prices of the class's functions; one sort a step (sorted scores net of prices
                     meet sorted weights), warm-started along the sweep
    local search     from the dual's orders: cells of two places exchanged, another cell's item put at a place
    proof            depth first over the places with the dual's prices, within a number of nodes

Classes that are no unit balls are represented by functions that the measuring code names (separation). What is handed
out was measured; `optimal` and `infeasible` are proven, and the bound holds whatever a limit ended.

Worked example: three women, all more similar than three men, two places of which the first has two thirds of the
attention. With one of each the groups are 1/6 off, so rho = 0.2 is met, and 0.1 by nobody.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=3 * [women] + 3 * [men],
...                          reference=[women, men], k=2, attributes={"gender": [0, 1]})
>>> rows = mprlib.sweep(problem, "mopr", [0.2, 0.1], "groups", attention="geometric(0.5)")
>>> [(row.items.tolist(), row.status.value) for row in rows]
[([0, 3], 'optimal'), ([0, 3], 'infeasible')]

Source: Rado 1952 (the permutahedron's linear programme is a sort), Polyak 1969 for the steps; the rest is this
project's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle, cut
from mprlib.function_classes.base import measured as measured_by
from mprlib.method import Proof, selected
from mprlib.optimisers.ball_region import centred_features
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.certificate import OPTIMALITY, at_least
from mprlib.optimisers.order_course import ranks_within
from mprlib.optimisers.request import Request
from mprlib.problem import Problem
from mprlib.selection import Selection, SolveStatistics, Status
from mprlib.spelling import numbered

if TYPE_CHECKING:
    from mprlib.optimisers.order_weights_kernel import Places

# Steps of the dual for one rho, moves of one local search, and places that the nodes of one proof may fill: a node
# looks at what is left for each place.
ITERATIONS, MOVES, PLACES_FILLED = 300, 200, 40_000
# Rounds of separation and of proofs for one rho.
ROUNDS = 50
# Factors of the dual's price of rho by which a local search weighs what exceeds it: the last is as good as a ban.
PENALTIES = (2.0, 20.0, 1e6)


@dataclass(kw_only=True, eq=False, slots=True)
class _Found:
    """The order (k,) of one rho, as cells: within rho or the nearest; its value, gap, the bound, and the prices."""

    order: IntArray
    value: float
    gap: float
    bound: float
    prices: FloatArray
    nodes: int = 0


class WeightedSearch:
    """Orders of a pool's items for falling rho; problem has the weights of the places.

    Raises:  InputError for weights that rise.
    """

    def __init__(self, problem: Problem, oracle: Oracle, pool: CellPool) -> None:
        assert problem.place_weights is not None
        if (np.diff(problem.place_weights) > 0).any():
            raise InputError("attention rises from one place to a later one: to order by, it has to fall")
        self._problem, self._oracle, self._pool = problem, oracle, pool
        features = centred_features(oracle, 1)
        self._is_ball = features is not None
        self._cells = np.flatnonzero(pool.capacity)
        self._functions = np.ascontiguousarray(
            (oracle.first_functions() if features is None else features)[self._cells]
        )
        self._prices: FloatArray = np.zeros(self._functions.shape[1])
        self._scores = np.full((self._cells.size, int(pool.capacity.max())), -np.inf)
        place = np.searchsorted(self._cells, pool.cell)
        self._scores[place, pool.rank] = pool.scores

    def rows(self, requests: Sequence[Request], method: str) -> list[Selection]:
        """One Selection per request, in the order given."""
        found: dict[float, _Found] = {}
        for limit in sorted({request.limit for request in requests}, reverse=True):
            found[limit] = self._separated(limit)
            self._prices = found[limit].prices
        self._pass_on(found)
        return [self._row(request, found[request.limit], method) for request in requests]

    @staticmethod
    def _pass_on(found: dict[float, _Found]) -> None:
        """Give a rho the order of a smaller one, where that is better than its own."""
        best: _Found | None = None
        for limit in sorted(found):
            own = found[limit]
            if best is not None and (own.gap > limit or best.value > own.value):
                bound = max(own.bound, best.value)
                own = found[limit] = replace(own, order=best.order, value=best.value, gap=best.gap, bound=bound)
            if own.gap <= limit:
                best = own

    def _separated(self, limit: float) -> _Found:
        """The order of one rho, by the measuring code, and a bound."""
        found = self._approached(limit)
        bound, is_proven = found.bound, False
        for _ in range(ROUNDS):
            worst = measured_by(self._problem, self._oracle, self._items(found.order))
            if not self._is_ball and worst.value > max(limit, found.gap + ROUNDING_OF_PROOF):
                # The functions at hand are not all: a proof would be of something else.
                self._add(worst.function, found.prices)
                found, is_proven = self._approached(limit), False
            elif is_proven or found.bound == -np.inf:
                break
            else:
                found, is_proven = self._proven(found, limit), True
            bound = min(bound, found.bound)
        # The measuring code decides, whatever the functions at hand see.
        found.gap = measured_by(self._problem, self._oracle, self._items(found.order)).value
        found.bound = max(bound, found.value) if found.gap <= limit else bound
        return found

    def _add(self, function: FloatArray, prices: FloatArray) -> None:
        """A function (G,) on the oracle's cells, without a price as yet."""
        centred = function - self._oracle.cells.reference_shares @ function
        self._functions = np.concatenate([self._functions, centred[self._cells, None]], axis=1)
        self._prices = np.append(prices, 0.0)

    def _approached(self, limit: float) -> _Found:
        """An order of one rho under the functions at hand, and the dual's bound."""
        from mprlib.optimisers import order_weights_kernel as kernel

        places = self._places()
        dual = kernel.minimised(places, limit, self._prices, 1.0, ITERATIONS)
        best = self._climbed(places, dual.order, limit, kernel.dual_length(dual.prices, self._is_ball))
        if best.gap > limit:
            nearest = kernel.minimised(places, limit, np.zeros_like(self._prices), 0.0, ITERATIONS)
            if nearest.bound < -ROUNDING_OF_PROOF:
                return replace(best, bound=-np.inf, prices=dual.prices)
            other = self._climbed(places, nearest.order, limit, 1e6)
            best = other if other.gap < best.gap else best
        return replace(best, bound=max(dual.bound, best.value if best.gap <= limit else -np.inf), prices=dual.prices)

    def _proven(self, found: _Found, limit: float) -> _Found:
        """The order, or a better one under the functions at hand, with the bound of a search within its limit."""
        from mprlib.optimisers.order_branch_kernel import branched

        least = found.value if found.gap <= limit else -np.inf
        if found.bound - least <= OPTIMALITY:
            return found
        above = least + OPTIMALITY if np.isfinite(least) else least
        nodes = PLACES_FILLED // self._problem.k
        order, value, unseen, visited = branched(self._places(), limit, found.prices, above, nodes)
        if order.size:
            found = replace(found, order=order, value=value, gap=float(limit))
            least = value
        return replace(found, bound=min(found.bound, max(unseen, least)), nodes=visited)

    def _climbed(self, places: Places, order: IntArray, limit: float, price: float) -> _Found:
        from mprlib.optimisers.order_climb_kernel import climbed

        for penalty in PENALTIES:
            order, value, gap = climbed(places, order, limit, penalty * max(price, 1e-3), MOVES)
            if gap <= limit:
                break
        return _Found(order=order, value=value, gap=gap, bound=np.inf, prices=self._prices)

    @cached_property
    def _squares(self) -> FloatArray:
        from mprlib.optimisers.order_weights_kernel import squares_of

        return squares_of(self._functions) if self._is_ball else np.zeros((0, 0))

    def _places(self) -> Places:
        from mprlib.optimisers.order_weights_kernel import Places

        return Places(
            self._scores,
            self._pool.capacity[self._cells].astype(np.int64),
            np.ascontiguousarray(self._functions),
            np.array(self._problem.place_weights),
            self._squares,
            self._is_ball,
        )

    def _items(self, order: IntArray) -> IntArray:
        """Positions (k,) in the pool of the items at each place."""
        items: IntArray = self._pool.items[self._pool.first[self._cells[order]] + ranks_within(order)]
        return items

    def _row(self, request: Request, found: _Found, method: str) -> Selection:
        scale, is_infeasible = self._pool.scale, found.bound == -np.inf
        bound = None if is_infeasible or not np.isfinite(found.bound) else scale.mean(found.bound, 1)
        proof = Proof(
            similarity_bound=bound,
            relaxation_bound=bound,
            rho_min=cut(request.limit, self._oracle.unit) if is_infeasible else None,
            is_infeasible=is_infeasible,
            tolerance=scale.tolerance(OPTIMALITY),
        )
        row = selected(
            self._problem, self._oracle, self._items(found.order), method=method, value=request.rho, rho=request.rho,
            proof=proof,
        )  # fmt: skip
        return replace(row, message=_advice(row), statistics=SolveStatistics(nodes=found.nodes))


def _advice(row: Selection) -> str:
    if row.status == Status.INFEASIBLE and row.rho is not None:
        items = numbered(len(row.items), "item")
        return f"no {items} in any order have MPR <= {at_least(row.rho)} under this attention: raise rho"
    if row.status == Status.NOT_FOUND:
        return f"no order with MPR <= {row.rho:g} was found, and none was ruled out: raise rho"
    return ""


# A proof that no order is within rho must exceed the rounding of sums of weighted gaps.
ROUNDING_OF_PROOF = 1e-12
