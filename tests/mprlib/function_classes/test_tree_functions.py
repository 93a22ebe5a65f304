"""The functions that a tree's oracle names for cuts: the worst one first, each one of the class, none twice."""

import numpy as np
import pytest

from mprlib.cells import selection_weights
from mprlib.function_classes.tree import Tree
from tests.mprlib.optimisers.test_ball_path import random_problem


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_other_functions_see_what_they_say_and_no_more_than_the_worst(seed, signed, depth):
    problem = random_problem(seed)
    oracle = Tree(depth=depth, signed=signed).bind(problem)
    weights = selection_weights(problem, problem.best_first[: problem.k])
    worst, found = oracle.worst_case(weights), oracle.worst_cases(weights, 5)
    assert 1 <= len(found) <= 5
    assert found[0].value == worst.value and np.array_equal(found[0].function, worst.function)
    differences = oracle.cells.differences(weights)
    for one in found:
        assert one.value <= worst.value + 1e-12
        assert differences @ one.function == pytest.approx(one.value, abs=1e-11)
        if not signed:
            assert np.sum(oracle.cells.masses * one.function**2) == pytest.approx(problem.scale)
    for place, one in enumerate(found):
        assert not any(np.allclose(one.function, other.function) for other in found[:place])
