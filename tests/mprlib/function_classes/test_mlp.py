"""Networks: exact with few cells, between linear and saturated with many."""

import numpy as np
import pytest

from mprlib import Problem, measure
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.mlp import Mlp
from tests.populations import one_hot_problem


@pytest.mark.parametrize("seed", range(5))
def test_many_cells_lie_strictly_between_linear_and_saturated(seed):
    problem = one_hot_problem(seed, n=3000, m=3000, k=50, levels=(2, 7, 9))
    assert cells_of(problem).size > 65
    items = problem.best_first[:50]
    linear, network, saturated = (measure(problem, items, name) for name in ("linear", "mlp", "saturated"))
    assert linear.value < network.value <= saturated.value + 1e-12
    assert measure(problem, items, "tree").value <= network.value + 1e-12
    assert not network.is_exact and network.upper_bound == pytest.approx(saturated.value)


def test_one_unit_is_at_least_linear_and_more_units_help():
    problem = one_hot_problem(levels=(3, 4))
    values = [measure(problem, range(20), "mlp", units=units).value for units in (1, 2, 4, 8, 11)]
    assert values[0] >= measure(problem, range(20), "linear").value - 1e-12
    assert np.all(np.diff(values) >= -1e-12)
    assert values[-1] == measure(problem, range(20), "saturated").value


def test_few_units_still_contain_the_trees_that_they_can_hold():
    for seed in range(5):
        problem = one_hot_problem(seed, levels=(2, 2, 2, 2))
        for units, depth in ((2, 1), (4, 2), (8, 3)):
            tree = measure(problem, range(20), "tree", depth=depth).value
            assert measure(problem, range(20), "mlp", units=units).value >= tree - 1e-12


def test_function_is_a_network_of_that_many_units():
    """In one dimension a network with u hinges and no more is linear between at most u knots."""
    labels = np.linspace(0, 1, 40)[:, None]
    problem = Problem(scores=labels[:, 0], labels=labels, reference=labels, k=10)
    weights = selection_weights(problem, np.random.default_rng(0).choice(40, 10, replace=False))
    oracle = Mlp(units=5).bind(problem)
    function = oracle.worst_case(weights).function[np.argsort(oracle.cells.labels[:, 0])]
    # The linear unit's shift leaves no knot inside the data.
    assert np.count_nonzero(np.abs(np.diff(function, 2)) > 1e-9 * np.abs(function).max()) <= 4
