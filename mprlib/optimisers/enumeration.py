"""Exhaustive search among near-optimal counts: every set that could be better than the incumbent.

At the relaxation's prices the distance of a set from the dual bound is a sum of non-negative terms,

    bound - similarity(x) = sum_g loss_g(x_g) + slack of rho,      loss_g(c) = sum of |s - price_g - margin|
                                                                   over the items between c and the best count,

so a set that is better than the incumbent has a total loss below the gap. That leaves each cell a few counts
(reduced-cost fixing). They are combined cell by cell as partial sums, without those that exceed the gap and
those that no completion brings to sum k and to |gap| <= rho in every direction. If all combinations were
examined, the best of them is proven optimal. Otherwise only the cheapest partial sums are kept (beam search),
and the least loss among those dropped still gives a valid bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.near_counts import margin_of, near_counts
from mprlib.optimisers.partial_sums import CellCounts, Completions, PartialSums, SumSearch
from mprlib.optimisers.region import Region
from mprlib.optimisers.relaxation import Relaxation

# Rounding error of sums of scaled scores, absolute, and of gaps, relative to the largest that counts can have.
ROUNDING = 1e-12
# Candidates listed of one enumeration, unless more are asked for.
LISTED = 64


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Enumerated:
    """The result of a search.

    Shapes:  candidates (c, G), whole counts inside the region with the smallest losses, best first;
             losses (c,), their distances from the dual bound.
    least_loss: no set that meets rho, is not a candidate and loses at most the allowance has a smaller loss;
    infinite when there is no such set.
    """

    candidates: IntArray
    losses: FloatArray
    least_loss: float


def enumerate_counts(
    relaxation: Relaxation, pool: CellPool, region: Region, *, allowance: float, limit: int, kept: int = LISTED
) -> Enumerated:
    """Counts whose loss against the dual bound is at most `allowance` (total similarity) and which meet rho.

    limit: partial sums kept at each cell. kept: candidates listed.
    """
    rho, directions = relaxation.rho, region.directions
    reach = rho + ROUNDING * (rho + pool.k * float(np.abs(directions).max(initial=0.0)))
    low, losses = near_counts(relaxation, pool, margin_of(relaxation, pool), allowance)
    # Cells with one possible count are fixed; those with few come first, which keeps the sums few.
    choices = np.array([len(loss) for loss in losses])
    is_open = choices > 1
    order = np.flatnonzero(is_open)[np.argsort(choices[is_open], kind="stable")]
    fixed = np.where(is_open, 0, low)
    sums = PartialSums(
        loss=np.full(1, sum((float(losses[g][0]) for g in np.flatnonzero(~is_open)), 0.0)),
        count=np.full(1, int(fixed.sum())),
        priced=np.full(1, float(fixed @ relaxation.price)),
        gap=(fixed @ directions)[None, :],
        picks=np.zeros((1, 0), dtype=np.int16),
    )
    completions = Completions.of(low[order], low[order] + choices[order] - 1, directions[order])
    search = SumSearch(k=pool.k, reach=reach, allowance=allowance, width=limit, completions=completions)
    least_dropped = np.inf
    for depth, g in enumerate(order):
        cell = CellCounts(
            counts=low[g] + np.arange(choices[g]),
            losses=losses[g],
            price=relaxation.price[g],
            direction=directions[g],
        )
        sums, dropped = search.extended(sums, cell, depth)
        least_dropped = min(least_dropped, dropped)
    # Values within rounding of rho stay: the measuring code decides.
    inside = np.flatnonzero((region.values(sums.gap) <= reach) & (sums.count == pool.k))
    # Similarity is a constant less the loss plus the price of the counts.
    shortfall = sums.loss[inside] - sums.priced[inside]
    nearest = np.argsort(shortfall, kind="stable")
    counts = np.repeat(fixed[None, :], min(kept, inside.size), axis=0)
    counts[:, order] = low[order] + sums.picks[inside[nearest[:kept]]]
    similarity = np.array([pool.similarity(row) for row in counts])
    best = np.argsort(-similarity, kind="stable")
    if inside.size > kept:
        next_loss = relaxation.bound - similarity[best[0]] + float(shortfall[nearest[kept]] - shortfall.min())
        least_dropped = min(least_dropped, next_loss - ROUNDING * pool.k)
    return Enumerated(candidates=counts[best], losses=relaxation.bound - similarity[best], least_loss=least_dropped)
