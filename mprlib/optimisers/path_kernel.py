"""Compiled walk of `ball_path`: from one breakpoint to the next, until |v| falls to a rho."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.inverse_kernel import inverse_of

# How a walk stops: on the line on which |v| falls to rho, at t = 0, or lost.
REACHED, ENDED, LOST = 0, 1, 2
# What ends a line: nothing, a free cell's count becomes whole, a cell's next item enters, its last one leaves.
NOTHING, WHOLE, UP, DOWN = 0, 1, 2, 3
# A feature whose distance from the free cells' affine hull is below this part of its length is in the hull.
DEPENDENCE = 1e-10
# A coefficient of a dependence below this is rounding error.
SMALLEST_COEFFICIENT = 1e-9
# M_g . v below this at t = 0, relative to k squared features, is 0 but for rounding.
SMALLEST_CONSTANT = 1e-13


class Ball(NamedTuple):
    """Cells with items.

    Shapes:  features (G, r), also as columns (r, G), by which sums over r of all cells are sums of neighbours; squares
             (G,) of their lengths; marginals (N + 2G,), offset (G,) as in `CellPool`; capacity (G,).
    rank: the most affinely independent cells. scale: k times the largest square.
    """

    k: int
    features: FloatArray
    columns: FloatArray
    squares: FloatArray
    marginals: FloatArray
    offset: IntArray
    capacity: FloatArray
    rank: int
    scale: float


class Path(NamedTuple):
    """Where the walk is; written over.

    Shapes:  counts (G,); free, piece (G + 1,), the free cells, as many as number[0], and the rank of the item of each
             that is selected in part; end (2,), what ends the line, and its place.
    """

    counts: FloatArray
    free: IntArray
    piece: IntArray
    number: IntArray
    end: IntArray


class Line(NamedTuple):
    """x, v and theta as linear functions of t, as in `ball_line.Line`; of start and slope the first ones count.

    Shapes:  base (G,); start, slope (G + 2,); v_start, v_slope (r,); theta (3,), level, start and slope;
             inverse (G + 2, G + 2) of the free cells' system, of which the first rows and columns count;
             products (G, G) of features, of which the rows with is_known (G,) count; lean, other_lean (G,), room.
    theta = start + t (level + slope), with level the score of the first free cell: scores enter as differences from
    it, since differences of tied scores would be lost in the scores' own rounding.
    """

    base: FloatArray
    start: FloatArray
    slope: FloatArray
    v_start: FloatArray
    v_slope: FloatArray
    theta: FloatArray
    inverse: FloatArray
    products: FloatArray
    is_known: IntArray
    lean: FloatArray
    other_lean: FloatArray


@uncounted
def dot(left: FloatArray, right: FloatArray) -> float:
    """Their product, summed in order."""
    total = 0.0
    for place in range(left.size):
        total += left[place] * right[place]
    return total


@uncounted
def leaned(ball: Ball, vector: FloatArray, found: FloatArray) -> None:
    """Products (G,) of all features with a vector (r,), each summed in order."""
    found[:] = 0.0
    for column in range(vector.size):
        factor = vector[column]
        for cell in range(found.size):
            found[cell] += factor * ball.columns[column, cell]


@uncounted
def know(ball: Ball, line: Line, cell: int) -> None:
    """Have a cell's products at hand: it may be free on many lines."""
    if line.is_known[cell] == 0:
        leaned(ball, ball.features[cell], line.products[cell])
        line.is_known[cell] = 1


@compiled
def line_through(ball: Ball, path: Path, line: Line) -> bool:
    """The line on which the free cells are free; False where their system has no inverse."""
    size, rank = path.number[0], ball.features.shape[1]
    line.base[:] = path.counts
    for place in range(size):
        line.base[path.free[place]] = 0.0
    line.v_start[:] = 0.0
    taken = 0.0
    for cell in range(line.base.size):
        if line.base[cell] != 0.0:
            taken += line.base[cell]
            for column in range(rank):
                line.v_start[column] += line.base[cell] * ball.features[cell, column]
    system, right = np.ones((size + 1, size + 1)), np.empty((size + 1, 2))
    system[size, size] = 0.0
    level = 0.0
    leaned(ball, line.v_start, line.lean)
    for place in range(size):
        cell = path.free[place]
        know(ball, line, cell)
        for other in range(place + 1):
            system[place, other] = system[other, place] = line.products[cell, path.free[other]]
        score = ball.marginals[ball.offset[cell] + 1 + path.piece[place]]
        if place == 0:
            level = score
        right[place, 0], right[place, 1] = -line.lean[cell], score - level
    right[size, 0], right[size, 1] = ball.k - taken, 0.0
    inverse = line.inverse[: size + 1, : size + 1]
    if not inverse_of(system, inverse):
        return False
    line.v_slope[:] = 0.0
    for place in range(size + 1):
        start, slope = 0.0, 0.0
        for other in range(size + 1):
            start += inverse[place, other] * right[other, 0]
            slope += inverse[place, other] * right[other, 1]
        line.start[place], line.slope[place] = start, slope
        if place < size:
            for column in range(rank):
                line.v_start[column] += start * ball.features[path.free[place], column]
                line.v_slope[column] += slope * ball.features[path.free[place], column]
    line.theta[0], line.theta[1], line.theta[2] = level, line.start[size], line.slope[size]
    return True


@uncounted
def next_breakpoint(ball: Ball, path: Path, line: Line, is_free: IntArray) -> float:
    """The largest t at which an inequality ends, 0 where none does; which one goes into the path."""
    size = path.number[0]
    path.end[0], best = NOTHING, 0.0
    for place in range(size):
        slope = line.slope[place]
        if slope != 0.0:
            whole = path.piece[place] if slope > 0.0 else path.piece[place] + 1
            time = (whole - line.start[place]) / slope
            if time > best:
                best, path.end[0], path.end[1] = time, WHOLE, place
    # The free cells' equalities then determine theta + M_g . v for all cells: it is proportional to t.
    is_proportional = size >= ball.rank
    if is_proportional:
        return best
    leaned(ball, line.v_start, line.lean)
    leaned(ball, line.v_slope, line.other_lean)
    best_down, at_down = 0.0, -1
    for cell in range(path.counts.size):
        if is_free[cell] == 1:
            continue
        constant = line.lean[cell] + line.theta[1]
        # At MPR 0 the constants at t = 0 are rounding error, and their breakpoints are not real.
        if abs(constant) <= SMALLEST_CONSTANT * ball.scale:
            continue
        rate = line.other_lean[cell] + line.theta[2]
        at = ball.offset[cell] + int(np.rint(path.counts[cell]))
        if constant < 0.0:
            up = (ball.marginals[at + 1] - line.theta[0]) - rate
            if up < 0.0 and constant / up > best:
                best, path.end[0], path.end[1] = constant / up, UP, cell
        else:
            down = (ball.marginals[at] - line.theta[0]) - rate
            if down > 0.0 and constant / down > best_down:
                best_down, at_down = constant / down, cell
    if best_down > best:
        best, path.end[0], path.end[1] = best_down, DOWN, at_down
    return best


@uncounted
def fix(path: Path, place: int, count: float) -> None:
    """A free cell with this count is free no more."""
    path.counts[path.free[place]] = count
    path.number[0] -= 1
    for later in range(place, path.number[0]):
        path.free[later], path.piece[later] = path.free[later + 1], path.piece[later + 1]


@uncounted
def set_free(path: Path, cell: int, piece: int) -> None:
    """One more free cell, at this item."""
    path.free[path.number[0]], path.piece[path.number[0]] = cell, piece
    path.number[0] += 1


@uncounted
def exchange(path: Path, cell: int, piece: int, step: float, coefficients: FloatArray) -> None:
    """Move along a dependence, at constant v and objective, to the first count that becomes whole."""
    size = path.number[0]
    first, shortest = -1, np.inf
    for place in range(size):
        direction, count = -step * coefficients[place], path.counts[path.free[place]]
        if abs(direction) > SMALLEST_COEFFICIENT:
            room = path.piece[place] + 1 - count if direction > 0.0 else count - path.piece[place]
            length = max(room, 0.0) / abs(direction)
            if length < shortest:
                first, shortest = place, length
    length = min(1.0, shortest)
    for place in range(size):
        path.counts[path.free[place]] -= length * step * coefficients[place]
    if length == 1.0:
        path.counts[cell] = piece + 1 if step > 0.0 else piece
        return
    path.counts[cell] += step * length
    end = path.piece[first] + 1 if -step * coefficients[first] > 0.0 else path.piece[first]
    set_free(path, cell, piece)
    fix(path, first, end)


@compiled
def pass_end(ball: Ball, path: Path, line: Line) -> None:
    """Update which cells are free at the end of a line."""
    kind, at, size = path.end[0], path.end[1], path.number[0]
    if kind == WHOLE:
        fix(path, at, path.piece[at] if line.slope[at] > 0.0 else path.piece[at] + 1)
        return
    piece = int(np.rint(path.counts[at])) - (1 if kind == DOWN else 0)
    border, coefficients = np.ones(size + 1), np.empty(size + 1)
    largest = ball.squares[at]
    know(ball, line, at)
    for place in range(size):
        border[place] = line.products[at, path.free[place]]
        largest = max(largest, ball.squares[path.free[place]])
    for place in range(size + 1):
        coefficients[place] = dot(line.inverse[place, : size + 1], border)
    if size < ball.rank and ball.squares[at] - dot(border, coefficients) > DEPENDENCE * largest:
        set_free(path, at, piece)
        return
    exchange(path, at, piece, 1.0 if kind == UP else -1.0, coefficients)


@compiled
def walk(ball: Ball, path: Path, line: Line, rho: float, earlier: float, steps: int) -> tuple[int, float, float, int]:
    """Go on from the end of the last line to the line on which |v| falls to rho, and its end.

    Returns: how it stopped, the t at which the line begins and ends, and the breakpoints that were passed.
    """
    is_free = np.zeros(path.counts.size, np.int64)
    for passed in range(steps + 1):
        if path.end[0] != NOTHING:
            for cell in range(path.counts.size):
                path.counts[cell] = line.base[cell]
            for place in range(path.number[0]):
                path.counts[path.free[place]] = line.start[place] + earlier * line.slope[place]
            for cell in range(path.counts.size):
                path.counts[cell] = min(max(path.counts[cell], 0.0), ball.capacity[cell])
            pass_end(ball, path, line)
        if not line_through(ball, path, line):
            return LOST, earlier, 0.0, passed
        is_free[:] = 0
        for place in range(path.number[0]):
            is_free[path.free[place]] = 1
        later = min(next_breakpoint(ball, path, line, is_free), earlier)
        square = 0.0
        for column in range(line.v_start.size):
            own = line.v_start[column] + later * line.v_slope[column]
            square += own * own
        if rho >= np.sqrt(square):
            return REACHED, earlier, later, passed
        if path.end[0] == NOTHING:
            return ENDED, earlier, later, passed
        earlier = later
    return LOST, earlier, 0.0, steps
