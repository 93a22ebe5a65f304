"""Kernel balls against the double sum over rows."""

import numpy as np
import pytest

from mprlib import InputError, Problem, measure
from mprlib.cells import cells_of
from mprlib.function_classes.rkhs import median_distance
from tests.populations import one_hot_problem

KERNELS = {
    "gaussian": lambda x, y: np.exp(-((x[:, None] - y[None]) ** 2).sum(-1) / (2 * 1.3**2)),
    "polynomial": lambda x, y: (x @ y.T + 0.5) ** 3,
    "linear": lambda x, y: x @ y.T,
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("largest", [1024, 0], ids=["square root", "columns"])
def test_equals_the_double_sum_over_rows(name, largest, monkeypatch):
    monkeypatch.setattr("mprlib.function_classes.rkhs.LARGEST_EIGEN_CELLS", largest)
    problem = one_hot_problem(reference_weights=np.random.default_rng(1).random(200))
    chosen, reference, q = problem.labels[:20], problem.reference, problem.reference_weights
    kernel = KERNELS[name]
    square = kernel(chosen, chosen).mean() - 2 * (kernel(chosen, reference) @ q).mean()
    square += q @ kernel(reference, reference) @ q
    settings = {"kernel": name, "bandwidth": 1.3, "degree": 3, "offset": 0.5}
    result = measure(problem, range(20), "rkhs", **settings)
    assert result.value == pytest.approx(np.sqrt(square), abs=1e-10)
    assert result.is_exact and result.chi is None


def test_linear_kernel_is_the_distance_of_means():
    problem = Problem(scores=[0, 0], labels=[[0.0, 0.0], [3.0, 4.0]], reference=[[0.0, 0.0]], k=1)
    assert measure(problem, [1], "rkhs", kernel="linear").value == pytest.approx(5.0)


def test_median_distance_leaves_equal_rows_out():
    """Rows 0, 0, 0 and 2: every pair that differs is 2 apart."""
    problem = Problem(scores=[0, 0], labels=[[0], [0]], reference=[[0], [2]], k=1)
    assert median_distance(cells_of(problem)) == 2.0


def test_median_distance_counts_rows():
    """Nine rows at 0, one at 1, one at 10: 9 pairs at distance 1, 9 at 10, 1 at 9."""
    problem = Problem(scores=np.zeros(9), labels=np.zeros((9, 1)), reference=[[1], [10]], k=1)
    assert median_distance(cells_of(problem)) == 9.0


@pytest.mark.parametrize(
    "setting", [{"kernel": "cosine"}, {"bandwidth": 0.0}, {"bandwidth": np.nan}, {"degree": 0}, {"offset": -1.0}]
)
def test_refuses_bad_settings(setting):
    with pytest.raises(InputError, match=next(iter(setting))):
        measure(one_hot_problem(), range(20), "rkhs", **setting)


@pytest.mark.parametrize("size", [200, 1_000, 10_000])
def test_a_median_between_two_distances_is_the_lower_one_whatever_sums_round_to(size):
    """Two attributes of three levels, all nine equally common: half of the pairs differ in one, half in both."""
    rows = np.hstack([np.eye(3)[np.repeat(range(3), 3)], np.eye(3)[np.tile(range(3), 3)]])
    people = Problem(
        scores=np.linspace(1, 0, 18), labels=np.repeat(rows, 2, axis=0), reference=rows, reference_size=size, k=2
    )
    assert median_distance(cells_of(people)) == pytest.approx(np.sqrt(2.0))
