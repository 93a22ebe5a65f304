import numpy as np
import pytest

from mprlib.pool_order import best_first


@pytest.mark.parametrize("ids", [None, "texts", "numbers"])
def test_a_pool_in_order_is_ordered_as_any_other(ids):
    """Ties are broken by ids whether or not the items come in the order of a search."""
    generator = np.random.default_rng(0)
    scores = np.round(generator.random(200), 1)
    numbers = generator.permutation(200)
    own = {None: None, "texts": numbers.astype(str), "numbers": numbers}[ids]
    order = best_first(scores, own)
    places = np.arange(200) if own is None else np.argsort(np.argsort(own))
    assert order.tolist() == sorted(range(200), key=lambda item: (-scores[item], places[item]))
    in_order = best_first(scores[order], None if own is None else own[order])
    assert in_order.tolist() == list(range(200))
    # Nearly in order: two neighbours that tie have changed places.
    tied = int(np.flatnonzero(np.diff(scores[order]) == 0)[0])
    swapped = order.copy()
    swapped[[tied, tied + 1]] = swapped[[tied + 1, tied]]
    if own is not None:
        assert swapped[best_first(scores[swapped], own[swapped])].tolist() == order.tolist()
