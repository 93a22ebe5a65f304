"""Listings of counts under cuts, against all counts."""

from itertools import product

import numpy as np
import pytest

from mprlib.optimisers.whole import cut_kernel, cut_options_kernel


def priced_items(random: np.random.Generator) -> cut_options_kernel.PricedItems:
    """Five cells of up to four items, some of whose counts are not allowed."""
    capacity = random.integers(0, 5, 5)
    scores = np.concatenate([np.sort(random.random(own))[::-1] for own in capacity])
    low = np.minimum(random.integers(0, 2, 5), capacity)
    high = np.maximum(low, capacity - random.integers(0, 2, 5))
    k = int(random.integers(low.sum(), high.sum() + 1))
    price, margin = 0.3 * random.random(5), float(random.random())
    first = np.cumsum(capacity) - capacity
    return cut_options_kernel.PricedItems(k, scores, first, price, low, high, margin, float(random.random()))


def lost(items: cut_options_kernel.PricedItems, cell: int, count: int) -> float:
    """What a count loses against the cell's best one of all that are not above its limit."""
    own = slice(items.first[cell], items.first[cell] + items.high[cell])
    sums = np.append(0.0, np.cumsum(items.scores[own] - items.price[cell] - items.margin))
    return float(sums.max() - sums[count])


@pytest.mark.parametrize("seed", range(60))
def test_exactly_the_counts_that_lose_little_and_meet_all_cuts_are_listed(seed: int) -> None:
    random = np.random.default_rng(seed)
    items, cuts = priced_items(random), random.standard_normal((6, 5))
    limits = np.where(random.random((2, 6)) < 0.3, np.inf, 1.0 + 5.0 * random.random((2, 6)))
    budget = float(random.choice([0.2, 0.5, 1.0, 3.0]))
    ends, losses = np.empty((2, 5), np.int64), np.empty((2, 5))
    expected = {}
    for counts in product(*(range(low, high + 1) for low, high in zip(items.low, items.high))):
        loss = sum(lost(items, cell, count) for cell, count in enumerate(counts))
        loss += max(items.room - float(items.price @ counts), 0.0)
        sums = cuts @ counts
        if sum(counts) == items.k and loss < budget and (sums <= limits[1]).all() and (sums >= -limits[0]).all():
            expected[counts] = loss
    choices = cut_options_kernel.choices(items, budget, ends, losses)
    if choices == -np.inf:
        assert not expected
        return
    assert all((ends[0] <= counts).all() and (ends[1] >= counts).all() for counts in expected)
    options = cut_options_kernel.cut_options(items, ends, losses)
    state = cut_kernel.new_state(options, len(cuts))
    is_open = cut_kernel.add_cuts(options, state, cuts[:3], -limits[0, :3], limits[1, :3])
    found: dict[tuple[int, ...], float] = {}
    while is_open:
        loss, is_complete, _ = cut_kernel.next_candidate(items, options, state, budget, 10**6)
        assert is_complete
        if not np.isfinite(loss):
            break
        counts = options.decided.copy()
        counts[options.cell] = options.counts[options.offset[:-1] + state.pick[:-1] - 1]
        found[tuple(counts.tolist())] = loss
        # The others come once something is decided.
        for row in range(3, 6) if len(found) == 1 else ():
            is_open = is_open and cut_kernel.add_cut(options, state, cuts[row], -limits[0, row], limits[1, row])
    early = list(found)[:1]
    assert {one: loss for one, loss in found.items() if one not in early} == pytest.approx(
        {one: loss for one, loss in expected.items() if one not in early}
    )
