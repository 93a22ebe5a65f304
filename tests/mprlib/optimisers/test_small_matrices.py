"""Ranks, bounds of singular values and solutions of small systems by compiled elimination, beside numpy's."""

import numpy as np
import pytest

from mprlib.lottery_kernel import singular_values
from mprlib.optimisers.ball_line import rank_by_eigenvalues
from mprlib.optimisers.inverse_kernel import inverse_of
from mprlib.optimisers.path_points_kernel import affine_rank, rank_of, squares_of
from mprlib.optimisers.zero_gap_kernel import solve


@pytest.mark.parametrize("seed", range(30))
def test_affine_rank_is_that_of_eigenvalues_or_is_left_to_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells, columns, rank = int(rng.integers(1, 40)), int(rng.integers(1, 12)), int(rng.integers(0, 12))
    features = rng.standard_normal((cells, rank)) @ rng.standard_normal((rank, columns)) * 10.0 ** rng.integers(-6, 3)
    found = affine_rank(features, squares_of(features))
    assert found in (-1, rank_by_eigenvalues(features))
    # Of well separated features elimination tells by itself.
    assert found >= 0 or rank > 1


def test_a_rank_in_doubt_is_not_stated() -> None:
    assert rank_of(np.diag([1.0, 1e-12])) == -1
    assert rank_of(np.diag([1.0, 1e-6])) == 2
    assert rank_of(np.diag([1.0, 0.0])) == 1
    assert rank_of(np.zeros((2, 2))) == 0


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_singular_values_hold_and_are_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 9)), int(rng.integers(9, 14))
    factors = np.linalg.qr(rng.standard_normal((columns, rows)))[0].T * rng.uniform(0.9, 1.1, (rows, 1))
    least, most = singular_values(factors)
    singular = np.linalg.svd(factors, compute_uv=False)
    assert least <= singular.min() and singular.max() <= most
    # The larger deviation of the two from the mean counts on both sides.
    assert most - least <= 2.5 * (singular.max() - singular.min()) + 1e-5


@pytest.mark.parametrize("size", [1, 2, 7, 40, 150])
def test_the_inverse_is_that_of_the_matrix_with_its_rows_as_they_were(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix = rng.standard_normal((size, size))
    # Zeros on the diagonal: rows are exchanged.
    np.fill_diagonal(matrix, 0.0 if size > 1 else 2.0)
    inverse = np.empty((size + 2, size + 2))[:size, :size]
    assert inverse_of(matrix.copy(), inverse)
    assert inverse @ matrix == pytest.approx(np.eye(size), abs=1e-9)


def test_a_matrix_of_dependent_rows_has_no_inverse() -> None:
    assert not inverse_of(np.array([[1.0, 2.0], [2.0, 4.0]]), np.empty((2, 2)))
    assert not inverse_of(np.zeros((3, 3)), np.empty((3, 3)))


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_a_singular_system_has_a_solution_where_there_is_one(rank: int) -> None:
    rng = np.random.default_rng(rank)
    half = rng.standard_normal((6, rank))
    matrix = half @ half.T
    right = matrix @ rng.standard_normal(6)
    found = right.copy()
    solve(matrix.copy(), found, 1e-12)
    assert matrix @ found == pytest.approx(right, abs=1e-8)
