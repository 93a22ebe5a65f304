"""Selection and sorting of few numbers, beside numpy's."""

import numpy as np
import pytest

from mprlib.optimisers.sorting_kernel import RUN, nth, order_of, sort


@pytest.mark.parametrize("seed", range(20))
def test_the_first_numbers_are_sorted_and_the_others_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([rng.standard_normal(60), rng.integers(0, 4, 60).astype(float)])
    values[rng.random(60) < 0.1] = np.inf
    size = int(rng.integers(0, 61))
    found = values.copy()
    sort(found, size)
    assert found.tolist() == [*sorted(values[:size]), *values[size:]]


@pytest.mark.parametrize("seed", range(20))
def test_the_number_at_a_place_is_that_of_all_sorted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([rng.standard_normal(60), rng.integers(0, 4, 60).astype(float)])
    size = int(rng.integers(1, 61))
    place = int(rng.integers(0, size))
    found = values.copy()
    assert nth(found, size, place) == found[place] == np.sort(values[:size])[place]
    assert sorted(found[:size]) == sorted(values[:size]) and (found[size:] == values[size:]).all()
    assert found[:place].max(initial=-np.inf) <= found[place] <= found[place:size].min()


@pytest.mark.parametrize("size", [0, 1, RUN, RUN + 1, 3 * RUN, 1_000])
@pytest.mark.parametrize("levels", [3, 1_000_000])
def test_places_are_in_the_order_of_their_keys_and_equal_keys_as_they_are(size: int, levels: int) -> None:
    keys = np.random.default_rng(size).integers(0, levels, size)
    for one in (keys, keys.astype(float), np.sort(keys), -np.sort(keys)):
        assert order_of(one).tolist() == np.argsort(one, kind="stable").tolist()
