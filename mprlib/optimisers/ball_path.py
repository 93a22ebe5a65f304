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

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.optimisers.ball_line import Breakpoint, Kind, Line, PathLost, affine_rank, perturbed
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation, SmallestRho, rho_bound, similarity_bound, top_sum

# Relative error above which a path is discarded: bounds are compared to 1e-6.
ACCURACY = 1e-8
# A feature whose distance from the free cells' affine hull is below this part of its length is in the hull.
DEPENDENCE = 1e-10
# A coefficient of a dependence below this is rounding error.
SMALLEST_COEFFICIENT = 1e-9
# Breakpoints per cell and item: a path has well under one; more means that it cycles.
LARGEST_BREAKPOINTS_PER_PLACE = 20
# A smallest |v| below this part of the longest feature is 0 but for rounding.
SMALLEST_GAP = 1e-12
# Likewise for M_g . v, relative to k squared features.
SMALLEST_CONSTANT = 1e-13
# The multiplier of a rho that exceeds rho_min by rounding alone: v / t at a t so small that v has no slope left.
NEAR_THE_END = 1e6


class BallPath:
    """The path over one pool, with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._size = pool.cell_count
        # Cells without items, such as those of the reference alone, have no part in the path.
        self._cells = np.flatnonzero(pool.capacity)
        if self._cells.size < self._size:
            features, pool = features[self._cells], pool.of_cells(self._cells)
        self._features = features
        self._squares = np.einsum("ij,ij->i", features, features)
        self._affine_rank = affine_rank(features)
        self._pool = pool
        self._scale = pool.k * float(self._squares.max(initial=0.0))
        scores, self._marginals = perturbed(pool)
        self._offset = pool.first + 2 * np.arange(pool.cell_count)
        best = np.lexsort((np.arange(scores.size), -scores))[: pool.k]
        self._counts: FloatArray = np.bincount(pool.cell[best], minlength=pool.cell_count).astype(float)
        last = int(best[-1])
        # The free cells, and the rank of each one's item that is selected in part.
        self._free = [int(pool.cell[last])]
        self._piece = [int(pool.rank[last])]

    def solve(self, rhos: list[float]) -> list[Relaxation]:
        """The relaxation for each rho, given falling.

        The path ends at the last rho; only a rho below rho_min follows it down to t = 0.
        Raises:  PathLost when an optimum does not attain its own bound, or breakpoints do not end.
        """
        limit = LARGEST_BREAKPOINTS_PER_PLACE * (self._pool.cell_count + self._pool.k)
        found: list[Relaxation] = []
        waiting = list(rhos)
        earlier, steps = np.inf, 0
        line = self._line()
        for _ in range(limit + 1):
            later, breakpoint_ = self._next_breakpoint(line, earlier)
            smallest = float(np.linalg.norm(line.gap(later))) if np.isfinite(later) else np.inf
            while waiting and waiting[0] >= smallest:
                rho = waiting.pop(0)
                found.append(replace(self._at(line, line.time_at(rho, earlier, later), rho), steps=steps))
                steps = 0
            if not waiting or breakpoint_ is None:
                break
            steps += 1
            self._counts = np.clip(line.counts(later), 0.0, self._pool.capacity)
            self._pass(breakpoint_, line)
            line = self._line()
            earlier = later
        else:
            raise PathLost
        if not all(self._is_optimal(row) for row in found):
            raise PathLost
        rows = found + self._at_the_end(line, waiting, steps) if waiting else found
        return [self._over_all_cells(row) for row in rows]

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

    def _line(self) -> Line:
        free = np.array(self._free)
        scores = self._marginals[self._offset[free] + 1 + np.array(self._piece)]
        return Line.through(self._counts, free, scores, self._features, self._pool.k)

    def _next_breakpoint(self, line: Line, earlier: float) -> tuple[float, Breakpoint | None]:
        """The largest t below the last breakpoint at which an inequality ends, and which; None when t reaches 0."""
        pieces = np.array(self._piece)
        place = self._offset + np.rint(self._counts).astype(np.intp)
        constant = self._features @ line.v_start + line.theta_start
        # At MPR 0 the constants at t = 0 are rounding error, and their breakpoints are not real.
        constant[np.abs(constant) <= SMALLEST_CONSTANT * self._scale] = 0.0
        if line.free.size >= self._affine_rank:
            # The free cells' equalities then determine theta + M_g . v for all cells: it is proportional to t.
            constant[:] = 0.0
        rate = self._features @ line.v_slope + line.theta_slope
        with np.errstate(divide="ignore", invalid="ignore"):
            up = (self._marginals[place + 1] - line.level) - rate
            entering = np.where((up < 0) & (constant < 0), constant / up, 0.0)
            down = (self._marginals[place] - line.level) - rate
            leaving = np.where((down > 0) & (constant > 0), constant / down, 0.0)
            end = np.where(line.slope > 0, pieces, pieces + 1)
            ending = np.where(line.slope != 0, (end - line.start) / line.slope, 0.0)
        entering[line.free] = 0.0
        leaving[line.free] = 0.0
        best: Breakpoint | None = None
        kinds: tuple[tuple[Kind, FloatArray], ...] = (("whole", ending), ("up", entering), ("down", leaving))
        for kind, times in kinds:
            at = int(np.argmax(times))
            if times[at] > (0.0 if best is None else best.t):
                best = Breakpoint(float(times[at]), kind, at)
        return min(0.0 if best is None else best.t, earlier), best

    def _pass(self, breakpoint_: Breakpoint, line: Line) -> None:
        """Update which cells are free at a breakpoint."""
        kind, at = breakpoint_.kind, breakpoint_.place
        if kind == "whole":
            self._fix(at, self._piece[at] + int(line.slope[at] <= 0))
            return
        step = 1.0 if kind == "up" else -1.0
        piece = round(self._counts[at]) - (kind == "down")
        border = np.append(self._features[line.free] @ self._features[at], 1.0)
        coefficients = line.inverse @ border
        own = self._squares[at]
        is_full = line.free.size >= self._affine_rank
        if not is_full and own - border @ coefficients > DEPENDENCE * max(own, np.max(self._squares[line.free])):
            self._free.append(at)
            self._piece.append(piece)
            return
        self._exchange(at, piece, step, -step * coefficients[:-1])

    def _exchange(self, at: int, piece: int, step: float, direction: FloatArray) -> None:
        """Move along a dependence, at constant v and objective, to the first count that becomes whole."""
        counts = self._counts[self._free]
        pieces = np.array(self._piece, dtype=float)
        room = np.where(direction > 0, pieces + 1 - counts, counts - pieces)
        size = np.abs(direction)
        lengths = np.maximum(room, 0.0) / np.maximum(size, SMALLEST_COEFFICIENT)
        lengths[size <= SMALLEST_COEFFICIENT] = np.inf
        first = int(np.argmin(lengths))
        length = min(1.0, float(lengths[first]))
        self._counts[self._free] = counts + length * direction
        if length == 1.0:
            self._counts[at] = piece + (step > 0)
            return
        self._counts[at] += step * length
        end = self._piece[first] + int(direction[first] > 0)
        self._free.append(at)
        self._piece.append(piece)
        self._fix(first, end)

    def _fix(self, position: int, count: int) -> None:
        self._counts[self._free[position]] = count
        del self._free[position], self._piece[position]

    def _smallest_gap(self) -> float:
        return SMALLEST_GAP * float(np.abs(self._features).max(initial=0.0))

    def _at(self, line: Line, t: float, rho: float) -> Relaxation:
        # z = v / t, which has a limit where v vanishes with t.
        z = line.v_slope
        if np.linalg.norm(line.v_start) > self._smallest_gap() and t > 0:
            z = line.gap(t) / t if np.isfinite(t) else np.zeros_like(line.v_slope)
        price, multiplier = self._features @ z, float(np.linalg.norm(z))
        return Relaxation(
            rho=rho,
            counts=line.counts(t) if np.isfinite(t) else self._counts.copy(),
            price=price,
            multiplier=multiplier,
            bound=similarity_bound(self._pool, price, multiplier, rho),
            rho_min=None,
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
            )
            for rho in rhos
        ]
