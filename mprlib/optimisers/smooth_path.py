"""The relaxation of a ball whose items are cells of their own, as when labels are embeddings.

The exact path of `ball_path` has thousands of breakpoints in hundreds of dimensions. Here the same optima,
those of  s . x - |v|^2 / (2 t)  with v = M' x over  0 <= x <= 1, sum x = k,  are approximated for a few
t per rho: |v| grows with t, so a secant method finds the t with |v| = rho. For one t, projected gradients
solve the problem over the items near the margin (column generation): when these are solved, all items are
priced, and those that improve the optimum join.

Any z bounds every selection, similarity <= top-k sum of (s - M z) + rho |z|, so the z found for one rho is
tried for all others. The primal point of a rho is the combination with |v| = rho of two optima, one on
either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.projected_gradient import DUALITY_GAP as INNER_GAP
from mprlib.optimisers.projected_gradient import ascended, product, transposed_product
from mprlib.optimisers.relaxation import Relaxation, rho_bound, top_sum

# Relative duality gap at which a rho is solved: far below what rounding to whole items loses here.
DUALITY_GAP = 5e-4
# Values of t per rho, and rounds of column generation per t.
LARGEST_TIMES = 16
LARGEST_ROUNDS = 8
# Items per dimension in the restricted problem: an optimal solution has at most r fractional items.
ITEMS_PER_DIMENSION = 1
# Limits of the secant step: the factors by which the next t may be smaller than the last.
FASTEST_FALL, SLOWEST_FALL = 0.1, 0.9
# The same for a t between two known ones, as parts of the distance of their logarithms.
NEAREST_PART, FARTHEST_PART = 0.1, 0.9
# A |v| below this part of rho counts as this part of rho in the secant, whose logarithm it would dominate.
SMALLEST_RATIO = 1e-3
# The first t, in multiples of |v| of top-k per unit of price: prices are then at most a tenth of the scores' range.
FIRST_TIME = 10.0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Point:
    """The optimum for one t.  Shapes: weights (N,); gap (r,) = v = M' weights. length = |v|."""

    time: float
    weights: FloatArray
    gap: FloatArray
    length: float
    similarity: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Price:
    """Multipliers z, whose dual bound at any rho is total + rho length.  Shapes: direction (r,) = z. length = |z|."""

    direction: FloatArray
    length: float
    total: float


class SmoothPath:
    """Optima and multipliers found so far for one pool with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._pool = pool
        self._items = np.ascontiguousarray(features[pool.cell])
        self._rho_min = 0.0
        weights: FloatArray = np.zeros(pool.scores.size)
        weights[np.argsort(-pool.scores, kind="stable")[: pool.k]] = 1.0
        gap = transposed_product(self._items, weights)
        length = float(np.sqrt(gap @ gap))
        longest = float(np.sqrt(np.einsum("ij,ij->i", self._items, self._items).max(initial=0.0)))
        time = FIRST_TIME * longest * length / (float(np.ptp(pool.scores)) or 1.0)
        similarity = float(pool.scores @ weights)
        self._points = [_Point(time=time, weights=weights, gap=gap, length=length, similarity=similarity)]
        free = np.zeros(features.shape[1])
        self._prices = [_Price(direction=free, length=0.0, total=top_sum(pool.scores, pool.k))]

    def solve(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling."""
        return [self._solve(rho) for rho in rhos]

    def _solve(self, rho: float) -> Relaxation:
        """The best bound and point within the limits."""
        known = len(self._points)
        for _ in range(LARGEST_TIMES):
            outer, inner, earlier = self._around(rho)
            if self._is_enclosed(rho, outer, inner) or rho < self._rho_min:
                break
            point = self._at(_next_time(outer, inner, earlier, rho), (inner or outer).weights)
            self._points.append(point)
            self._points.sort(key=lambda point: -point.time)
        outer, inner, _ = self._around(rho)
        price = self._best_price(rho)
        weights = outer.weights if inner is None else self._mixed(inner, outer, rho)[0]
        bound = price.total + rho * price.length
        is_infeasible = rho < self._rho_min
        is_converged = is_infeasible or self._is_enclosed(rho, outer, inner)
        return Relaxation(
            rho=rho,
            counts=self._pool.counts_of(weights),
            price=self._over_all_cells(product(self._items, price.direction)),
            multiplier=price.length,
            bound=-np.inf if is_infeasible else bound,
            rho_min=self._rho_min if is_infeasible else None,
            is_converged=is_converged,
            steps=len(self._points) - known,
        )

    def _over_all_cells(self, price: FloatArray) -> FloatArray:
        """Prices (G,) of items' prices (N,); those of cells without items are 0."""
        prices = np.zeros(self._pool.cell_count)
        prices[self._pool.cell] = price
        return prices

    def _around(self, rho: float) -> tuple[_Point, _Point | None, _Point]:
        """The points nearest to rho with |v| > rho and with |v| <= rho, and the second nearest with |v| > rho."""
        outside = [point for point in self._points if point.length > rho] or self._points[:1]
        inside = [point for point in self._points if point.length <= rho]
        return outside[-1], inside[0] if inside else None, outside[-2] if len(outside) > 1 else outside[-1]

    def _is_enclosed(self, rho: float, outer: _Point, inner: _Point | None) -> bool:
        price = self._best_price(rho)
        bound = price.total + rho * price.length
        return inner is not None and bound - self._mixed(inner, outer, rho)[1] <= DUALITY_GAP * abs(bound)

    def _best_price(self, rho: float) -> _Price:
        return min(self._prices, key=lambda price: price.total + rho * price.length)

    def _mixed(self, inner: _Point, outer: _Point, rho: float) -> tuple[FloatArray, float]:
        """The weights (N,) between the two points with |v| = rho, and their similarity."""
        step = outer.gap - inner.gap
        square, half = float(step @ step), float(inner.gap @ step)
        constant = inner.length**2 - rho * rho
        part = 0.0
        if square > 0.0 and outer.length > rho:
            part = min(1.0, (-half + float(np.sqrt(max(half * half - square * constant, 0.0)))) / square)
        weights = inner.weights + part * (outer.weights - inner.weights)
        return weights, inner.similarity + part * (outer.similarity - inner.similarity)

    def _at(self, time: float, weights: FloatArray) -> _Point:
        """The optimum for one t, from weights (N,); its multipliers are kept."""
        scores, k = self._pool.scores, self._pool.k
        gap = transposed_product(self._items, weights)
        size = k + ITEMS_PER_DIMENSION * self._items.shape[1]
        price = product(self._items, gap)
        for _ in range(LARGEST_ROUNDS):
            value = scores - price / time
            near = np.argsort(-value, kind="stable")[:size]
            open_items = np.union1d(near, np.flatnonzero(weights > 0.0))
            own = ascended(self._items[open_items], scores[open_items], weights[open_items], k, time)
            weights = np.zeros_like(weights)
            weights[open_items] = own
            gap = transposed_product(self._items[open_items], own)
            square, similarity = float(gap @ gap), float(scores @ weights)
            price = product(self._items, gap)
            total = top_sum(scores - price / time, k)
            bound = total + square / time
            if bound - similarity <= 2.0 * INNER_GAP * abs(bound):
                break
        length = float(np.sqrt(square))
        self._prices.append(_Price(direction=gap / time, length=length / time, total=total))
        self._rho_min = max(self._rho_min, rho_bound(self._pool, self._over_all_cells(price), length))
        return _Point(time=time, weights=weights, gap=gap, length=length, similarity=similarity)


def _next_time(outer: _Point, inner: _Point | None, earlier: _Point, rho: float) -> float:
    """The secant step in log |v| against log t, kept away from the points that are known."""
    if inner is not None:
        rise = np.log(outer.length / max(inner.length, rho * SMALLEST_RATIO))
        part = np.log(outer.length / rho) / rise if rise > 0.0 else 0.5
        return float(outer.time * (inner.time / outer.time) ** min(max(part, NEAREST_PART), FARTHEST_PART))
    fall = FASTEST_FALL
    if earlier.time > outer.time and earlier.length > outer.length:
        slope = np.log(earlier.length / outer.length) / np.log(earlier.time / outer.time)
        # A little further, so that rho is enclosed.
        fall = (rho / outer.length) ** (1.0 / slope) * SLOWEST_FALL
    return outer.time * min(max(fall, FASTEST_FALL), SLOWEST_FALL)
