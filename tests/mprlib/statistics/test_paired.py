"""The paired test of two systems: exact where it is small, at its level where queries share people."""

from itertools import product

import numpy as np
import pytest

import mprlib
from mprlib.statistics import paired_difference
from tests.correlated_queries import found_share


def test_all_signs_of_few_queries_are_tried():
    values = np.array([0.3, -0.1, 0.2, 0.25, 0.05])
    sums = [abs(np.dot(signs, values)) for signs in product([1, -1], repeat=5)]
    exact = np.mean([one >= abs(values.sum()) - 1e-12 for one in sums])
    found = paired_difference(values)
    assert found.p_value == exact
    assert found.mean == pytest.approx(0.14)
    assert (found.queries, found.effective_queries) == (5, 5)


def test_few_queries_have_no_interval():
    found = paired_difference([0.1, 0.2, 0.3])
    assert (found.low, found.high) == (None, None)
    assert found.p_value == 0.25


def test_the_interval_holds_what_the_test_does_not_refuse():
    values = np.random.default_rng(0).normal(0.05, 0.1, 40)
    found = paired_difference(values)
    assert found.low < values.mean() < found.high
    for end, inside in ((found.low, 1e-4), (found.high, -1e-4)):
        assert paired_difference(values - (end + inside)).p_value > 0.05
        assert paired_difference(values - (end - inside)).p_value <= 0.06
    assert (found.low > 0 or found.high < 0) == (found.p_value <= 0.05)


def test_equal_systems_differ_in_nothing():
    found = paired_difference(np.zeros(30))
    assert (found.mean, found.p_value) == (0.0, 1.0)


def test_twins_count_once():
    values = np.random.default_rng(1).normal(0.05, 0.1, 20)
    twice = np.repeat(values, 2)
    overlap = np.kron(np.eye(20), np.ones((2, 2)))
    found = paired_difference(twice, overlap)
    assert found.effective_queries == 20
    assert found.p_value == pytest.approx(paired_difference(values).p_value, abs=0.05)


@pytest.mark.parametrize("bad", [[], [np.nan], [[1.0]]])
def test_what_is_no_list_of_numbers_is_refused(bad):
    with pytest.raises(mprlib.InputError, match="one per query"):
        paired_difference(bad)


def test_an_overlap_of_other_queries_is_refused():
    with pytest.raises(mprlib.InputError, match=r"\(2, 2\) is expected"):
        paired_difference([0.1, 0.2], np.eye(3))


def test_the_level_holds_where_queries_share_people(cases):
    audits = max(120, cases(1_000))
    random = np.random.default_rng(3)
    slack = 3 * np.sqrt(0.05 * 0.95 / audits)
    assert found_share(random, audits) <= 0.05 + slack


def test_five_points_over_fifty_queries_are_found():
    """The benchmark `chance` states the power: about 0.8 for independent queries, less where they share people."""
    assert found_share(np.random.default_rng(4), 60, tilt=0.05, family=1, kept=0.0) >= 0.6
    assert found_share(np.random.default_rng(5), 60, tilt=0.05, family=5, kept=0.6) >= 0.15
