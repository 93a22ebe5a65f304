"""Permutation test, multiple testing, share intervals."""

import numpy as np
import pytest

from mprlib import InputError
from mprlib.statistics import benjamini_hochberg, permutation_test, share_interval
from tests.populations import one_hot_problem


@pytest.mark.parametrize("name", ["linear", "groups", "saturated"])
def test_random_draws_have_uniform_p_values(name):
    problem = one_hot_problem()
    random = np.random.default_rng(0)
    values = [
        permutation_test(problem, random.choice(problem.n, 20, replace=False), name, draws=99, seed=seed)
        for seed in range(60)
    ]
    assert np.mean(np.array(values) <= 0.1) < 0.25
    assert 0.35 < np.mean(values) < 0.65


def test_one_group_only_is_no_random_draw():
    problem = one_hot_problem()
    items = np.flatnonzero(problem.labels[:, 4])[:20]
    assert permutation_test(problem, items, draws=199) == 1 / 200
    assert permutation_test(problem, items, "tree_greedy", draws=19) == 1 / 20


def test_the_whole_pool_is_every_draw():
    problem = one_hot_problem()
    assert permutation_test(problem, range(problem.n), draws=9) == 1.0


def test_permutation_refuses_bad_input():
    with pytest.raises(InputError, match="items"):
        permutation_test(one_hot_problem(), [0, 0])
    with pytest.raises(InputError, match="draws"):
        permutation_test(one_hot_problem(), [0], draws=0)


def test_adjusted_p_values_solved_by_hand():
    """Sorted 0.005, 0.01, 0.03, 0.04 times 4/1, 4/2, 4/3, 4/4; minima from the right."""
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([]).size == 0
    assert benjamini_hochberg([1.0, 0.9]).max() == 1.0


@pytest.mark.parametrize("values", [[1.5], [-0.1], [np.nan], [[0.1]]])
def test_refuses_what_are_no_p_values(values):
    with pytest.raises(InputError, match="p_values"):
        benjamini_hochberg(values)


def test_share_interval_of_none_seen():
    """0 of 100: the upper limit leaves 2.5% for seeing none, (1 - p)^100."""
    low, high = share_interval(0.0, 100)
    assert low == 0.0 and high == pytest.approx(1 - 0.025 ** (1 / 100))
    assert share_interval(1.0, 100) == pytest.approx((1 - high, 1.0))


@pytest.mark.parametrize("share", [0.001, 0.02, 0.5, 0.97])
def test_share_intervals_cover(share):
    hits = np.random.default_rng(0).binomial(500, share, size=2000)
    intervals = {count: share_interval(count / 500, 500) for count in set(hits.tolist())}
    assert np.mean([intervals[count][0] <= share <= intervals[count][1] for count in hits]) >= 0.945


@pytest.mark.parametrize("arguments", [(1.5, 10), (-0.1, 10), (0.5, 0), (0.5, 10, 1.0)])
def test_share_interval_refuses_bad_input(arguments):
    with pytest.raises(InputError):
        share_interval(*arguments)
