"""The relaxation of a ball for every rho at once: the exact, piecewise linear path of its optima.

With centred features M_g (see `ball_region`) and v = sum_g x_g M_g the relaxation is

    maximise  sum_g F_g(x_g)   subject to  sum_g x_g = k,  |v| <= rho,  0 <= x_g <= capacity_g.

Its optima are those of  sum_g F_g(x_g) - |v|^2 / (2 t)  for falling t: the multipliers are z = v / t for
the ball and theta / t for the sum, and x is optimal when

    t * next_gain_g  <=  theta + M_g . v  <=  t * last_loss_g          for every cell,

F_g being concave and piecewise linear. A cell is free while its count is fractional, inside a piece of
slope s_g, where both sides are equalities. The free cells then solve a linear system whose right-hand side
is linear in t,

    sum_{h free} (M_g . M_h) x_h + theta = t s_g - M_g . v_fixed,     sum_{h free} x_h = k - fixed,

so x, theta and v are linear in t until a free cell's count becomes whole or a fixed cell's inequality
becomes an equality. These breakpoints are followed from t = infinity (the top-k set) to t = 0, where |v| is
rho_min. Free cells stay affinely independent, at most r + 1 of them: a cell that depends on the others
moves along the dependence, at constant t and v, until another cell becomes fixed. Ties in score, on
which the path could cycle, are broken by a perturbation; bounds are computed from the scores as given.

Worked example: two cells of one item each, scores 1 and 0, k = 1, M = (1, -1). Top-k has v = 1. From
t = 2 on both cells are free: theta + v = t and theta - v = 0, v = t / 2, x = (1/2 + t/4, 1/2 - t/4).

>>> from mprlib import Problem
>>> from mprlib.cells import cells_of
>>> from mprlib.optimisers.cell_pool import cell_pool_of
>>> problem = Problem(scores=[1, 0], labels=[[1], [0]], reference=[[1], [0]], k=1)
>>> cells = cells_of(problem)
>>> [row] = BallPath(2.0 * cells.labels - 1.0, cell_pool_of(problem, cells)).solve([0.5])
>>> np.round(row.counts[cells.pool_cell], 9).tolist(), round(row.bound, 9), round(row.multiplier, 9)
([0.75, 0.25], 0.75, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.ball_line import PathLost, rank_by_eigenvalues, time_at
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation, SmallestRho, rho_bound, similarity_bound, top_sum

if TYPE_CHECKING:
    from mprlib.optimisers.path_points_kernel import Points

# Relative error above which a path is discarded: bounds are compared to 1e-6.
ACCURACY = 1e-8
# Breakpoints per cell and item: a path has well under one; more means that it cycles.
LARGEST_BREAKPOINTS_PER_PLACE = 20
# A smallest |v| below this part of the longest feature is 0 but for rounding.
SMALLEST_GAP = 1e-12
# The multiplier of a rho that exceeds rho_min by rounding alone: v / t at a t so small that v has no slope left.
NEAR_THE_END = 1e6


class BallPath:
    """The path over one pool, with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        from mprlib.optimisers import path_points_kernel as kernel
        from mprlib.optimisers.cell_pool_kernel import without_ties
        from mprlib.optimisers.path_kernel import Ball

        self._kernel, self._pool = kernel, pool
        # Cells without items, such as those of the reference alone, have no part in the path.
        self._cells = np.flatnonzero(pool.capacity)
        is_part = self._cells.size < pool.cell_count
        self._features = np.ascontiguousarray(features[self._cells] if is_part else features)
        columns, squares, rank = kernel.described(self._features)
        self._ball = Ball(
            k=pool.k,
            features=self._features,
            columns=columns,
            squares=squares,
            marginals=without_ties(pool.scores, pool.capacity, pool.marginals, True),
            offset=pool.offset[self._cells],
            capacity=pool.capacity[self._cells].astype(np.float64),
            rank=rank_by_eigenvalues(self._features) if rank < 0 else rank,
            scale=pool.k * float(squares.max(initial=0.0)),
        )
        self._starts = pool.starts[self._cells]

    def solve(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling.

        The path ends at the last rho; only a rho below rho_min follows it down to t = 0.
        Raises:  PathLost when an optimum does not attain its own bound, or breakpoints do not end.
        """
        most = LARGEST_BREAKPOINTS_PER_PLACE * (self._cells.size + self._pool.k)
        (cells, rank), rows = self._features.shape, len(rhos) + 1
        points = self._kernel.Points(
            constant=np.empty((rows, cells)),
            rate=np.empty((rows, cells)),
            v_start=np.empty((rows, rank)),
            v_slope=np.empty((rows, rank)),
            begin=np.empty(rows),
            end=np.empty(rows),
            steps=np.empty(rows, np.int64),
        )
        reached = self._kernel.points_of(self._ball, np.array(rhos, dtype=float), most, points)
        if reached < 0:
            raise PathLost
        found = self._reached(points, rhos[:reached])
        return found + self._at_the_end(points, reached, rhos[reached:]) if reached < len(rhos) else found

    def _reached(self, points: Points, rhos: Sequence[float]) -> list[Relaxation]:
        """The rows of the rhos that the path reaches."""
        pool, count = self._pool, len(rhos)
        times, directions, multipliers = np.empty((count, 1)), np.empty((count, points.v_start.shape[1])), []
        own_prices, limits = np.empty((count, self._cells.size)), np.empty((count, 2))
        for row, rho in enumerate(rhos):
            times[row], directions[row] = self._multipliers_at(points, row, rho)
            own_prices[row] = self._features @ directions[row]
            multipliers.append(math.sqrt(directions[row] @ directions[row]))
        limits[:, 0], limits[:, 1] = multipliers, rhos
        bounds = self._kernel.bounds_of(self._ball, pool.marginals, own_prices, limits)
        limits[:, 0] = bounds
        own = points.constant[:count] + times * points.rate[:count]
        if not self._kernel.are_optimal(self._ball, (pool.marginals, pool.sums, self._starts), own, limits, ACCURACY):
            raise PathLost
        counts, prices = self._over_all_cells(own), self._over_all_cells(own_prices)
        return [
            Relaxation(
                rho=rho,
                counts=counts[row],
                price=prices[row],
                multiplier=multipliers[row],
                bound=bound,
                rho_min=None,
                steps=steps,
                direction=directions[row],
            )
            for row, (rho, bound, steps) in enumerate(zip(rhos, bounds.tolist(), points.steps.tolist()))
        ]

    def _over_all_cells(self, values: FloatArray) -> FloatArray:
        """Rows (R, G) of values of the cells with items; 0 of the others."""
        if self._cells.size == self._pool.cell_count:
            return values
        found = np.zeros((len(values), self._pool.cell_count))
        found[:, self._cells] = values
        return found

    def _multipliers_at(self, points: Points, row: int, rho: float) -> tuple[float, FloatArray]:
        """The t of a rho, and z = v / t, which has a limit where v vanishes with t."""
        start, slope = points.v_start[row], points.v_slope[row]
        t = time_at(start, slope, rho, (points.end[row], points.begin[row]))
        if math.sqrt(start @ start) <= self._smallest_gap or not t > 0:
            return t, slope
        return (t, (start + t * slope) / t) if math.isfinite(t) else (0.0, np.zeros_like(slope))

    @cached_property
    def _smallest_gap(self) -> float:
        return SMALLEST_GAP * float(np.abs(self._features).max(initial=0.0))

    def _at_the_end(self, points: Points, last: int, rhos: Sequence[float]) -> list[Relaxation]:
        """Rows of rhos that the path does not reach: infeasible, but for those within rounding of rho_min."""
        pool, gap, steps = self._pool, points.v_start[last], int(points.steps[last])
        counts = np.zeros(pool.cell_count)
        counts[self._cells] = points.constant[last]
        price, multiplier = self._priced(gap)
        rho_min = rho_bound(pool, price, multiplier)
        smallest = SmallestRho(counts=counts, price=price, multiplier=multiplier, rho_min=rho_min)
        z = points.v_slope[last] if multiplier <= self._smallest_gap else gap * NEAR_THE_END
        price, multiplier = self._priced(z)
        top = top_sum(pool.scores, pool.k)
        return [
            replace(smallest.infeasible(rho), steps=steps)
            if rho < rho_min
            else Relaxation(
                rho=rho,
                counts=counts,
                price=price,
                multiplier=multiplier,
                bound=min(top, similarity_bound(pool, price, multiplier, rho)),
                rho_min=rho_min,
                steps=steps,
                direction=z,
            )
            for rho in rhos
        ]

    def _priced(self, direction: FloatArray) -> tuple[FloatArray, float]:
        """The price (G,) of one item of each cell, and the multiplier."""
        price = np.zeros(self._pool.cell_count)
        price[self._cells] = self._features @ direction
        return price, math.sqrt(direction @ direction)
