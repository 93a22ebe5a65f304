"""Compiled loops of `ball_search`: steepest ascent by moves of one item in a ball, then by pairs of moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.feature_columns_kernel import columns_of, products_of
from mprlib.optimisers.near_kernel import distances, margin
from mprlib.optimisers.sorting_kernel import nth, order_of

# Squares that differ by less than this part may be the same root by rounding.
NEARLY = 1.0 + 1e-9


class Ball(NamedTuple):
    """A ball over cells, and their scores.

    Shapes:  features (G, r); columns (r, c) and products (c, c), of the cells (c,) between which items move; marginals
             (N + 2G,), offset (G,) of a cell's last loss when no item is selected; sums (N + G,), first (G,);
             price (G,).
    """

    k: int
    features: FloatArray
    cells: IntArray
    columns: FloatArray
    products: FloatArray
    marginals: FloatArray
    offset: IntArray
    sums: FloatArray
    first: IntArray
    price: FloatArray


class Limits(NamedTuple):
    """rho; first penalty and its growth; a similarity that pairs need not improve; limits of steps."""

    rho: float
    penalty: float
    growth: float
    enough: float
    smallest_gain: float
    ascents: int
    moves: int
    moves_in_pairs: int
    pair_steps: int


class Here(NamedTuple):
    """At counts (G,): v (r,), M_g . v, next gain and last loss of each moving cell (c,)."""

    counts: IntArray
    gap: FloatArray
    lean: FloatArray
    gain: FloatArray
    loss: FloatArray


class Pairs(NamedTuple):
    """The cheapest moves.  Shapes: giving, taking (w,), places among the cells; cost, single (w,)."""

    giving: IntArray
    taking: IntArray
    cost: FloatArray
    single: FloatArray


@uncounted
def refresh(ball: Ball, here: Here) -> float:
    """v and what depends on it, summed anew; |v|^2."""
    here.gap[:] = 0.0
    for cell in range(here.counts.size):
        if here.counts[cell] != 0:
            for column in range(here.gap.size):
                here.gap[column] += here.counts[cell] * ball.features[cell, column]
    here.lean[:] = 0.0
    for column in range(here.gap.size):
        for place in range(here.lean.size):
            here.lean[place] += ball.columns[column, place] * here.gap[column]
    for place in range(ball.cells.size):
        cell = ball.cells[place]
        at = ball.offset[cell] + here.counts[cell]
        here.loss[place] = ball.marginals[at]
        here.gain[place] = ball.marginals[at + 1]
    square = 0.0
    for column in range(here.gap.size):
        square += here.gap[column] * here.gap[column]
    return square


@uncounted
def similarity(ball: Ball, counts: IntArray) -> float:
    """Total similarity of counts."""
    total: float = 0.0
    for cell in range(counts.size):
        total += ball.sums[ball.first[cell] + counts[cell]]
    return total


@uncounted
def merit(gain: float, square: float, value: float, limits: Limits, penalty: float) -> float:
    """Gain in merit of a move to |v|^2 = square; -inf for one from inside rho to outside."""
    after = float(np.sqrt(max(square, 0.0)))
    if value <= limits.rho:
        return gain if after <= limits.rho else -np.inf
    return gain - penalty * (max(after - limits.rho, 0.0) - (value - limits.rho))


@uncounted
def reach_of(value: float, limits: Limits, penalty: float) -> float:
    """|v| that one unit of similarity pays for outside rho; infinite where it pays for any, -1 inside."""
    if value <= limits.rho:
        return -1.0
    return 1.0 / penalty if penalty > 0.0 else np.inf


@uncounted
def is_worse(more: float, square: float, value: float, rho: float, reach: float) -> bool:
    """Whether a move to |v|^2 = square that gains `more` than the best one is no better: told without a root.

    Inside rho more is positive.
    """
    if reach < 0.0:
        return square > rho * rho * NEARLY
    most = value + more * reach
    return most * NEARLY < rho or square > most * most * NEARLY


@uncounted
def best_move(ball: Ball, here: Here, square: float, limits: Limits, penalty: float) -> tuple[int, int]:
    """The move that improves merit most, as places among the cells; -1 where none does."""
    best, giving, taking = limits.smallest_gain, -1, -1
    value = np.sqrt(square)
    part = reach_of(value, limits, penalty)
    for a in range(ball.cells.size):
        if here.loss[a] == np.inf:
            continue
        base = square - 2.0 * here.lean[a] + ball.products[a, a]
        for b in range(ball.cells.size):
            gain = here.gain[b] - here.loss[a]
            if a == b or gain == -np.inf or (part < 0.0 and gain <= best):
                continue
            after = base + 2.0 * here.lean[b] + ball.products[b, b] - 2.0 * ball.products[a, b]
            if is_worse(gain - best, after, value, limits.rho, part):
                continue
            own = merit(gain, after, value, limits, penalty)
            if own > best:
                best, giving, taking = own, a, b
    return giving, taking


@compiled
def cheapest_moves(ball: Ball, here: Here, size: int) -> Pairs:
    """The possible moves that lose least at the prices, in order of their places."""
    cells = ball.cells.size
    own, others = np.empty(cells), np.empty(cells)
    for place in range(cells):
        own[place] = here.loss[place] - ball.price[ball.cells[place]]
        others[place] = here.gain[place] - ball.price[ball.cells[place]]
    costs, count = np.empty(cells * cells), 0
    for a in range(cells):
        for b in range(cells):
            cost = own[a] - others[b]
            if a != b and cost < np.inf:
                costs[count] = cost
                count += 1
    limit = nth(costs, count, size - 1) if size < count else np.inf
    size = min(size, count)
    giving, taking = np.zeros(size, np.int64), np.zeros(size, np.int64)
    found, single = np.zeros(size), np.zeros(size)
    count = 0
    for move in range(cells * cells):
        a, b = move // cells, move % cells
        cost = own[a] - others[b]
        if a != b and cost <= limit and cost < np.inf and count < size:
            giving[count], taking[count], found[count] = a, b, cost
            step = ball.products[a, a] + ball.products[b, b] - 2.0 * ball.products[a, b]
            single[count] = step + 2.0 * (here.lean[b] - here.lean[a])
            count += 1
    return Pairs(giving[:count], taking[:count], found[:count], single[:count])


@compiled
def best_pair(ball: Ball, here: Here, square: float, limits: Limits, penalty: float) -> tuple[int, int, int, int]:
    """Two moves without a common cell that improve merit most together; -1 where none do."""
    pairs = cheapest_moves(ball, here, limits.moves_in_pairs)
    best, chosen = limits.smallest_gain, (-1, -1, -1, -1)
    value = np.sqrt(square)
    part = reach_of(value, limits, penalty)
    for x in range(pairs.giving.size):
        a, b = pairs.giving[x], pairs.taking[x]
        gain = here.gain[b] - here.loss[a]
        for y in range(x + 1, pairs.giving.size):
            c, d = pairs.giving[y], pairs.taking[y]
            both = gain + here.gain[d] - here.loss[c]
            if (part < 0.0 and both <= best) or a in (c, d) or b in (c, d):
                continue
            cross = ball.products[b, d] - ball.products[b, c] - ball.products[a, d] + ball.products[a, c]
            after = square + pairs.single[x] + pairs.single[y] + 2.0 * cross
            if is_worse(both - best, after, value, limits.rho, part):
                continue
            own = merit(both, after, value, limits, penalty)
            if own > best:
                best, chosen = own, (a, b, c, d)
    return chosen


@compiled
def ascend(ball: Ball, here: Here, limits: Limits, penalty: float) -> float:
    """Counts that no move improves at this penalty, in place; |v|^2."""
    square = refresh(ball, here)
    pair_steps = 0
    for _ in range(limits.moves):
        giving, taking = best_move(ball, here, square, limits, penalty)
        if giving >= 0:
            here.counts[ball.cells[giving]] -= 1
            here.counts[ball.cells[taking]] += 1
            square = refresh(ball, here)
            continue
        is_enough = np.sqrt(square) <= limits.rho and similarity(ball, here.counts) >= limits.enough
        if pair_steps >= limits.pair_steps or is_enough:
            break
        pair_steps += 1
        a, b, c, d = best_pair(ball, here, square, limits, penalty)
        if a < 0:
            break
        here.counts[ball.cells[a]] -= 1
        here.counts[ball.cells[b]] += 1
        here.counts[ball.cells[c]] -= 1
        here.counts[ball.cells[d]] += 1
        square = refresh(ball, here)
    return square


@compiled
def optimum(ball: Ball, limits: Limits, counts: IntArray) -> None:
    """A local optimum from counts (G,), in place; an ascent that ends outside rho goes on with a larger penalty."""
    moving, columns = ball.cells.size, ball.features.shape[1]
    here = Here(counts, np.zeros(columns), np.zeros(moving), np.zeros(moving), np.zeros(moving))
    penalty = limits.penalty
    for _ in range(limits.ascents):
        if np.sqrt(ascend(ball, here, limits, penalty)) <= limits.rho:
            return
        penalty *= limits.growth


class Scores(NamedTuple):
    """The scores of a pool, as `CellPool` has them."""

    k: int
    scores: FloatArray
    capacity: IntArray
    first: IntArray
    marginals: FloatArray
    offset: IntArray
    sums: FloatArray
    starts: IntArray


@compiled
def nearest(pool: Scores, price: FloatArray, most: int) -> IntArray:
    """The cells (at most that many, rising) with an item nearest to the margin at these prices (G,)."""
    if price.size <= most:
        return np.arange(price.size)
    level = margin(pool.scores, pool.first, pool.capacity, price, pool.k)
    distance = distances(pool.scores, pool.first, pool.capacity, price, level)
    is_near = np.zeros(price.size, np.bool_)
    for cell in order_of(distance)[:most]:
        is_near[cell] = True
    return np.flatnonzero(is_near)


@compiled
def optima(pool: Scores, features: FloatArray, price: FloatArray, limits: Limits, most: int, counts: IntArray) -> None:
    """A local optimum from each of some counts (S, G), in place, by moves between the `most` cells nearest to the
    margin at the prices (G,)."""
    cells = nearest(pool, price, most)
    columns = columns_of(features, cells)
    ball = Ball(
        pool.k,
        features,
        cells,
        columns,
        products_of(columns),
        pool.marginals,
        pool.offset,
        pool.sums,
        pool.starts,
        price,
    )
    for start in range(counts.shape[0]):
        optimum(ball, limits, counts[start])
