"""Every set that could beat the best one known: exhaustive search among near-optimal counts.

At the relaxation's prices a set's distance from the bound is a sum of non-negative terms,

    bound - similarity(x) = sum_g loss_g(x_g) + slack of rho,      loss_g(c) = sum of |s - price_g - margin|
                                                                   over the items between c and the best count,

so a set that beats the known one has a total loss below their gap. That leaves each cell a few
counts; they are combined cell by cell, partial sums above the gap being dropped, as are those from
which no rest leads to sum k and MPR <= rho in some direction. When all combinations have been
looked at, the best set is proven. When they are too many, the cheapest partial sums go on and the
least loss among those dropped is a bound that still holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import BallRegion, Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.problem import FloatArray, IntArray

# Losses are sums of differences of scaled scores, gaps those of features; equality is decided above the
# rounding of both, gaps in parts of the largest that counts can have.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Enumerated:
    """What the search found.

    Shapes:  candidates (c, G), whole counts inside the region that lose least, best first.
    least_loss: no set meeting rho outside of `candidates` that loses at most the allowance loses less
    against the bound; infinite when there is none.
    """

    candidates: IntArray
    losses: FloatArray
    least_loss: float


def enumerate_counts(
    relaxation: Relaxation,
    pool: CellPool,
    region: Region,
    *,
    allowance: float,
    limit: int,
    kept: int = 64,
) -> Enumerated:
    """Counts that lose at most `allowance` (total similarity) against the bound and meet rho.

    limit: partial sums that are carried on.
    """
    rho = relaxation.rho
    is_ball = isinstance(region, BallRegion)
    directions = region.features if is_ball else region.cuts.T
    slack = ROUNDING * (rho + pool.k * float(np.abs(directions).max(initial=0.0)))
    margin = margin_of(relaxation, pool)
    low, losses = near_counts(relaxation, pool, margin, allowance)
    # Cells with one possible count are settled; those with few choices first, to keep the list short.
    choices = np.array([len(loss) for loss in losses])
    is_open = choices > 1
    order = np.flatnonzero(is_open)[np.argsort(choices[is_open], kind="stable")]
    settled = np.where(is_open, 0, low)
    total = np.full(1, sum(float(losses[g][0]) for g in np.flatnonzero(~is_open)))
    taken = np.full(1, int(settled.sum()))
    priced = np.full(1, float(settled @ relaxation.price))
    gap = (settled @ directions)[None, :]
    picks = np.zeros((1, 0), dtype=np.int16)
    least, highest, reach_low, reach_high = _rests(order, low, choices, directions)
    least_dropped = np.inf
    for depth, cell in enumerate(order):
        count = low[cell] + np.arange(choices[cell])
        new_total = total[:, None] + losses[cell][None, :]
        new_taken = taken[:, None] + count[None, :]
        fits = new_total <= allowance
        fits &= (new_taken + least[depth + 1] <= pool.k) & (new_taken + highest[depth + 1] >= pool.k)
        parent, pick = np.nonzero(fits)
        new_total = new_total[parent, pick]
        reaching = partial(
            _reaching,
            gap,
            parent,
            count[pick],
            directions[cell],
            reach_low[depth + 1],
            reach_high[depth + 1],
            rho + slack,
        )
        chosen, gap, dropped = _cheapest(new_total, limit, reaching)
        least_dropped = min(least_dropped, dropped)
        parent, pick = parent[chosen], pick[chosen]
        total, taken = new_total[chosen], new_taken[parent, pick]
        priced = priced[parent] + relaxation.price[cell] * count[pick]
        picks = np.column_stack([picks[parent], pick.astype(np.int16)])
    value = np.sqrt(np.einsum("ij,ij->i", gap, gap)) if is_ball else np.abs(gap).max(axis=1, initial=0.0)
    # The measuring code decides on values within rounding of rho.
    inside = np.flatnonzero((value <= rho + slack) & (taken == pool.k))
    # Similarity is a constant less the loss plus what the counts cost at the prices.
    shortfall = total[inside] - priced[inside]
    nearest = np.argsort(shortfall, kind="stable")
    listed, unlisted = inside[nearest[:kept]], nearest[kept : kept + 1]
    counts = np.repeat(settled[None, :], listed.size, axis=0)
    counts[:, order] = low[order] + picks[listed]
    similarity = np.array([pool.similarity(row) for row in counts])
    best = np.argsort(-similarity, kind="stable")
    if unlisted.size:
        next_loss = relaxation.bound - similarity[best[0]] + float(shortfall[unlisted[0]] - shortfall.min())
        least_dropped = min(least_dropped, next_loss - ROUNDING * pool.k)
    return Enumerated(candidates=counts[best], losses=relaxation.bound - similarity[best], least_loss=least_dropped)


def _reaching(
    gap: FloatArray,
    parent: IntArray,
    added: IntArray,
    direction: FloatArray,
    low: FloatArray,
    high: FloatArray,
    limit: float,
    some: IntArray,
) -> tuple[IntArray, FloatArray]:
    """Which of some sums can still meet the limit in every direction, and their gaps.

    low, high: what the cells that are left add to each direction, at least and at most.
    """
    new_gap = gap[parent[some]] + added[some, None] * direction
    can_reach = np.all(new_gap + low <= limit, axis=1) & np.all(new_gap + high >= -limit, axis=1)
    return some[can_reach], new_gap[can_reach]


def _cheapest(
    totals: FloatArray, limit: int, reaching: Callable[[IntArray], tuple[IntArray, FloatArray]]
) -> tuple[IntArray, FloatArray, float]:
    """The `limit` cheapest sums that reach, by position, their gaps, and the least total of the others that do.

    The cheapest are asked first and the rest only as far as it takes: of millions of sums few are looked at.
    """
    rest, found, gaps, count = np.arange(totals.size), [], [], 0
    while not found or (rest.size and count <= limit):
        block = rest
        if rest.size > 2 * limit:
            parted = np.argpartition(totals[rest], 2 * limit)
            block, rest = np.sort(rest[parted[: 2 * limit]]), rest[parted[2 * limit :]]
        else:
            rest = rest[:0]
        own, own_gaps = reaching(block)
        found.append(own)
        gaps.append(own_gaps)
        count += own.size
    chosen, gap = np.concatenate(found), np.concatenate(gaps)
    dropped = np.inf
    if count > limit:
        parted = np.argpartition(totals[chosen], limit)
        dropped = float(totals[chosen[parted[limit:]]].min())
        chosen, gap = chosen[parted[:limit]], gap[parted[:limit]]
    order = np.argsort(chosen)
    return chosen[order], gap[order], dropped


def margin_of(relaxation: Relaxation, pool: CellPool) -> float:
    """The k-th largest score net of prices: what the last item is worth."""
    value = pool.scores - relaxation.price[pool.cell]
    return float(np.partition(value, value.size - pool.k)[value.size - pool.k])


def near_counts(
    relaxation: Relaxation, pool: CellPool, margin: float, allowance: float
) -> tuple[IntArray, list[FloatArray]]:
    """The lowest count (G,) of each cell that loses at most the allowance, and the losses from there up."""
    worth = pool.scores - relaxation.price[pool.cell] - margin
    low = np.zeros(pool.cell_count, dtype=np.intp)
    losses = []
    for cell in range(pool.cell_count):
        own = worth[pool.first[cell] : pool.first[cell] + pool.capacity[cell]]
        sums = np.concatenate([[0.0], np.cumsum(own)])
        loss = sums.max() - sums
        near = np.flatnonzero(loss <= allowance + ROUNDING)
        low[cell] = near[0]
        losses.append(loss[near[0] : near[-1] + 1])
    return low, losses


def _rests(
    order: IntArray, low: IntArray, choices: IntArray, directions: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """What the cells from each depth on add at least and at most, to the sum and to each direction."""
    counts_low, counts_high = low[order], low[order] + choices[order] - 1
    ends = counts_low[:, None] * directions[order], counts_high[:, None] * directions[order]

    def rest(values: FloatArray) -> FloatArray:
        return np.concatenate([np.cumsum(values[::-1], axis=0)[::-1], np.zeros((1,) + values.shape[1:], values.dtype)])

    return rest(counts_low), rest(counts_high), rest(np.minimum(*ends)), rest(np.maximum(*ends))
