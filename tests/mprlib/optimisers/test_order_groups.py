"""Counts of named groups in prefixes: exactly what the measuring code finds within the limits."""

from itertools import permutations

import numpy as np
import pytest

import mprlib
from mprlib import registry
from mprlib.optimisers.order_course import OrderCourse, prefix_limits
from mprlib.optimisers.order_groups import GroupCounts
from tests.populations import one_hot_problem

K = 5


@pytest.mark.parametrize("settings", [{}, {"signed": True}, {"max_attributes": 1}])
def test_counts_within_their_limits_are_the_prefixes_that_the_measuring_code_accepts(settings):
    for seed in range(4):
        problem = one_hot_problem(seed, n=60, m=50, k=K, levels=((2, 3), (2, 2, 2), (4,), (2, 2))[seed])
        oracle = registry.function_class("groups", **settings).bind(problem)
        cells, first = np.unique(oracle.cells.pool_cell, return_index=True)
        counts = GroupCounts.of(oracle, oracle.cells.reference_shares, cells)
        random, accepted, refused = np.random.default_rng(seed), 0, 0
        for rho in (0.1, 0.3, 0.6):
            limits = prefix_limits(rho, k=K, first=2)
            functions, low, high = counts.bounded(limits, np.full(cells.size, K))
            for length in (2, 3, K):
                for order in random.integers(cells.size, size=(30, length)):
                    weights = np.bincount(first[order], minlength=problem.n) / length
                    is_within = oracle.worst_case(weights).value <= limits[length]
                    held = functions[order].sum(axis=0)
                    assert is_within == ((low[length] <= held) & (held <= high[length])).all()
                    accepted, refused = accepted + is_within, refused + (not is_within)
        assert accepted and refused


def test_sets_that_no_order_could_break_are_left_out():
    problem = one_hot_problem(0, n=300, k=20, levels=(2, 7, 9))
    oracle = registry.function_class("groups").bind(problem)
    course = OrderCourse.of(problem, oracle, problem.best_first[:20])
    sets = course.kernel_course(prefix_limits(0.2, k=20, first=5), 5, 20).functions.shape[1]
    assert 0 < sets < len(oracle.names) / 4
    assert course.kernel_course(prefix_limits(1.0, k=20, first=5), 5, 20).functions.shape[1] == 0


def test_a_group_that_none_of_the_items_is_in_counts():
    """Half of the reference are men, and the items are women: no order of any length is near it."""
    women, men = [1, 0], [0, 1]
    problem = mprlib.Problem(
        scores=[0.9, 0.8, 0.7], labels=3 * [women], reference=[women, men], k=3, attributes={"gender": [0, 1]}
    )
    assert mprlib.fair_order(problem, [0, 1, 2], 0.4, "groups", first=2).status.value == "infeasible"
    assert mprlib.fair_order(problem, [0, 1, 2], 0.5, "groups", first=2).status.value == "optimal"


def test_limits_derived_from_others_refuse_no_order_that_keeps_all():
    is_narrower = is_ruled_out = False
    for seed in range(12):
        problem = one_hot_problem(seed, n=60, m=50, k=K, levels=(2, 3))
        oracle = registry.function_class("groups").bind(problem)
        course = OrderCourse.of(problem, oracle, np.random.default_rng(seed).choice(60, K, replace=False))
        capacity = np.bincount(course.cell)
        for rho in (0.15, 0.25, 0.35):
            limits = prefix_limits(rho, k=K, first=2)
            plain = course.groups.bounded(limits, capacity)
            thorough = course.groups.bounded(limits, capacity, is_thorough=True)
            found = [kept(order, *plain) for order in permutations(course.cell)]
            assert found == [kept(order, *thorough) for order in permutations(course.cell)]
            is_narrower |= plain[0].shape != thorough[0].shape
            is_ruled_out |= (thorough[1] > thorough[2]).any()
    assert is_narrower and is_ruled_out


def kept(order, functions, low, high):
    """Whether every prefix of an order of cells is within the limits on its counts."""
    held = np.cumsum(functions[list(order)], axis=0)
    return bool(((low[1:] <= held) & (held <= high[1:])).all())
