"""Which items to label: probabilities that are optimal, and a draw that keeps them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from mprlib.hand_labels import drawn, inclusion_probabilities


def remaining(probabilities: np.ndarray, estimation: np.ndarray, own: np.ndarray) -> float:
    """What is left of the variance."""
    return float(np.sum(estimation / probabilities) + np.sum(own * (1 - probabilities)))


def test_without_noise_of_their_own_items_are_drawn_by_neyman_s_rule():
    estimation = np.array([9.0, 4.0, 1.0, 1.0])
    found = inclusion_probabilities(estimation, np.zeros(4), 1)
    assert found == pytest.approx(np.sqrt(estimation) / np.sqrt(estimation).sum())


@pytest.mark.parametrize("seed", range(5))
def test_no_other_probabilities_leave_less_variance(seed):
    generator = np.random.default_rng(seed)
    estimation, own = generator.uniform(0.5, 2.0, 8), generator.choice([0.0, 1.0, 6.0], 8)
    found = inclusion_probabilities(estimation, own, 3)
    assert found.sum() == pytest.approx(3) and found.min() > 0 and found.max() <= 1
    best = minimize(
        remaining,
        np.full(8, 3 / 8),
        args=(estimation, own),
        bounds=[(1e-3, 1)] * 8,
        constraints={"type": "eq", "fun": lambda one: one.sum() - 3},
    )
    assert remaining(found, estimation, own) <= best.fun * (1 + 1e-6)


def test_items_whose_own_noise_outweighs_all_else_are_drawn_surely():
    own = np.array([0.0] * 100 + [50.0] * 5)
    found = inclusion_probabilities(np.ones(105), own, 20)
    assert (found[100:] == 1).all() and found[:100] == pytest.approx(15 / 100)


@pytest.mark.parametrize("estimation", [np.zeros(10), np.array([1.0] + [0.0] * 9)])
def test_every_item_may_be_drawn(estimation):
    found = inclusion_probabilities(estimation, np.zeros(10), 3)
    assert found.min() > 0 and found.sum() == pytest.approx(3)


def test_where_no_more_items_are_there_all_are_drawn():
    assert inclusion_probabilities(np.ones(4), np.ones(4), 4).tolist() == [1.0] * 4
    assert drawn(np.ones(4), np.random.default_rng(0)).tolist() == [0, 1, 2, 3]


def test_millions_of_items_take_no_longer_than_their_kinds():
    estimation = np.tile([1.0, 4.0], 500_000)
    assert inclusion_probabilities(estimation, np.zeros(1_000_000), 300).sum() == pytest.approx(300)


def test_draws_keep_the_probabilities_and_their_number():
    probabilities = np.array([1.0, 0.5, 0.25, 0.25, 0.5, 0.5, 1.0])
    draws = [drawn(probabilities, np.random.default_rng(seed)) for seed in range(4_000)]
    assert {len(one) for one in draws} == {4}
    shares = np.mean([np.isin(np.arange(7), one) for one in draws], axis=0)
    assert np.abs(shares - probabilities).max() < 0.03


def test_items_that_lie_together_are_drawn_in_proportion():
    probabilities = np.full(1_000, 0.1)
    for seed in range(20):
        found = drawn(probabilities, np.random.default_rng(seed))
        assert np.bincount(found // 100).tolist() == [10] * 10
