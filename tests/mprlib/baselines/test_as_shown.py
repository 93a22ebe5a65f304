"""What an engine showed first, whatever the scores say."""

import numpy as np
import pytest

import mprlib

LABELS = [[1, 0], [1, 0], [0, 1], [0, 1]]


def problem(k: int = 2) -> mprlib.Problem:
    return mprlib.Problem(scores=[0.9, 0.8, 0.8, 0.1], labels=LABELS, reference=LABELS, k=k, item_ids=list("dcba"))


def test_the_first_places_are_chosen_and_items_come_as_they_were_shown():
    found = mprlib.select(problem(), "as_shown", places=[3, 4, 2, 1])
    assert found.items.tolist() == [3, 2]
    assert found.similarity == pytest.approx(0.45)
    assert found.status == "done"


def test_items_of_one_place_go_in_the_pools_order():
    # Items 1 and 2 have one place and one score: the smaller id comes first.
    assert mprlib.select(problem(1), "as_shown", places=[2, 1, 1, 1]).items.tolist() == [2]


def test_without_places_it_is_top_k():
    top = mprlib.select(problem(), "top_k")
    assert np.array_equal(mprlib.select(problem(), "as_shown").items, top.items)


def test_a_list_of_just_k_items_says_so():
    assert "nothing else could be chosen" in mprlib.select(problem(4), "as_shown", places=[1, 2, 3, 4]).message
    assert mprlib.select(problem(3), "as_shown").message == ""


@pytest.mark.parametrize("places", [[1, 2, 3], [1, 2, 3, float("nan")], [[1, 2, 3, 4]], ["1", "2", "3", "4"]])
def test_places_that_are_none(places):
    with pytest.raises(mprlib.InputError, match="places"):
        mprlib.select(problem(), "as_shown", places=places)
