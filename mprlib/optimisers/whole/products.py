"""Whole counts under kernels that are products over attributes, as a gaussian one of one-hot labels is.

The distance of two cells depends on the attributes in which they differ alone. With the square of that distance
2 sum of w_S over the sets S of attributes in which they do not agree, and w_S >= 0, counts x that sum to k have

    k^2 MPR^2  =  sum_S w_S sum_m (c_m - k q_m)^2,

where m runs over the combinations of levels of the attributes in S, the margins, and c_m counts the items there. All
of these counts are whole. At a price mu of the square, and prices y_m of an item of each margin,

    similarity(x)  <=  max over x of sum_g [F_g(x_g) - mu w (x_g - k q_g)^2 - x_g sum of y_m over g's margins]
                       + sum_m max over whole c of [y_m c - mu w_m (c - k q_m)^2]  +  mu (k rho)^2

for all sets that meet rho: the first maximum is attained by the k largest increments, each of the others next to where
its slope is 0. The relaxation's bound is that of the same prices with counts that may be fractions; whole ones are up
to half an item from where they should be in each margin. The prices are found by subgradients. A set is below the bound
by what its cells and margins lose at the prices, and by what it leaves of rho: sets that lose less than the gap are
searched depth first. Without scores, and at mu = 1, the same finds the smallest MPR of all sets.

Worked example: one attribute of two levels of equal shares, k = 1: each count is 1/2 from its target, so that
MPR^2 = w / 2 at least.

Source:  Held, Wolfe and Crowder 1974, on subgradients with Polyak's steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.whole.deepening import deepened, over_all, with_counts
from mprlib.optimisers.whole.marginals import marginals_of
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.optimisers.whole.product_price_kernel import Squares
    from mprlib.optimisers.whole.product_search_kernel import Losses

# Their sets are twice as many with each: more would cost more than they say.
MOST_ATTRIBUTES = 6
# Squares of distances are sums over sets of attributes where the fit misses them by less than this part of the largest
# one; weights below it are 0.
FIT = 1e-10
# Steps of subgradients: a millisecond at 126 cells.
STEPS = 200
# A node here costs a fifth of one of a lattice.
CHEAPER = 4
# A price of the square above which sums of what it prices say nothing: per item.
LARGEST_PRICE = 1e4
# Squares of counts that differ by less are equal.
SAME_SQUARE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Nearest:
    """A proven lower bound on k^2 MPR^2 of all sets, and by what each count exceeds it."""

    square: float
    losses: Losses

    @classmethod
    def of(cls, squares: Squares) -> Nearest:
        """By prices from those of a near set on."""
        from mprlib.optimisers.whole import product_price_kernel, product_search_kernel

        unscored = squares._replace(scores=np.zeros_like(squares.scores))
        margins = np.zeros_like(squares.weight)
        known = product_price_kernel.near_counts(squares, np.zeros_like(squares.capacity), margins)
        prices = 2.0 * squares.weight * (margins - squares.centre)
        bound, price = product_price_kernel.ascended(unscored, 0.0, 1.0, prices, -known, (STEPS, False))
        return cls(square=-bound, losses=product_search_kernel.losses_at(unscored, price, prices))


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ProductProof:
    """Proofs for one problem's kernel.

    Shapes:  cells (F,), those with items. error: of k^2 MPR^2 as a sum of squares. nearest: of all sets, made when it
    is asked for.
    """

    pool: CellPool
    cells: IntArray
    squares: Squares
    error: float
    unit: float
    nearest: Callable[[], Nearest]

    @classmethod
    def of(cls, problem: Problem, pool: CellPool, cells: Cells, ball: BallRegion) -> ProductProof | None:
        """The proof for a ball over these cells; None where it is no such kernel."""
        marginals = marginals_of(problem, cells)
        if marginals is None or marginals.column.shape[1] > MOST_ATTRIBUTES:
            return None
        fitted = _weights(marginals.column, pool.k * ball.features / ball.unit)
        if fitted is None:
            return None
        weights, missed = fitted
        filled = np.flatnonzero(pool.capacity)
        squares = _squares(pool, marginals.column, pool.k * cells.reference_shares, weights, filled)
        return cls(
            pool=pool,
            cells=filled,
            squares=squares,
            nearest=cache(lambda: Nearest.of(squares)),
            # Counts and targets sum to k each.
            error=2.0 * missed * pool.k**2,
            unit=ball.unit,
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest MPR of whole counts; where the search does not end, what it ruled out by then."""
        from mprlib.optimisers.whole import product_search_kernel as kernel

        nearest = self.nearest()
        start = -self._limit(value) - SAME_SQUARE
        counts = np.zeros(self.cells.size, np.int64)

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            question = kernel.Question(-nearest.square, -start - nearest.square, left, True)
            return kernel.cheapest(self.squares, (nearest.losses, nearest.losses), question, threshold, counts)

        found = deepened(search, -nearest.square, start, CHEAPER * nodes, self.pool.k)
        smallest = np.sqrt(max(-found.bound - self.error, 0.0)) / self.pool.k - SMALLEST_EXCESS
        return Floor(
            rho=max(float(smallest) * self.unit, 0.0),
            counts=over_all(counts, self.cells, self.pool.cell_count) if counts.any() else closest,
            is_attained=found.is_complete and bool(counts.any()),
        )

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best counts, by prices from the relaxation's on and the sets that lose little at them."""
        from mprlib.optimisers.whole import product_price_kernel
        from mprlib.optimisers.whole import product_search_kernel as kernel

        squares, k, nearest = self.squares, self.pool.k, self.nearest()
        limit = self._limit(relaxation.rho)
        start = -np.inf if incumbent is None else self.pool.similarity(incumbent)
        price, prices = self._prices(relaxation, limit)
        # No set is worth less than its worst items.
        goal = k * float(self.pool.scores.min()) - SAME_SQUARE if incumbent is None else start
        bound, price = product_price_kernel.ascended(squares, limit, price, prices, goal, (STEPS, True))
        if incumbent is None and (bound < goal or limit < nearest.square):
            return Searched(counts=None, bound=-np.inf, is_complete=True)
        by, counts = (kernel.losses_at(squares, price, prices), nearest.losses), np.zeros(self.cells.size, np.int64)

        def search(threshold: float, left: int) -> tuple[float, bool, int]:
            question = kernel.Question(bound, limit - nearest.square, left, False)
            return kernel.cheapest(squares, by, question, threshold, counts)

        found = deepened(search, bound, start, CHEAPER * nodes, k)
        return with_counts(found, counts, self.cells, self.pool.cell_count)

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _limit(self, rho: float) -> float:
        """The largest k^2 MPR^2 of counts that may meet rho."""
        return float((rho / self.unit + SMALLEST_EXCESS) * self.pool.k) ** 2 + self.error

    def _margins(self, counts: FloatArray) -> FloatArray:
        """The counts of the margins."""
        squares = self.squares
        found: FloatArray = np.bincount(
            squares.member.ravel(),
            weights=np.repeat(counts, squares.member.shape[1]),
            minlength=squares.weight.size,
        ).astype(float)
        return found

    def _prices(self, relaxation: Relaxation, limit: float) -> tuple[float, FloatArray]:
        """The relaxation's price of the square, and those of the margins, where each is the square's slope."""
        squares, k = self.squares, self.pool.k
        # The slope of rho is that of its square by 2 rho.
        price = relaxation.multiplier * self.unit / (2.0 * k * np.sqrt(limit))
        price = min(max(price, 1.0 / (LARGEST_PRICE * k)), LARGEST_PRICE * k)
        return price, 2.0 * price * squares.weight * (self._margins(relaxation.counts[self.cells]) - squares.centre)


def _weights(column: IntArray, features: FloatArray) -> tuple[dict[tuple[int, ...], float], float] | None:
    """The weight of each set of attributes, and by how much the squares of distances miss their sums; else None."""
    from scipy.optimize import nnls

    from mprlib.optimisers.feature_columns_kernel import products_of

    own = products_of(np.ascontiguousarray(features.T))
    square = np.diagonal(own)[:, None] + np.diagonal(own)[None, :] - 2.0 * own
    agreed = sum((column[:, [one]] == column[:, one]).astype(np.int64) << one for one in range(column.shape[1]))
    patterns, place = np.unique(agreed, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=square.ravel())
    wanted = sums / np.bincount(place.ravel())
    sets = list(_sets(column.shape[1]))
    masks = np.array([sum(1 << one for one in held) for held in sets])
    system = 2.0 * ((patterns[:, None] & masks[None, :]) != masks[None, :])
    largest = float(np.abs(wanted).max(initial=0.0))
    if largest == 0.0:
        return None
    found = nnls(system, wanted / largest)[0] * largest
    found[found < FIT * largest] = 0.0
    missed = float(np.abs(square - (system @ found)[place.reshape(square.shape)]).max())
    return None if missed > FIT * largest else (dict(zip(sets, found.tolist())), missed)


def _sets(attributes: int) -> Iterator[tuple[int, ...]]:
    """All sets of attributes but the empty one; all of them together are the last."""
    for size in range(1, attributes + 1):
        yield from combinations(range(attributes), size)


def _squares(
    pool: CellPool, column: IntArray, target: FloatArray, weights: dict[tuple[int, ...], float], cells: IntArray
) -> Squares:
    """k^2 MPR^2 in counts of the cells with items; target (G,) = k q."""
    from mprlib.optimisers.whole.product_price_kernel import Squares

    members, margin_weights, centres, most, count = [], [], [], [], 0
    everything = tuple(range(column.shape[1]))
    own = weights[everything]
    for held, weight in weights.items():
        if held == everything or weight == 0.0:
            continue
        distinct, code = np.unique(column[:, list(held)], axis=0, return_inverse=True)
        code, size = code.reshape(-1), distinct.shape[0]
        members.append(code + count)
        count += size
        margin_weights.append(np.full(size, weight))
        centres.append(np.bincount(code, weights=target, minlength=size))
        most.append(np.minimum(np.bincount(code, weights=pool.capacity, minlength=size), pool.k))
    empty = np.ones(target.size, dtype=bool)
    empty[cells] = False
    return Squares(
        k=pool.k,
        first=pool.first[cells].astype(np.int64),
        capacity=pool.capacity[cells].astype(np.int64),
        target=target[cells],
        scores=pool.scores,
        own=own,
        member=np.array(members, dtype=np.int64).reshape(-1, column.shape[0])[:, cells].T.copy(),
        weight=np.concatenate([np.zeros(0), *margin_weights]),
        centre=np.concatenate([np.zeros(0), *centres]),
        most=np.concatenate([np.zeros(0), *most]).astype(np.int64),
        constant=own * float((target[empty] ** 2).sum()),
    )
