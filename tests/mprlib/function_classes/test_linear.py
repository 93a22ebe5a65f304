"""The linear class: Proposition 4, and its invariance under recoding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mprlib import Problem, measure
from tests.populations import one_hot_problem, row_value, signed_weights


def test_value_solved_by_hand():
    """p = (1, 0), q = (1/2, 1/2), N = (3, 2), D = 2/3; only the second cell has a label of 1."""
    problem = Problem(scores=[3, 2, 1], labels=[[0], [0], [1]], reference=[[0], [1]], k=1)
    result = measure(problem, [0], "linear")
    assert result.value == pytest.approx(np.sqrt(2 / 3 * 0.5**2 / 2))
    assert result.witness.groups[0].share_reference == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_equals_least_squares_over_all_rows(seed):
    problem = one_hot_problem(seed)
    items = problem.best_first[:20]
    rows = np.concatenate([problem.labels, problem.reference])
    coefficients = np.linalg.lstsq(rows, signed_weights(problem, items), rcond=1e-10)[0]
    expected = row_value(problem, items, rows @ coefficients)
    assert measure(problem, items, "linear").value == pytest.approx(expected, abs=1e-10)


@given(seed=st.integers(0, 10_000), exponents=st.lists(st.integers(-3, 3), min_size=5, max_size=5))
@settings(max_examples=40, deadline=None)
def test_no_invertible_recoding_changes_the_value(seed, exponents):
    """Rotations and scales, and on top of them a duplicate and a combination of columns."""
    random = np.random.default_rng(seed)
    labels, reference = random.integers(0, 3, (60, 5)).astype(float), random.integers(0, 3, (40, 5)).astype(float)
    rotation = np.linalg.qr(random.standard_normal((5, 5)))[0]
    recode = rotation * (10.0 ** np.array(exponents))
    wide = np.column_stack([recode, recode[:, 0], recode @ random.standard_normal(5)])
    values = [
        measure(Problem(scores=np.zeros(60), labels=labels @ code, reference=reference @ code, k=10), range(10)).value
        for code in (np.eye(5), recode, wide)
    ]
    assert values == pytest.approx([values[0]] * 3, abs=1e-8)


@pytest.mark.parametrize(
    "recode",
    [
        lambda rows: np.column_stack([rows, rows[:, 0]]),
        lambda rows: np.column_stack([rows, np.ones(len(rows))]),
        lambda rows: 1e6 * rows,
        lambda rows: rows * np.array([1, 1e-6, 1, 1e6, 1, 1, 1]),
    ],
    ids=["duplicated column", "constant column", "other unit", "columns of different scale"],
)
def test_two_full_one_hot_attributes_survive(recode):
    """The columns are rank-deficient, and their span holds the constant already."""
    problem = one_hot_problem()
    recoded = Problem(
        scores=problem.scores, labels=recode(problem.labels), reference=recode(problem.reference), k=problem.k
    )
    expected = measure(problem, range(20), "linear").value
    assert measure(recoded, range(20), "linear").value == pytest.approx(expected, abs=1e-10)


def test_signed_labels_equal_zero_one_labels_that_span_the_constant():
    problem = one_hot_problem()
    signed = Problem(scores=problem.scores, labels=2 * problem.labels - 1, reference=2 * problem.reference - 1, k=20)
    assert measure(signed, range(20)).value == pytest.approx(measure(problem, range(20)).value, abs=1e-10)


def test_labels_of_zero_see_nothing():
    problem = Problem(scores=[1, 2], labels=[[0], [0]], reference=[[0]], k=1)
    assert measure(problem, [0], "linear").value == 0


def test_many_cells_agree_with_the_decomposition_of_few(monkeypatch):
    problem, other = one_hot_problem(levels=(2, 7, 9)), one_hot_problem(levels=(2, 7, 9))
    exact = measure(problem, range(20), "linear").value
    monkeypatch.setattr("mprlib.function_classes.linear.LARGEST_SVD_CELLS", 0)
    assert measure(other, range(20), "linear").value == pytest.approx(exact, abs=1e-10)
