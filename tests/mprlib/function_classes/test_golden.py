"""The authors' values, and the order of the classes around them."""

import numpy as np
import pytest
import sklearn

from mprlib import measure
from mprlib.cells import cells_of
from tests.golden_cases import CASES, GOLDEN, golden_problem

EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['seed']}-{case['encoding']}")


@EACH_CASE
def test_linear_and_greedy_tree_equal_the_authors_values(case):
    problem = golden_problem(case)
    assert measure(problem, case["selected"], "linear").value == pytest.approx(case["mpr"]["linear"], abs=1e-8)
    assert measure(problem, case["selected"], "tree_greedy").value == pytest.approx(case["mpr"]["tree"], abs=1e-8)


@pytest.mark.skipif(
    sklearn.__version__ != GOLDEN["meta"]["sklearn"],
    reason=f"a forest's draws belong to a version of scikit-learn; the values are of {GOLDEN['meta']['sklearn']}",
)
@EACH_CASE
def test_forest_equals_the_authors_values(case):
    value = measure(golden_problem(case), case["selected"], "forest").value
    assert value == pytest.approx(case["mpr"]["forest"], abs=1e-6)


@pytest.mark.skipif(
    sklearn.__version__ != GOLDEN["meta"]["sklearn"],
    reason=f"a network's training belongs to a version of scikit-learn; the values are of {GOLDEN['meta']['sklearn']}",
)
@EACH_CASE
def test_the_trained_network_equals_the_authors_value(case):
    value = measure(golden_problem(case), case["selected"], "mlp_trained").value
    assert value == pytest.approx(case["mpr"]["mlp"], rel=1e-6)


@EACH_CASE
def test_mlp_is_saturated_with_few_cells_and_above_the_authors_value(case):
    problem = golden_problem(case)
    assert cells_of(problem).size <= 65
    mlp, saturated = (measure(problem, case["selected"], name) for name in ("mlp", "saturated"))
    assert mlp.value == saturated.value and mlp.is_exact
    assert mlp.value >= case["mpr"]["mlp"] - 1e-12


@EACH_CASE
def test_exact_trees_lie_between_the_greedy_tree_and_saturated(case):
    problem, items = golden_problem(case), case["selected"]
    exact = measure(problem, items, "tree").value
    assert measure(problem, items, "tree_greedy").value <= exact + 1e-12
    assert exact <= measure(problem, items, "saturated").value + 1e-12


def test_exact_trees_are_strictly_better_on_most_cases():
    gains = [measure(golden_problem(case), case["selected"], "tree").value - case["mpr"]["tree"] for case in CASES]
    assert np.count_nonzero(np.array(gains) > 1e-9) > len(CASES) / 2
