"""The triangular form of a lattice: orthonormal, of the columns, and by numpy's own sums."""

import numpy as np
import pytest

from mprlib.optimisers.whole.lattice import basis_of, sorted_qr
from mprlib.optimisers.whole.lattice_kernel import inverse_products, total
from mprlib.optimisers.whole.marginal_search_kernel import in_cap


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


@pytest.mark.parametrize("seed", range(20))
def test_in_another_order_every_point_is_the_same(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 12))
    columns, constant, direction = (random.standard_normal((size + 3, *shape)) for shape in [(size,), (), ()])
    form = sorted_qr(columns)
    order, basis = in_cap(
        basis_of(form, constant, direction), inverse_products(form.triangle, size), 0.3 * random.random()
    )
    counts = random.integers(0, 5, size)
    gap = constant + columns[:, form.order] @ counts
    decided = basis.offset + basis.triangle @ counts[order]
    assert basis.outside + decided @ decided == pytest.approx(gap @ gap)
    assert basis.constant + basis.along @ decided == pytest.approx(direction @ gap)
    assert (np.diag(basis.triangle) > 0).all()
    assert np.array_equal(basis.triangle, np.triu(basis.triangle))


def test_the_coordinate_along_the_prices_is_decided_first():
    """The last one is: of a thin cap it leaves the fewest values, whatever the steps."""
    form = sorted_qr(np.diag([1.0, 1.5, 2.0]))
    basis = basis_of(form, np.zeros(3), np.array([1.0, 0.01, 0.01]))
    order, _ = in_cap(basis, inverse_products(form.triangle, 3), 0.02)
    assert form.order[order][-1] == 0
