"""What every registered class must keep, whatever it is."""

from dataclasses import replace

import numpy as np
import pytest

from mprlib import FUNCTION_CLASSES, Problem, measure
from mprlib.cells import selection_weights
from tests.populations import one_hot_problem

EACH_CLASS = pytest.mark.parametrize("name", FUNCTION_CLASSES)


@EACH_CLASS
def test_function_attains_the_value_and_has_the_class_norm(name):
    problem = one_hot_problem()
    oracle = FUNCTION_CLASSES[name]().bind(problem)
    weights = selection_weights(problem, problem.best_first[:20])
    worst = oracle.worst_case(weights)
    assert oracle.cells.differences(weights) @ worst.function == pytest.approx(worst.value, abs=1e-12)
    if FUNCTION_CLASSES[name]().is_normalised:
        norm = np.sum(oracle.cells.masses * worst.function**2)
        assert norm == pytest.approx(problem.scale)
        assert worst.value <= measure(problem, problem.best_first[:20], "saturated").value + 1e-12


@EACH_CLASS
def test_upper_bound_holds_and_is_the_value_when_exact(name):
    problem = one_hot_problem(levels=(2, 7, 9))
    result = measure(problem, problem.best_first[:20], name)
    assert result.value <= result.upper_bound
    assert result.is_exact == FUNCTION_CLASSES[name].is_exact
    assert not result.is_exact or result.upper_bound == result.value


@EACH_CLASS
def test_fractional_weights_are_answered(name):
    problem = one_hot_problem()
    weights = np.random.default_rng(1).dirichlet(np.ones(problem.n))
    assert FUNCTION_CLASSES[name]().bind(problem).worst_case(weights).value > 0


@EACH_CLASS
def test_a_selection_equal_to_the_reference_has_no_gap_and_says_so(name):
    problem = one_hot_problem()
    items = np.arange(20)
    same = replace(problem, reference=problem.labels[items], reference_weights=None)
    result = measure(same, items, name)
    assert result.value == pytest.approx(0.0, abs=1e-9)
    assert "No function" in str(result.witness)


@EACH_CLASS
def test_integer_weights_equal_repeated_rows(name):
    """A row of weight 3 is three rows, except in a class that draws rows."""
    problem = one_hot_problem()
    counts = np.random.default_rng(2).integers(0, 4, size=problem.reference.shape[0])
    repeated = replace(problem, reference=np.repeat(problem.reference, counts, axis=0), reference_weights=None)
    weighted = replace(problem, reference_weights=counts.astype(float), reference_size=float(counts.sum()))
    items = problem.best_first[:20]
    tolerance = 0.02 if FUNCTION_CLASSES[name].draws_rows else 1e-10
    assert measure(weighted, items, name).value == pytest.approx(measure(repeated, items, name).value, abs=tolerance)


@EACH_CLASS
def test_weights_only_count_in_proportion(name):
    problem = one_hot_problem()
    weights = np.random.default_rng(3).random(problem.reference.shape[0])
    values = [
        measure(replace(problem, reference_weights=scale * weights), problem.best_first[:20], name).value
        for scale in (1.0, 1000.0)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-10)


@EACH_CLASS
def test_two_calls_agree_to_the_last_digit(name):
    first, second = (measure(one_hot_problem(levels=(2, 7, 9)), np.arange(20), name) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", [name for name, kind in FUNCTION_CLASSES.items() if not kind.needs_levels])
def test_continuous_labels_are_measured(name):
    random = np.random.default_rng(4)
    labels = random.standard_normal((200, 5))
    problem = Problem(scores=labels[:, 0], labels=labels, reference=random.standard_normal((150, 5)), k=10)
    items = problem.best_first[:10]
    result = measure(problem, items, name)
    assert 0 < result.value <= result.upper_bound
    assert len(result.witness.items_above) == len(result.witness.items_below) == 5
    assert set(result.witness.items_above) <= set(map(str, items))


@pytest.mark.parametrize("name", ["linear", "tree", "mlp", "saturated"])
def test_chi_is_free_of_the_data_size(name):
    """Ten times the same pool and reference: MPR falls, chi stays."""
    small = one_hot_problem()
    large = Problem(
        scores=np.tile(small.scores, 10),
        labels=np.tile(small.labels, (10, 1)),
        reference=np.tile(small.reference, (10, 1)),
        k=20,
    )
    first, second = measure(small, np.arange(20), name), measure(large, np.arange(20), name)
    assert second.value < first.value
    assert second.chi == pytest.approx(first.chi, rel=1e-9)
