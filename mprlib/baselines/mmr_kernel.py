"""Compiled loops of `mmr`: all lambda in step, each with bounds of the merit of every item.

Distances come as columns, from one item to all, by products in the vectors' own precision, so that bounds of a merit
are a little apart. Where they leave several items in doubt, those are compared in double precision, by differences:
what was summed so of an item is kept, and goes on with the next chosen one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.mmr_columns_kernel import NONE, Columns, Kept, Pool, is_kept, place_of
from mprlib.compiled import compiled

# How distances to the chosen items become one number.
MEAN, NEAREST, FARTHEST = 0, 1, 2
# Steps back that a step looks, to tell whether a ranking by merit says what is chosen next.
FORESIGHT = 3
# Items that are looked at together, as hardly any may have the largest merit.
TOGETHER = 64


class Walkers(NamedTuple):
    """Every lambda on its way.

    Shapes:  trade_off (L,); relevance (L, n), -inf for what is chosen; total, error (L, n), distances to what is
             chosen and how far they may be off; high (FORESIGHT, L, n), upper bounds of merits at the last steps, the
             step's own at its number modulo FORESIGHT; exact (L, n), distances to the first `known` (L, n) of the
             chosen, exact; low (n,) and found (n,), room for one of them.
    """

    trade_off: FloatArray
    relevance: FloatArray
    total: FloatArray
    error: FloatArray
    high: FloatArray
    exact: FloatArray
    known: IntArray
    low: FloatArray
    found: IntArray


class Terms(NamedTuple):
    """A distance r is off by at most square_error / max(r, root); rounding: of a total, relative, and of a merit."""

    square_error: float
    root: float
    relative_rounding: float
    rounding: FloatArray


class Ahead(NamedTuple):
    """Which columns are computed before they are needed.

    most: so many of each lambda's best items, 0 for none. from_top: so many of the most similar items at the first
    step. settled: the last items must have been among so many best ones before them.
    """

    most: int
    from_top: int
    settled: int


@compiled
def advance(
    walkers: Walkers, own: int, column: FloatArray, terms: Terms, share: float, high: FloatArray, spread: int
) -> None:
    """One more chosen item: its distances (n,) and their errors go into the totals, and bounds of the merits,
    relevance + share * total, into low and high (n,)."""
    relevance, total, error, low = walkers.relevance[own], walkers.total[own], walkers.error[own], walkers.low
    rounding = terms.rounding[own]
    if spread == MEAN:
        for item in range(column.size):
            distances = total[item] + column[item]
            errors = error[item] + terms.square_error / max(column[item], terms.root)
            total[item], error[item] = distances, errors
            merit = relevance[item] + share * distances
            doubt = share * (errors + terms.relative_rounding * distances) + rounding
            low[item] = merit - doubt
            high[item] = merit + doubt
        return
    for item in range(column.size):
        # The error of the nearest or farthest is at most the largest of all.
        errors = max(error[item], terms.square_error / max(column[item], terms.root))
        distances = min(total[item], column[item]) if spread == NEAREST else max(total[item], column[item])
        total[item], error[item] = distances, errors
        merit = relevance[item] + share * distances
        doubt = share * (errors + terms.relative_rounding * distances) + rounding
        low[item] = merit - doubt
        high[item] = merit + doubt


@compiled
def largest(values: FloatArray) -> float:
    """The largest value, of four runs that do not wait for each other."""
    first = second = third = fourth = -np.inf
    whole = values.size - values.size % 4
    for item in range(0, whole, 4):
        first = values[item] if values[item] > first else first
        second = values[item + 1] if values[item + 1] > second else second
        third = values[item + 2] if values[item + 2] > third else third
        fourth = values[item + 3] if values[item + 3] > fourth else fourth
    for item in range(whole, values.size):
        first = values[item] if values[item] > first else first
    return max(first, second, third, fourth)


@compiled
def in_doubt(walkers: Walkers, high: FloatArray) -> int:
    """How many items may have the largest merit, the first ones in `found`."""
    least, number = largest(walkers.low), 0
    for start in range(0, high.size, TOGETHER):
        end, are_some = min(start + TOGETHER, high.size), False
        for item in range(start, end):
            are_some |= high[item] >= least
        for item in range(start, end if are_some else start):
            if high[item] >= least:
                walkers.found[number] = item
                number += 1
    return number


@compiled
def distance(vectors: FloatArray, item: int, other: int) -> float:
    """Between two items, in double precision, by differences; four sums that do not wait for each other."""
    first = second = third = fourth = 0.0
    width = vectors.shape[1]
    whole = width - width % 4
    for place in range(0, whole, 4):
        a = np.float64(vectors[item, place]) - np.float64(vectors[other, place])
        b = np.float64(vectors[item, place + 1]) - np.float64(vectors[other, place + 1])
        c = np.float64(vectors[item, place + 2]) - np.float64(vectors[other, place + 2])
        d = np.float64(vectors[item, place + 3]) - np.float64(vectors[other, place + 3])
        first += a * a
        second += b * b
        third += c * c
        fourth += d * d
    for place in range(whole, width):
        a = np.float64(vectors[item, place]) - np.float64(vectors[other, place])
        first += a * a
    return float(np.sqrt((first + second) + (third + fourth)))


@compiled
def settle(pool: Pool, walkers: Walkers, own: int, item: int, chosen: IntArray, spread: int) -> None:
    """The exact distances of an item to all that are chosen, which replace its total."""
    exact = walkers.exact[own, item]
    for place in range(walkers.known[own, item], chosen.size):
        apart = distance(pool.given, pool.rows[item], pool.rows[chosen[place]])
        if spread == MEAN:
            exact += apart
        elif spread == NEAREST:
            exact = min(exact, apart)
        else:
            exact = max(exact, apart)
    walkers.exact[own, item], walkers.known[own, item] = exact, chosen.size
    walkers.total[own, item], walkers.error[own, item] = exact, 0.0


@compiled
def best_of_doubted(
    pool: Pool, walkers: Walkers, own: int, number: int, chosen: IntArray, share: float, spread: int
) -> int:
    """The one of largest merit among the first items in `found`, of equals the first in the pool's order."""
    if number == 1:
        return int(walkers.found[0])
    best, most = -1, -np.inf
    for place in range(number):
        item = walkers.found[place]
        merit = walkers.relevance[own, item]
        if share > 0.0:
            settle(pool, walkers, own, item, chosen, spread)
            merit += share * walkers.exact[own, item]
        if best < 0 or merit > most or (merit == most and pool.rank[item] < pool.rank[best]):
            best, most = item, merit
    return best


@compiled
def best_of(values: FloatArray, most: int) -> IntArray:
    """The items of the largest values, as many as that."""
    found = np.arange(most)
    least = 0
    for item in range(most):
        if values[item] < values[found[least]]:
            least = item
    for item in range(most, values.size):
        if values[item] > values[found[least]]:
            found[least] = item
            for place in range(most):
                if values[found[place]] < values[found[least]]:
                    least = place
    return found


@compiled
def is_settled(before: FloatArray, recent: IntArray, most: int) -> bool:
    """Whether the last items were among so many best ones by the merits (n,) before them: a ranking that lasts."""
    worst = np.inf
    for place in range(recent.size):
        worst = min(worst, before[recent[place]])
    number = 0
    for item in range(before.size):
        if before[item] > worst:
            number += 1
    return number < most


@compiled
def promising(pool: Pool, walkers: Walkers, ahead: Ahead, step: int, chosen: IntArray, wanted: IntArray) -> int:
    """Items that are likely to be chosen soon, into wanted, and how many; step: the one that is to be decided."""
    number = 0
    if step == 1:
        for place in range(min(ahead.from_top, pool.order.size)):
            wanted[number] = pool.order[place]
            number += 1
        return number
    before, last = max(0, step - FORESIGHT), (step - 1) % FORESIGHT
    for own in range(walkers.trade_off.size if ahead.most > 0 else 0):
        if is_settled(walkers.high[before % FORESIGHT, own], chosen[own, before:step], ahead.settled):
            for item in best_of(walkers.high[last, own], min(ahead.most, pool.order.size)):
                wanted[number] = item
                number += 1
    return number


@compiled
def walk(
    pool: Pool,
    kept: Kept,
    columns: Columns,
    walkers: Walkers,
    terms: Terms,
    ahead: Ahead,
    spread: int,
    chosen: IntArray,
) -> None:
    """The items (L, k) of each lambda after the first one, which is given, in the order in which they are taken."""
    number, k = chosen.shape
    places = np.empty(number, np.int64)
    wanted = np.empty(number * ahead.most + ahead.from_top, np.int64)
    walkers.high[0] = walkers.relevance
    for step in range(1, k):
        is_missing = False
        for own in range(number):
            item = chosen[own, step - 1]
            is_missing |= columns.slot[item] == NONE and not is_kept(pool, kept, item)
        likely = promising(pool, walkers, ahead, step, chosen, wanted) if is_missing else 0
        place_of(pool, kept, columns, chosen[:, step - 1].copy(), wanted[:likely], places)
        for own in range(number):
            walkers.relevance[own, chosen[own, step - 1]] = -np.inf
            share = walkers.trade_off[own] / step if spread == MEAN else walkers.trade_off[own]
            high = walkers.high[step % FORESIGHT, own]
            advance(walkers, own, columns.table[places[own]], terms, share, high, spread)
            doubted = in_doubt(walkers, high)
            chosen[own, step] = best_of_doubted(pool, walkers, own, doubted, chosen[own, :step], share, spread)
