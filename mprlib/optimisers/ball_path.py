"""The relaxation of a ball for every rho at once: an exact walk along its solutions, without a solver.

With centred features M_g (see `region`) and v = sum_g x_g M_g the relaxation is

    maximise  sum_g F_g(x_g)   subject to  sum_g x_g = k,  |v| <= rho,  0 <= x_g <= capacity_g.

Its optima are those of  sum_g F_g(x_g) - |v|^2 / (2 t)  for falling t: the multipliers are
z = v / t for the ball and theta / t for the sum, and x is optimal when

    t * winning_g  <=  theta + M_g . v  <=  t * losing_g          for every cell,

F_g being piecewise linear. Call a cell free while it lies inside a piece of slope s_g, where both
sides are equalities. The free cells then solve a linear system whose right-hand side is linear in t,

    sum_{h free} (M_g . M_h) x_h + theta = t s_g - M_g . v_fixed,     sum_{h free} x_h = k - fixed,

so x, theta and v are linear in t until a free cell reaches the end of its piece or a fixed cell's
inequality turns into an equality. Those events are taken one by one from t = infinity (the top-k
set) to t = 0, where |v| is rho_min. Free cells stay affinely independent, at most r + 1 of them:
a cell that depends on the others moves along the dependence, at the same t and v, until a cell
takes its place. Ties in score, which could stall the walk, are broken by a perturbation that the
bounds never see: they are evaluated anew at z, on the scores as given.

Worked example: two cells of one item each, scores 1 and 0, k = 1, M = (1, -1). Top-k has v = 1. From
t = 2 on both cells are free: theta + v = t and theta - v = 0, v = t / 2, x = (1/2 + t/4, 1/2 - t/4).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mprlib.optimisers.ball_line import Line, affine_rank, perturbed
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation, rho_bound, similarity_bound, top_sum
from mprlib.problem import FloatArray

# Relative errors at which a walk is given up: bounds are compared to 1e-6.
ACCURACY = 1e-8
# A feature this much nearer to the free cells' affine hull than its own length lies in it.
DEPENDENCE = 1e-10
# Coefficients of a dependence below this are rounding.
SMALLEST_COEFFICIENT = 1e-9
# Events a cell and item: a walk takes well under one; more means that it runs in circles.
LARGEST_EVENTS_PER_PLACE = 20
# A smallest |v| below this part of the longest feature is 0, rounded.
LOWEST_GAP = 1e-12
# Likewise for M_g . v beside k squared features.
LOWEST_CONSTANT = 1e-13


class BallPath:
    """The walk over one pool, with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._size = pool.cell_count
        # Cells without items, such as those of the reference alone, have no part in the walk.
        self._cells = np.flatnonzero(pool.capacity)
        if self._cells.size < self._size:
            features, pool = features[self._cells], pool.of_cells(self._cells)
        self._features = features
        self._squares = np.einsum("ij,ij->i", features, features)
        self._affine_rank = affine_rank(features)
        self._pool = pool
        self._unit = pool.k * float(self._squares.max(initial=0.0))
        scores, ladder = perturbed(pool)
        self._scores = scores
        self._ladder = ladder
        self._offset = pool.first + 2 * np.arange(pool.cell_count)
        best = np.lexsort((np.arange(scores.size), -scores))[: pool.k]
        self._counts = np.bincount(pool.cell[best], minlength=pool.cell_count).astype(float)
        last = int(best[-1])
        # The free cells, and for each the item that it is taking a part of.
        self._free = [int(pool.cell[last])]
        self._piece = [int(pool.rank[last])]
        self.event_count = 0

    def walk(self, rhos: list[float]) -> list[Relaxation] | None:
        """The relaxation for each rho, given falling; None when the walk lost its way.

        It ends with the last rho; only a rho out of reach takes it down to t = 0 and rho_min.
        """
        pool = self._pool
        limit = LARGEST_EVENTS_PER_PLACE * (pool.cell_count + pool.k)
        found: list[Relaxation] = []
        waiting = list(rhos)
        earlier = np.inf
        line = self._line()
        while True:
            later, event = self._next_event(line, earlier)
            lowest = float(np.linalg.norm(line.gap(later))) if np.isfinite(later) else np.inf
            while waiting and waiting[0] >= lowest:
                rho = waiting.pop(0)
                found.append(self._at(line, line.time_at(rho, earlier, later), rho))
            if not waiting or event is None:
                break
            self.event_count += 1
            if self.event_count > limit:
                return None
            self._counts = np.clip(line.counts(later), 0.0, self._pool.capacity)
            self._take(event, line)
            line = self._line()
            earlier = later
        if not all(self._is_optimal(row) for row in found):
            return None
        rows = found + self._out_of_reach(line, waiting) if waiting else found
        return [self._over_all_cells(row) for row in rows]

    def _over_all_cells(self, row: Relaxation) -> Relaxation:
        if self._cells.size == self._size:
            return row
        counts, price = np.zeros(self._size), np.zeros(self._size)
        counts[self._cells], price[self._cells] = row.counts, row.price
        return replace(row, counts=counts, price=price)

    def _is_optimal(self, row: Relaxation) -> bool:
        """Whether the point attains its own bound: what rounding on the way would break."""
        pool = self._pool
        inside = np.clip(row.counts, 0.0, pool.capacity)
        off = float(np.abs(inside - row.counts).max()) + abs(float(inside.sum()) - pool.k)
        gap = abs(row.bound - pool.fractional_similarity(inside))
        excess = float(np.linalg.norm(inside @ self._features)) - row.rho
        is_tight = gap <= ACCURACY * max(1.0, abs(row.bound))
        return off <= ACCURACY and is_tight and excess <= ACCURACY * max(row.rho, self._unit)

    def _line(self) -> Line:
        features, free = self._features, np.array(self._free)
        base = self._counts.copy()
        base[free] = 0.0
        size = free.size
        system = np.ones((size + 1, size + 1))
        own = self._features[free]
        system[:size, :size] = own @ own.T
        system[size, size] = 0.0
        inverse = np.linalg.inv(system)
        v_fixed = base @ features
        right = np.empty((size + 1, 2))
        right[:size, 0] = -(own @ v_fixed)
        right[size, 0] = self._pool.k - base.sum()
        scores = self._ladder[self._offset[free] + 1 + np.array(self._piece)]
        level = scores[0]
        right[:size, 1] = scores - level
        right[size, 1] = 0.0
        solved = inverse @ right
        moved = own.T @ solved[:size]
        return Line(
            free=free,
            base=base,
            start=solved[:size, 0],
            slope=solved[:size, 1],
            v_start=v_fixed + moved[:, 0],
            v_slope=moved[:, 1],
            level=float(level),
            theta_start=float(solved[size, 0]),
            theta_slope=float(solved[size, 1]),
            inverse=inverse,
        )

    def _next_event(self, line: Line, earlier: float) -> tuple[float, tuple[str, int] | None]:
        """The largest t below the last event's at which an inequality ends, and which."""
        pieces = np.array(self._piece)
        place = self._offset + np.rint(self._counts).astype(np.intp)
        constant = self._features @ line.v_start + line.theta_start
        # At MPR 0 what is left at t = 0 is rounding, and its events are not real.
        constant[np.abs(constant) <= LOWEST_CONSTANT * self._unit] = 0.0
        if line.free.size >= self._affine_rank:
            # The free cells' equalities then settle those of all cells: prices stand still.
            constant[:] = 0.0
        rate = self._features @ line.v_slope + line.theta_slope
        with np.errstate(divide="ignore", invalid="ignore"):
            up = (self._ladder[place + 1] - line.level) - rate
            entering = np.where((up < 0) & (constant < 0), constant / up, 0.0)
            down = (self._ladder[place] - line.level) - rate
            leaving = np.where((down > 0) & (constant > 0), constant / down, 0.0)
            end = np.where(line.slope > 0, pieces, pieces + 1)
            ending = np.where(line.slope != 0, (end - line.start) / line.slope, 0.0)
        entering[line.free] = 0.0
        leaving[line.free] = 0.0
        best: tuple[float, tuple[str, int] | None] = (0.0, None)
        for kind, times in (("end", ending), ("up", entering), ("down", leaving)):
            at = int(np.argmax(times))
            if times[at] > best[0]:
                best = (float(times[at]), (kind, at))
        return min(best[0], earlier), best[1]

    def _take(self, event: tuple[str, int], line: Line) -> None:
        kind, at = event
        if kind == "end":
            self._fix(at, self._piece[at] + (line.slope[at] <= 0))
            return
        step = 1.0 if kind == "up" else -1.0
        piece = int(round(self._counts[at])) - (kind == "down")
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
        """Move along a dependence, at no change of v or of the merit, to the first end of a piece."""
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
        end = self._piece[first] + (direction[first] > 0)
        self._free.append(at)
        self._piece.append(piece)
        self._fix(first, end)

    def _fix(self, position: int, count: int) -> None:
        self._counts[self._free[position]] = count
        del self._free[position], self._piece[position]

    def _at(self, line: Line, t: float, rho: float) -> Relaxation:
        # z = v / t, which has a limit where v vanishes with t.
        vanishes = np.linalg.norm(line.v_start) <= LOWEST_GAP * np.abs(self._features).max(initial=0.0)
        price_direction = line.v_slope
        if not (vanishes or t <= 0):
            price_direction = line.gap(t) / t if np.isfinite(t) else np.zeros_like(line.v_slope)
        price = self._features @ price_direction
        multiplier = float(np.linalg.norm(price_direction))
        return Relaxation(
            rho=rho,
            counts=line.counts(t) if np.isfinite(t) else self._counts.copy(),
            price=price,
            multiplier=multiplier,
            bound=similarity_bound(self._pool, price, multiplier, rho),
            rho_min=None,
        )

    def _out_of_reach(self, line: Line, rhos: list[float]) -> list[Relaxation]:
        """Rows below the last point: infeasible, all but those within its rounding."""
        gap = line.v_start
        price, multiplier = self._features @ gap, float(np.linalg.norm(gap))
        rho_min = rho_bound(self._pool, price, multiplier)
        rows = []
        # Above rho_min by rounding only: the multipliers' limit, or a point close to it.
        limit = line.v_slope if multiplier <= LOWEST_GAP * np.abs(self._features).max(initial=0.0) else gap * 1e6
        near_price, near_multiplier = self._features @ limit, float(np.linalg.norm(limit))
        for rho in rhos:
            is_infeasible = rho < rho_min
            rows.append(
                Relaxation(
                    rho=rho,
                    counts=line.counts(0.0),
                    price=price if is_infeasible else near_price,
                    multiplier=multiplier if is_infeasible else near_multiplier,
                    bound=None
                    if is_infeasible
                    else min(
                        top_sum(self._pool.scores, self._pool.k),
                        similarity_bound(self._pool, near_price, near_multiplier, rho),
                    ),
                    rho_min=rho_min,
                )
            )
        return rows
