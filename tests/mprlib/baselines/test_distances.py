import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mprlib.baselines.distances import DistanceColumns


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_the_stated_error_holds_also_for_near_duplicates(scale, count):
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((200, 64))
    vectors[:50] = vectors[0] + 10.0 ** -generator.uniform(0, 9, 50)[:, None] * vectors[:50]
    vectors *= scale
    distances = DistanceColumns(vectors)
    items = np.arange(count) * 9
    columns = np.stack([distances.columns(items)[item] for item in items.tolist()])
    exact = cdist(vectors[items], vectors)
    square_error, root = distances.error_terms
    assert (np.abs(columns - exact) <= square_error / np.maximum(columns, root)).all()
    assert np.allclose(distances.exact(np.arange(200), items).T, exact, rtol=1e-14, atol=0)


def test_columns_are_kept_up_to_the_capacity(monkeypatch):
    monkeypatch.setattr("mprlib.baselines.distances.LARGEST_CACHE_BYTES", 3 * 4 * 50)
    vectors = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    distances = DistanceColumns(vectors)
    distances.prepare(np.arange(5))
    assert [item in distances for item in range(5)] == [True, True, True, False, False]
    columns = distances.columns(np.arange(5))
    assert np.allclose([columns[item] for item in range(5)], cdist(vectors[:5], vectors), atol=1e-2)
