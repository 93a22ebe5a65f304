"""The forest grown in cells is scikit-learn's forest grown on rows."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from mprlib import InputError, measure
from mprlib.cells import selection_weights
from mprlib.function_classes.forest import Forest
from tests.populations import one_hot_problem, row_value, signed_weights


# With seed 2 two splits of one tree are equally good: which is taken is the rounding of the last bit.
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_equals_the_forest_on_rows(seed):
    problem = one_hot_problem(seed, levels=(2, 3, 4))
    rows = np.concatenate([problem.labels, problem.reference])
    targets = signed_weights(problem, range(20))
    model = RandomForestRegressor(n_estimators=20, max_depth=2, random_state=7).fit(rows, targets / targets.std())
    expected = row_value(problem, range(20), model.predict(rows))
    assert measure(problem, range(20), "forest", trees=20, seed=7).value == pytest.approx(expected, abs=1e-10)


def test_is_a_lower_bound_with_saturated_above():
    problem = one_hot_problem()
    result = measure(problem, range(20), "forest", trees=10)
    assert not result.is_exact
    assert result.upper_bound == pytest.approx(measure(problem, range(20), "saturated").value)


def test_refuses_an_empty_forest():
    with pytest.raises(InputError, match="trees"):
        measure(one_hot_problem(), range(20), "forest", trees=0)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_trees_grown_together_are_those_grown_one_by_one(depth):
    problem = one_hot_problem(1, levels=(2, 3, 4))
    oracle = Forest(depth=depth, trees=12).bind(problem)
    one_by_one = replace(oracle, sides=None)
    for items in (range(20), range(5, 25)):
        weights = selection_weights(problem, np.array(items))
        assert oracle.worst_case(weights).value == pytest.approx(one_by_one.worst_case(weights).value, abs=1e-12)
