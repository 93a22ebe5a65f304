"""Measurements: sizes other than k, and what is refused."""

import numpy as np
import pytest

from mprlib import FUNCTION_CLASSES, InputError, Problem, measure
from mprlib.measurement import p_values
from tests.populations import one_hot_problem


@pytest.mark.parametrize("name", FUNCTION_CLASSES)
def test_a_selection_of_another_size_is_measured_at_its_own_size(name):
    problem = one_hot_problem(k=20)
    resized, expected = measure(problem, range(7), name), measure(one_hot_problem(k=7), range(7), name)
    # Weights are divided by their sum again, so the last digits may differ.
    assert resized.value == pytest.approx(expected.value, abs=1e-12)
    assert resized.chi == pytest.approx(expected.chi, abs=1e-12)
    assert resized.witness.sentence == expected.witness.sentence


@pytest.mark.parametrize("name", FUNCTION_CLASSES)
@pytest.mark.parametrize("items", [[], [0, 0], [-1], [300], [0.5], [[0, 1]]])
def test_refuses_items_that_are_no_selection(name, items):
    with pytest.raises(InputError, match="items"):
        measure(one_hot_problem(), items, name)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("labels", np.full((300, 7), np.inf)),
        ("reference", np.zeros((200, 6))),
        ("reference", np.zeros((0, 7))),
        ("reference", np.full((200, 7), np.nan)),
        ("reference_weights", -np.ones(200)),
        ("reference_weights", np.zeros(200)),
        ("reference_weights", np.ones(199)),
    ],
)
def test_refuses_bad_data_by_name(argument, value):
    with pytest.raises(InputError, match=f"^{argument} "):
        one_hot_problem(**{argument: value})


def test_values_stay_in_the_unit_interval():
    labels = np.random.default_rng(0).standard_normal((50, 3))
    problem = Problem(scores=np.zeros(50), labels=labels, reference=labels + 10, k=5)
    result = measure(problem, range(5), "saturated")
    assert result.value == pytest.approx(1.0) and result.value <= 1.0


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "mlp_trained"])
def test_p_values_of_several_measurements_are_those_of_each(name):
    problem = one_hot_problem()
    found = [measure(problem, problem.best_first[start : start + 20], name) for start in range(0, 60, 10)]
    assert p_values(found) == [one.p_value for one in found]
    assert p_values([]) == []
