import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mprlib.baselines.distances import products_of
from mprlib.baselines.mmr_columns_kernel import Columns, Pool, compute, none_kept, place_of
from mprlib.baselines.mmr_kernel import distance


def pool_of(vectors):
    products, squares, error = products_of(vectors)
    order = np.arange(len(vectors))
    return Pool(vectors=products, squares=squares, given=vectors, rows=order, order=order, rank=order), error


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_the_stated_error_holds_also_for_near_duplicates(scale, count):
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((200, 64))
    vectors[:50] = vectors[0] + 10.0 ** -generator.uniform(0, 9, 50)[:, None] * vectors[:50]
    vectors *= scale
    pool, square_error = pool_of(vectors)
    items = np.arange(count) * 9
    columns = np.empty((count, 200), dtype=np.float32)
    compute(pool, items, columns)
    exact = cdist(vectors[items], vectors)
    assert (np.abs(columns - exact) <= square_error / np.maximum(columns, np.sqrt(square_error))).all()
    own = [[distance(vectors, item, other) for other in range(200)] for item in items.tolist()]
    assert np.allclose(own, exact, rtol=1e-14, atol=0)


def test_columns_are_kept_up_to_the_capacity():
    vectors = np.random.default_rng(1).standard_normal((50, 8))
    pool, _ = pool_of(vectors)
    columns = Columns(
        table=np.zeros((3 + 4, 50), dtype=np.float32),
        slot=np.full(50, -1, dtype=np.int64),
        number=np.zeros(2, dtype=np.int64),
    )
    needed, likely, places = np.arange(4), np.array([7]), np.empty(4, dtype=np.int64)
    for _ in range(2):
        place_of(pool, none_kept(columns.table.dtype), columns, needed, likely, places)
        assert np.flatnonzero(columns.slot >= 0).tolist() == [0, 1, 2]
        assert np.allclose(columns.table[places], cdist(vectors[:4], vectors), atol=1e-2)
    # The fourth is computed at each call.
    assert columns.number.tolist() == [3, 5]
