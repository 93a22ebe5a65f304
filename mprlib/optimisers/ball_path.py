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

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.ball_line import Line, PathLost, affine_rank, perturbed
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation, SmallestRho, rho_bound, similarity_bound, top_sum

if TYPE_CHECKING:
    from mprlib.optimisers.path_kernel import Line as KernelLine
    from mprlib.optimisers.path_kernel import Path

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
        from mprlib.optimisers import path_kernel as kernel

        self._kernel, self._size = kernel, pool.cell_count
        # Cells without items, such as those of the reference alone, have no part in the path.
        self._cells = np.flatnonzero(pool.capacity)
        if self._cells.size < self._size:
            features, pool = features[self._cells], pool.of_cells(self._cells)
        self._features, self._pool = np.ascontiguousarray(features), pool
        squares = np.einsum("ij,ij->i", features, features)
        self._scale = pool.k * float(squares.max(initial=0.0))
        scores, marginals = perturbed(pool)
        self._ball = kernel.Ball(
            k=pool.k,
            features=self._features,
            squares=squares,
            marginals=marginals,
            offset=(pool.first + 2 * np.arange(pool.cell_count)).astype(np.int64),
            capacity=pool.capacity.astype(np.float64),
            rank=affine_rank(features),
            scale=self._scale,
        )
        self._path = self._top(scores)
        self._line = self._room()

    def solve(self, rhos: list[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling.

        The path ends at the last rho; only a rho below rho_min follows it down to t = 0.
        Raises:  PathLost when an optimum does not attain its own bound, or breakpoints do not end.
        """
        left = LARGEST_BREAKPOINTS_PER_PLACE * (self._pool.cell_count + self._pool.k)
        found: list[Relaxation] = []
        waiting = list(rhos)
        earlier, passed, line = np.inf, 0, None
        while waiting:
            how, earlier, later, passed = self._kernel.walk(
                self._ball, self._path, self._line, waiting[0], earlier, left
            )
            left -= passed
            if how == self._kernel.LOST or left < 0:
                raise PathLost
            line = self._line_now()
            if how == self._kernel.ENDED:
                break
            smallest = float(np.linalg.norm(line.gap(later)))
            # The kernel's sum may be a last bit smaller.
            reached = max(1, sum(rho >= smallest for rho in waiting))
            for steps, rho in zip([passed] + [0] * reached, waiting[:reached]):
                found.append(self._at(line, line.time_at(rho, earlier, later), rho, steps))
            waiting, passed = waiting[reached:], 0
            if waiting and self._path.end[0] == self._kernel.NOTHING:
                break
            earlier = later
            left -= 1
        if not all(self._is_optimal(row) for row in found):
            raise PathLost
        rows = found + self._at_the_end(line, waiting, passed) if waiting and line is not None else found
        return [self._over_all_cells(row) for row in rows]

    def _top(self, scores: FloatArray) -> Path:
        """The path's start: the k best items, the last of them free."""
        pool, cells = self._pool, self._pool.cell_count
        best = np.lexsort((np.arange(scores.size), -scores))[: pool.k]
        last = int(best[-1])
        path: Path = self._kernel.Path(
            counts=np.bincount(pool.cell[best], minlength=cells).astype(float),
            free=np.zeros(cells + 1, np.int64),
            piece=np.zeros(cells + 1, np.int64),
            number=np.ones(1, np.int64),
            end=np.zeros(2, np.int64),
        )
        path.free[0], path.piece[0] = pool.cell[last], pool.rank[last]
        return path

    def _room(self) -> KernelLine:
        cells, rank = self._features.shape
        line: KernelLine = self._kernel.Line(
            base=np.zeros(cells),
            start=np.zeros(cells + 2),
            slope=np.zeros(cells + 2),
            v_start=np.zeros(rank),
            v_slope=np.zeros(rank),
            theta=np.zeros(3),
            inverse=np.zeros((cells + 2, cells + 2)),
        )
        return line

    def _line_now(self) -> Line:
        """The line that the walk has stopped on."""
        number, line = int(self._path.number[0]), self._line
        return Line(
            free=self._path.free[:number].copy(),
            base=line.base.copy(),
            start=line.start[:number].copy(),
            slope=line.slope[:number].copy(),
            v_start=line.v_start.copy(),
            v_slope=line.v_slope.copy(),
        )

    def _over_all_cells(self, row: Relaxation) -> Relaxation:
        if self._cells.size == self._size:
            return row
        counts, price = np.zeros(self._size), np.zeros(self._size)
        counts[self._cells], price[self._cells] = row.counts, row.price
        return replace(row, counts=counts, price=price)

    def _is_optimal(self, row: Relaxation) -> bool:
        """Whether the point is feasible and attains its own dual bound; accumulated rounding breaks either."""
        pool = self._pool
        inside = np.clip(row.counts, 0.0, pool.capacity)
        off = float(np.abs(inside - row.counts).max()) + abs(float(inside.sum()) - pool.k)
        duality_gap = abs(row.bound - pool.fractional_similarity(inside))
        excess = float(np.linalg.norm(inside @ self._features)) - row.rho
        is_tight = duality_gap <= ACCURACY * max(1.0, abs(row.bound))
        return off <= ACCURACY and is_tight and excess <= ACCURACY * max(row.rho, self._scale)

    def _smallest_gap(self) -> float:
        return SMALLEST_GAP * float(np.abs(self._features).max(initial=0.0))

    def _at(self, line: Line, t: float, rho: float, steps: int) -> Relaxation:
        # z = v / t, which has a limit where v vanishes with t.
        z = line.v_slope
        if np.linalg.norm(line.v_start) > self._smallest_gap() and t > 0:
            z = line.gap(t) / t if np.isfinite(t) else np.zeros_like(line.v_slope)
        price, multiplier = self._features @ z, float(np.linalg.norm(z))
        return Relaxation(
            rho=rho,
            counts=line.counts(t) if np.isfinite(t) else self._path.counts.copy(),
            price=price,
            multiplier=multiplier,
            bound=similarity_bound(self._pool, price, multiplier, rho),
            rho_min=None,
            steps=steps,
            direction=z,
        )

    def _at_the_end(self, line: Line, rhos: list[float], steps: int) -> list[Relaxation]:
        """Rows of rhos that the path does not reach: infeasible, but for those within rounding of rho_min."""
        gap, counts = line.v_start, line.counts(0.0)
        price, multiplier = self._features @ gap, float(np.linalg.norm(gap))
        rho_min = rho_bound(self._pool, price, multiplier)
        smallest = SmallestRho(counts=counts, price=price, multiplier=multiplier, rho_min=rho_min)
        z = line.v_slope if multiplier <= self._smallest_gap() else gap * NEAR_THE_END
        price, multiplier = self._features @ z, float(np.linalg.norm(z))
        top = top_sum(self._pool.scores, self._pool.k)
        return [
            replace(smallest.infeasible(rho), steps=steps)
            if rho < rho_min
            else Relaxation(
                rho=rho,
                counts=counts,
                price=price,
                multiplier=multiplier,
                bound=min(top, similarity_bound(self._pool, price, multiplier, rho)),
                rho_min=rho_min,
                steps=steps,
                direction=z,
            )
            for rho in rhos
        ]
