"""Compiled parts of `ball_path` around the walk: where it starts, the lines on which rhos are reached, and a check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.cell_pool_kernel import take_best
from mprlib.optimisers.path_kernel import ENDED, LOST, NOTHING, Ball, Line, Path, dot, walk

# Squared distances of an elimination, in parts of the largest: above the first, a cell is independent of those before;
# below the second, all others depend on them. Between the two, rounding is too near to tell.
INDEPENDENT, DEPENDENT = 1e-9, 1e-15


class Points(NamedTuple):
    """The lines on which |v| falls to each rho, and one more: the last one, where the path does not reach them all.

    Shapes:  constant, rate (R + 1, G): counts are constant + t rate; v_start, v_slope (R + 1, r); begin, end (R + 1,),
             the t between which a line is followed; steps (R + 1,), breakpoints passed on the way.
    """

    constant: FloatArray
    rate: FloatArray
    v_start: FloatArray
    v_slope: FloatArray
    begin: FloatArray
    end: FloatArray
    steps: IntArray


@compiled
def squares_of(features: FloatArray) -> FloatArray:
    """Squared lengths (G,)."""
    found = np.empty(features.shape[0])
    for cell in range(found.size):
        found[cell] = dot(features[cell], features[cell])
    return found


@compiled
def affine_rank(features: FloatArray, squares: FloatArray) -> int:
    """The largest number of affinely independent cells; -1 where elimination cannot tell."""
    columns = features.shape[1] + 1
    length = max(np.sqrt(squares.max()), 0.0)
    scale = 1.0 / length if length > 0.0 else 1.0
    gram, own = np.zeros((columns, columns)), np.ones(columns)
    for cell in range(features.shape[0]):
        for column in range(columns - 1):
            own[column] = scale * features[cell, column]
        for row in range(columns):
            for column in range(row + 1):
                gram[row, column] += own[row] * own[column]
    return rank_of(gram)


@compiled
def rank_of(gram: FloatArray) -> int:
    """The rank of a Gram matrix, of which the lower half is read, by elimination with diagonal pivots."""
    size, first = gram.shape[0], 0.0
    left = np.arange(size)
    for step in range(size):
        best = step
        for place in range(step + 1, size):
            if gram[left[place], left[place]] > gram[left[best], left[best]]:
                best = place
        left[step], left[best] = left[best], left[step]
        pivot = left[step]
        square = gram[pivot, pivot]
        if step == 0:
            first = square
        if square <= INDEPENDENT * first:
            return step if square <= DEPENDENT * first else -1
        for place in range(step + 1, size):
            row = left[place]
            factor = (gram[row, pivot] if row > pivot else gram[pivot, row]) / square
            for other in range(step + 1, place + 1):
                column = left[other]
                value = gram[column, pivot] if column > pivot else gram[pivot, column]
                if row >= column:
                    gram[row, column] -= factor * value
                else:
                    gram[column, row] -= factor * value
    return int(size)


@compiled
def described(features: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Features (G, r) as columns (r, G), their squared lengths, and their affine rank, or -1."""
    squares = squares_of(features)
    return features.T.copy(), squares, affine_rank(features, squares)


@compiled
def top(ball: Ball) -> Path:
    """The path's start: the k best items, the last of them free."""
    cells = ball.capacity.size
    taken = np.zeros(cells, np.int64)
    last = take_best(ball.marginals, ball.offset, ball.k, taken)
    path = Path(
        taken.astype(np.float64),
        np.zeros(cells + 1, np.int64),
        np.zeros(cells + 1, np.int64),
        np.ones(1, np.int64),
        np.zeros(2, np.int64),
    )
    path.free[0], path.piece[0] = last, taken[last] - 1
    return path


@compiled
def room(ball: Ball) -> Line:
    """Room for a line."""
    cells, columns = ball.features.shape
    return Line(
        np.zeros(cells),
        np.zeros(cells + 2),
        np.zeros(cells + 2),
        np.zeros(columns),
        np.zeros(columns),
        np.zeros(3),
        np.zeros((cells + 2, cells + 2)),
        np.empty((cells, cells)),
        np.zeros(cells, np.int64),
        np.empty(cells),
        np.empty(cells),
    )


@compiled
def record(path: Path, line: Line, points: Points, row: int, begin: float, end: float, steps: int) -> None:
    """Keep the line that the walk is on."""
    points.constant[row], points.rate[row] = line.base, 0.0
    if np.isfinite(end):
        for place in range(path.number[0]):
            points.constant[row, path.free[place]] = line.start[place]
            points.rate[row, path.free[place]] = line.slope[place]
    else:
        points.constant[row] = path.counts
    points.v_start[row], points.v_slope[row] = line.v_start, line.v_slope
    points.begin[row], points.end[row], points.steps[row] = begin, end, steps


@compiled
def points_of(ball: Ball, rhos: FloatArray, most: int, points: Points) -> int:
    """How many of the rhos (R,), which fall, the path reaches; -1 where rounding has taken it off its optima.

    Where it does not reach all, it was followed to its end, and the line after those that were reached is its last.
    most: breakpoints before it is taken to cycle.
    """
    path, line = top(ball), room(ball)
    earlier, left, found = np.inf, most, 0
    while found < rhos.size:
        how, begin, end, passed = walk(ball, path, line, rhos[found], earlier, left)
        left -= passed
        if how == LOST or left < 0:
            return -1
        if how == ENDED:
            record(path, line, points, found, begin, end, passed)
            break
        square = 0.0
        for column in range(line.v_start.size):
            gap = line.v_start[column] + end * line.v_slope[column]
            square += gap * gap
        record(path, line, points, found, begin, end, passed)
        found += 1
        while found < rhos.size and rhos[found] >= np.sqrt(square):
            record(path, line, points, found, begin, end, 0)
            found += 1
        if found < rhos.size and path.end[0] == NOTHING:
            record(path, line, points, found, begin, end, 0)
            break
        earlier = end
        left -= 1
    return found


@uncounted
def top_sum(ball: Ball, marginals: FloatArray, price: FloatArray, head: FloatArray, taken: IntArray) -> float:
    """The sum of the k largest scores, as given, less their cells' prices (G,); head, taken (G,) are written over."""
    for cell in range(head.size):
        taken[cell] = 0
        head[cell] = marginals[ball.offset[cell] + 1] - price[cell]
    total = 0.0
    for _ in range(ball.k):
        best = 0
        for cell in range(1, head.size):
            if head[cell] > head[best]:
                best = cell
        total += head[best]
        taken[best] += 1
        head[best] = marginals[ball.offset[best] + 1 + taken[best]] - price[best]
    return total


@compiled
def bounds_of(ball: Ball, marginals: FloatArray, prices: FloatArray, limits: FloatArray) -> FloatArray:
    """Dual bounds (R,) on the similarity of selections, as `relaxation.similarity_bound` has them.

    Shapes:  marginals (N + 2G,) of the scores as given; prices (R, G); limits (R, 2), multipliers and rhos.
    """
    head, taken = np.empty(prices.shape[1]), np.empty(prices.shape[1], np.int64)
    found = np.empty(prices.shape[0])
    for row in range(found.size):
        found[row] = top_sum(ball, marginals, prices[row], head, taken) + limits[row, 1] * limits[row, 0]
    return found


@compiled
def are_optimal(
    ball: Ball, given: tuple[FloatArray, FloatArray, IntArray], counts: FloatArray, limits: FloatArray, accuracy: float
) -> bool:
    """Whether points, counts (R, G), are feasible and attain their own dual bounds; accumulated rounding breaks either.

    given: marginals (N + 2G,) and sums of the scores as given, and where a cell's sums start; limits (R, 2), bounds and
    rhos.
    """
    marginals, sums, starts = given
    gap = np.empty(ball.features.shape[1])
    for row in range(counts.shape[0]):
        bound, rho = limits[row, 0], limits[row, 1]
        off, total, similarity = 0.0, 0.0, 0.0
        gap[:] = 0.0
        for cell in range(counts.shape[1]):
            inside = min(max(counts[row, cell], 0.0), ball.capacity[cell])
            off = max(off, abs(inside - counts[row, cell]))
            if inside == 0.0:
                continue
            total += inside
            whole = int(np.floor(inside))
            part = inside - whole
            similarity += sums[starts[cell] + whole]
            if part > 0.0:
                similarity += part * marginals[ball.offset[cell] + 1 + whole]
            for column in range(gap.size):
                gap[column] += inside * ball.features[cell, column]
        excess = np.sqrt(dot(gap, gap)) - rho
        # Negated, so that what is no number is not optimal.
        if not off + abs(total - ball.k) <= accuracy or not excess <= accuracy * max(rho, ball.scale):
            return False
        if not abs(bound - similarity) <= accuracy * max(1.0, abs(bound)):
            return False
    return True
