"""The triangular form of a lattice: orthonormal, of the columns, and by numpy's own sums."""

import numpy as np
import pytest

from mprlib.optimisers.whole.lattice import sorted_qr
from mprlib.optimisers.whole.lattice_kernel import total


@pytest.mark.parametrize("count", [*range(1, 40), 127, 128, 129, 200, 256, 257, 513, 1000])
def test_sums_are_numpys_to_the_last_bit(count):
    values = np.random.default_rng(count).standard_normal(count + 3)
    assert total(values, 2, count) == values[2 : 2 + count].sum()


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (126, 18), (300, 9), (7, 12)])
def test_the_form_is_that_of_the_columns(shape):
    random = np.random.default_rng(0)
    columns = random.standard_normal(shape)
    columns[:, -1] = columns[:, 0] - columns[:, shape[1] // 2]
    form = sorted_qr(columns)
    size = form.order.size
    assert np.allclose(form.basis.T @ form.basis, np.eye(size))
    assert np.allclose(form.basis @ form.triangle, columns[:, form.order])
    assert sorted([*form.order, *form.dependent]) == list(range(shape[1]))
    assert size == np.linalg.matrix_rank(columns)
    spanned = form.basis @ (form.basis.T @ columns[:, form.dependent])
    assert np.allclose(spanned, columns[:, form.dependent])


def test_the_nearest_column_comes_first():
    assert sorted_qr(np.diag([3.0, 1.0, 2.0])).order.tolist() == [1, 2, 0]
    assert sorted_qr(np.zeros((3, 2))).order.tolist() == []
