"""What a move of the local search over orders gains, against the value of the order that it leads to."""

import numpy as np
import pytest

from mprlib.optimisers.order_climb_kernel import Gains, climbed, length_in_ball, tabulate
from mprlib.optimisers.order_kernel import length_of
from mprlib.optimisers.order_weights_kernel import Places, gaps_of, squares_of, value_of

CELLS, K, FUNCTIONS = 4, 8, 3


def drawn(seed, is_ball=True):
    """Places of cells of two to five items, and an order of them."""
    random = np.random.default_rng(seed)
    capacity = random.integers(2, 6, CELLS)
    scores = np.full((CELLS, int(capacity.max())), -np.inf)
    for cell, size in enumerate(capacity):
        scores[cell, :size] = -np.sort(-random.random(size))
    functions = random.standard_normal((CELLS, FUNCTIONS))
    places = Places(scores, capacity, functions, -np.sort(-random.random(K)), squares_of(functions), is_ball)
    return places, random.permutation(np.repeat(np.arange(CELLS), capacity))[:K]


def moves(places, order, counts):
    """Every exchange and every other cell at a place: the place, the other one or the cell, and the new order."""
    for place in range(K):
        for other in range(place + 1, K):
            if order[place] != order[other]:
                changed = order.copy()
                changed[[place, other]] = order[[other, place]]
                yield place, other, True, changed
        for cell in range(CELLS):
            if cell != order[place] and counts[cell] < places.capacity[cell]:
                changed = order.copy()
                changed[place] = cell
                yield place, cell, False, changed


def test_gains_are_differences_of_values():
    for seed in range(30):
        places, order = drawn(seed)
        counts, taken = np.zeros(CELLS, np.int64), np.zeros(CELLS, np.int64)
        gains = Gains(np.zeros(K), np.zeros((K, CELLS)), np.zeros((CELLS, K)), np.zeros(K))
        tabulate(places, order, counts, gains)
        assert counts.tolist() == np.bincount(order, minlength=CELLS).tolist()
        value = value_of(places, order, taken)
        for place, other, is_exchange, changed in moves(places, order, counts):
            own = order[place]
            gain = gains.leaves[place] + gains.joins[place, order[other] if is_exchange else other]
            if is_exchange:
                gain += gains.goes[own, other] + gains.comes[other]
            assert gain == pytest.approx(value_of(places, changed, taken) - value, abs=1e-12)


def test_lengths_of_a_ball_are_those_of_the_gaps_afterwards():
    places, order = drawn(0)
    gaps = gaps_of(places, order)
    step = places.functions[1] - places.functions[0]
    found = length_in_ball(gaps @ gaps, step @ gaps, 0.3, places.squares[0, 1])
    assert found == pytest.approx(length_of(gaps + 0.3 * step, True))


def merit(places, order):
    """The value, less twice what the gap is beyond a half."""
    value = value_of(places, order, np.zeros(CELLS, np.int64))
    return value - 2.0 * max(length_of(gaps_of(places, order), places.is_ball) - 0.5, 0.0)


@pytest.mark.parametrize("is_ball", [True, False])
def test_no_move_betters_what_the_search_ends_with(is_ball):
    for seed in range(10):
        places, given = drawn(seed, is_ball)
        order, value, length = climbed(places, given, 0.5, 2.0, 200)
        reached = merit(places, order)
        assert value - 2.0 * max(length - 0.5, 0.0) == pytest.approx(reached)
        assert reached >= merit(places, given)
        counts = np.bincount(order, minlength=CELLS)
        assert all(merit(places, changed) <= reached + 1e-9 for *_, changed in moves(places, order, counts))
