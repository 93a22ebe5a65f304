"""The relaxation of a ball where each item is a cell of its own: labels that are embeddings.

The walk of `ball_path` passes thousands of events in hundreds of dimensions. Here the same optima,
those of  s . x - |v|^2 / (2 t)  with v = M' x over  0 <= x <= 1, sum x = k,  are approached for a
few t a rho: |v| grows with t, so a secant finds the t with |v| = rho. For one t the problem is a
smooth one over a simple set, and accelerated projected gradients take a few hundred products with
the items near the margin; all items are looked at when those are done, and join as they are needed.

Any z bounds every selection, similarity <= topk_sum(s - M z) + rho |z|; a z found for one rho costs
nothing to try at the next. From below, two points on both sides of rho are mixed so that |v| = rho.

Source:  Beck and Teboulle 2009 (acceleration), O'Donoghue and Candes 2015 (restarts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation, rho_bound, top_sum
from mprlib.problem import FloatArray

# Relative distance of the bounds at which a rho is done: far below what whole items lose here.
ENCLOSURE = 5e-4
# Likewise of one t, so that its error does not show in the rho's.
INNER_ENCLOSURE = 1e-4
# Values of t for one rho, rounds of joining items for one t, and gradients for one round.
LARGEST_TIMES = 16
LARGEST_ROUNDS = 8
LARGEST_STEPS = 300
# Gradients between two looks at the bounds.
STEPS_BETWEEN_BOUNDS = 10
# Items looked at beside the support, in multiples of the rank: an optimum has at most one part a dimension.
ITEMS_PER_DIMENSION = 3
# Products that estimate the largest eigenvalue, and the room left for their error.
POWER_STEPS = 15
EIGENVALUE_ROOM = 1.05
# Factors between which the next t lies below the last.
FASTEST_FALL, SLOWEST_FALL = 0.1, 0.9
# The sum of a projection is exact to this.
PROJECTION_ACCURACY = 1e-11
LARGEST_PROJECTION_STEPS = 60


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Point:
    """An optimum for one t.  Shapes: weights (N,), gap (r,) = M' weights."""

    time: float
    weights: FloatArray
    gap: FloatArray
    length: float
    similarity: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Price:
    """A bound for every rho: total + rho length.  Shapes: direction (r,)."""

    direction: FloatArray
    length: float
    total: float


class SmoothPath:
    """Points and prices found so far for one pool with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._pool = pool
        self._features = features
        self._items = np.ascontiguousarray(features[pool.cell])
        self._rho_min = 0.0
        weights = np.zeros(pool.scores.size)
        weights[np.argsort(-pool.scores, kind="stable")[: pool.k]] = 1.0
        gap = _transposed_product(self._items, weights)
        length = float(np.sqrt(gap @ gap))
        longest = float(np.sqrt(np.einsum("ij,ij->i", self._items, self._items).max(initial=0.0)))
        # At this t prices are a tenth of the range of scores at most.
        time = 10.0 * longest * length / (float(np.ptp(pool.scores)) or 1.0)
        similarity = float(pool.scores @ weights)
        self._points = [_Point(time=time, weights=weights, gap=gap, length=length, similarity=similarity)]
        free = np.zeros(features.shape[1])
        self._prices = [_Price(direction=free, length=0.0, total=top_sum(pool.scores, pool.k))]

    def walk(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling."""
        return [self.solve(rho) for rho in rhos]

    def solve(self, rho: float) -> Relaxation:
        """The best bound and point within the limits."""
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
        return Relaxation(
            rho=rho,
            counts=self._pool.counts_of(weights),
            price=_product(self._features, price.direction),
            multiplier=price.length,
            bound=None if is_infeasible else bound,
            rho_min=self._rho_min if is_infeasible else None,
            is_converged=is_infeasible or self._is_enclosed(rho, outer, inner),
        )

    def _around(self, rho: float) -> tuple[_Point, _Point | None, _Point]:
        """The nearest point outside of rho, the one inside, and the next one outside."""
        outside = [point for point in self._points if point.length > rho] or self._points[:1]
        inside = [point for point in self._points if point.length <= rho]
        return outside[-1], inside[0] if inside else None, outside[-2] if len(outside) > 1 else outside[-1]

    def _is_enclosed(self, rho: float, outer: _Point, inner: _Point | None) -> bool:
        price = self._best_price(rho)
        bound = price.total + rho * price.length
        return inner is not None and bound - self._mixed(inner, outer, rho)[1] <= ENCLOSURE * abs(bound)

    def _best_price(self, rho: float) -> _Price:
        return min(self._prices, key=lambda price: price.total + rho * price.length)

    def _mixed(self, inner: _Point, outer: _Point, rho: float) -> tuple[FloatArray, float]:
        """The point between the two that lies on the border of rho, and its similarity."""
        step = outer.gap - inner.gap
        square, half = float(step @ step), float(inner.gap @ step)
        constant = inner.length**2 - rho * rho
        part = 0.0
        if square > 0.0 and outer.length > rho:
            part = min(1.0, (-half + float(np.sqrt(max(half * half - square * constant, 0.0)))) / square)
        weights = inner.weights + part * (outer.weights - inner.weights)
        return weights, inner.similarity + part * (outer.similarity - inner.similarity)

    def _at(self, time: float, weights: FloatArray) -> _Point:
        """The optimum for one t, from weights (N,); its price is kept."""
        scores, k = self._pool.scores, self._pool.k
        gap = _transposed_product(self._items, weights)
        held = k + ITEMS_PER_DIMENSION * self._items.shape[1]
        for _ in range(LARGEST_ROUNDS):
            value = scores - _product(self._items, gap) / time
            near = np.argsort(-value, kind="stable")[:held]
            open_items = np.union1d(near, np.flatnonzero(weights > 0.0))
            own = _ascended(self._items[open_items], scores[open_items], weights[open_items], k, time)
            weights = np.zeros_like(weights)
            weights[open_items] = own
            gap = _transposed_product(self._items[open_items], own)
            square, similarity = float(gap @ gap), float(scores @ weights)
            total = top_sum(scores - _product(self._items, gap) / time, k)
            bound = total + square / time
            if bound - similarity <= 2.0 * INNER_ENCLOSURE * abs(bound):
                break
        length = float(np.sqrt(square))
        self._prices.append(_Price(direction=gap / time, length=length / time, total=total))
        self._rho_min = max(self._rho_min, rho_bound(self._pool, _product(self._features, gap), length))
        return _Point(time=time, weights=weights, gap=gap, length=length, similarity=similarity)


def _next_time(outer: _Point, inner: _Point | None, earlier: _Point, rho: float) -> float:
    """Where log |v| as a line in log t meets rho; kept away from the ends of what is known."""
    if inner is not None:
        rise = np.log(outer.length / max(inner.length, rho * 1e-3))
        part = np.log(outer.length / rho) / rise if rise > 0.0 else 0.5
        return float(outer.time * (inner.time / outer.time) ** min(max(part, 0.1), 0.9))
    fall = FASTEST_FALL
    if earlier.time > outer.time and earlier.length > outer.length:
        slope = np.log(earlier.length / outer.length) / np.log(earlier.time / outer.time)
        # A little beyond, so that rho is enclosed.
        fall = (rho / outer.length) ** (1.0 / slope) * SLOWEST_FALL
    return outer.time * min(max(fall, FASTEST_FALL), SLOWEST_FALL)


def _ascended(items: FloatArray, scores: FloatArray, weights: FloatArray, k: int, time: float) -> FloatArray:
    """Weights (w,) that maximise scores . x - |items' x|^2 / (2 t), to INNER_ENCLOSURE."""
    largest = _largest_eigenvalue(items)
    if largest <= 0.0 or scores.size <= k:
        return weights
    x, gap = weights, _transposed_product(items, weights)
    y, y_gap, inertia, level = x, gap, 1.0, 0.0
    for step in range(1, LARGEST_STEPS + 1):
        rise = time * scores - _product(items, y_gap)
        after, level = _projected(y + rise / largest, k, level)
        after_gap = _transposed_product(items, after)
        momentum = 0.0
        if (y - after) @ (after - x) > 0.0:
            inertia = 1.0
        else:
            longer = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * inertia**2))
            momentum, inertia = (inertia - 1.0) / longer, longer
        y, y_gap = after + momentum * (after - x), after_gap + momentum * (after_gap - gap)
        x, gap = after, after_gap
        if step % STEPS_BETWEEN_BOUNDS == 0:
            bound = top_sum(scores - _product(items, gap) / time, k) + float(gap @ gap) / time
            if bound - float(scores @ x) <= INNER_ENCLOSURE * abs(bound):
                break
    return x


def _projected(values: FloatArray, k: int, level: float) -> tuple[FloatArray, float]:
    """The nearest point with sum k in [0, 1]: clip(values - level), its level found from the last one's."""
    low, high = float(values.min()) - 1.0, float(values.max())
    for _ in range(LARGEST_PROJECTION_STEPS):
        weights = np.clip(values - level, 0.0, 1.0)
        excess = float(weights.sum()) - k
        if abs(excess) <= PROJECTION_ACCURACY * k:
            break
        low, high = (level, high) if excess > 0.0 else (low, level)
        free = int(np.count_nonzero((weights > 0.0) & (weights < 1.0)))
        level = level + excess / free if free else low
        if not low < level < high:
            level = 0.5 * (low + high)
    return weights, level


def _largest_eigenvalue(items: FloatArray) -> float:
    """An upper estimate of the largest eigenvalue of items' items."""
    direction = np.ones(items.shape[1])
    for _ in range(POWER_STEPS):
        direction = _transposed_product(items, _product(items, direction))
        length = float(np.sqrt(direction @ direction))
        if length == 0.0:
            return 0.0
        direction = direction / length
    image = _transposed_product(items, _product(items, direction))
    return EIGENVALUE_ROOM * float(np.sqrt(image @ image))


def _product(items: FloatArray, direction: FloatArray) -> FloatArray:
    """items @ direction. No BLAS: its sums may depend on the number of threads."""
    return np.einsum("ij,j->i", items, direction)


def _transposed_product(items: FloatArray, weights: FloatArray) -> FloatArray:
    """items' @ weights over the items that have weight."""
    taken = np.flatnonzero(weights)
    return np.einsum("ij,i->j", items[taken], weights[taken])
