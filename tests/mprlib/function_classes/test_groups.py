"""Named groups against shares counted row by row."""

from itertools import combinations, product

import numpy as np
import pytest

from mprlib import InputError, Problem, measure
from tests.populations import one_hot_problem


@pytest.mark.parametrize("most", [1, 2, 3])
def test_equals_the_largest_gap_of_shares_counted_by_row(most):
    problem = one_hot_problem(levels=(2, 3, 4))
    gaps = []
    for size in range(1, most + 1):
        for attributes in combinations(problem.attributes.values(), size):
            for columns in product(*attributes):
                selected = problem.labels[:20][:, columns].all(axis=1).mean()
                gaps.append(abs(selected - problem.reference[:, columns].all(axis=1).mean()))
    result = measure(problem, range(20), "groups", max_attributes=most)
    assert result.value == pytest.approx(max(gaps), abs=1e-12)
    assert measure(problem, range(20), "groups", max_attributes=most, signed=True).value == pytest.approx(2 * max(gaps))
    assert result.witness.groups[0].contribution == pytest.approx(result.value)


def test_never_exceeds_half_the_distance_of_shares():
    """Attained by all cells together, so by intersections of all attributes at most."""
    problem = Problem(scores=np.zeros(4), labels=[[0], [0], [1], [1]], reference=[[0], [1]], k=2)
    assert measure(problem, [0, 1], "groups").value == pytest.approx(0.5)
    assert measure(problem, [0, 1], "groups", signed=True).value == pytest.approx(1.0)


def test_continuous_labels_are_refused_with_advice():
    random = np.random.default_rng(0)
    labels = random.standard_normal((400, 3))
    problem = Problem(scores=np.zeros(400), labels=labels, reference=random.standard_normal((200_000, 3)), k=5)
    with pytest.raises(InputError, match="bin continuous attributes"):
        measure(problem, range(5), "groups")


@pytest.mark.parametrize("most", [0, True, 1.0])
def test_refuses_a_number_of_attributes_that_is_no_count(most):
    with pytest.raises(InputError, match="max_attributes"):
        measure(one_hot_problem(), range(20), "groups", max_attributes=most)
