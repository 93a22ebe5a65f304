from itertools import combinations

import numpy as np
import pytest

import mprlib
from mprlib import InputError
from mprlib.baselines.apportionment import RULES, dhondt, hamilton
from tests.populations import one_hot_problem


def test_seats_by_hand():
    """7 seats by (47, 16, 7) of 70: quotas 4.7, 1.6, 0.7, so the larger remainders are 0.7 and 0.7.

    Quotients 47, 23.5, 15.7, 11.8, 9.4, 7.8; 16, 8, 5.3; 7: the seven highest are 5 of the first and 2
    of the second.
    """
    shares = np.array([47.0, 16.0, 7.0]) / 70
    assert hamilton(shares, 7).tolist() == [5, 1, 1]
    assert dhondt(shares, 7).tolist() == [5, 2, 0]


def test_ties_go_to_the_larger_share_then_to_the_first():
    assert hamilton(np.array([0.25, 0.25, 0.5]), 2).tolist() == [1, 0, 1]
    assert dhondt(np.array([0.25, 0.5, 0.25]), 2).tolist() == [0, 2, 0]


@pytest.mark.parametrize("rule", RULES)
def test_seats_add_up_and_none_is_below_its_whole_quota(rule):
    generator = np.random.default_rng(0)
    for _ in range(50):
        shares = generator.dirichlet(np.ones(int(generator.integers(1, 7))))
        seats = int(generator.integers(1, 30))
        given = RULES[rule](shares, seats)
        assert given.sum() == seats
        assert (given >= np.floor(shares * seats + 1e-9)).all()
        assert rule == "dhondt" or (given <= np.ceil(shares * seats)).all()


def brute_force(problem, targets):
    """Fewest missed seats, then highest similarity, over all sets."""
    best = None
    for items in combinations(range(problem.n), problem.k):
        seats = problem.labels[list(items)].sum(axis=0)
        missed, similarity = np.abs(seats - targets).sum(), problem.scores[list(items)].sum()
        if best is None or (missed, -similarity) < (best[0], -best[1]):
            best = (missed, similarity)
    return best


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_equals_brute_force(seed, rule):
    problem = one_hot_problem(seed, n=12, m=30, k=5, levels=(2, 3))
    shares = problem.reference.mean(axis=0)
    targets = np.concatenate([RULES[rule](shares[:2], 5), RULES[rule](shares[2:], 5)])
    missed, similarity = brute_force(problem, targets)
    selection = mprlib.select(problem, "apportionment", rule=rule)
    seats = problem.labels[selection.items].sum(axis=0)
    assert np.abs(seats - targets).sum() == missed
    assert selection.similarity == pytest.approx(similarity / 5)
    assert (f"missed by {int(missed)} seats" in selection.message) == (missed > 0)


def test_a_level_that_the_pool_lacks_is_missed():
    labels = np.array([[1.0, 0.0]] * 6)
    problem = mprlib.Problem(scores=np.arange(6.0), labels=labels, reference=np.eye(2), k=4, attributes={"sex": [0, 1]})
    selection = mprlib.select(problem, "apportionment")
    assert selection.items.tolist() == [5, 4, 3, 2]
    assert "missed by 4 seats" in selection.message


def test_an_unknown_rule_lists_the_known():
    with pytest.raises(InputError, match="hamilton, dhondt"):
        mprlib.select(one_hot_problem(), "apportionment", rule="borda")
