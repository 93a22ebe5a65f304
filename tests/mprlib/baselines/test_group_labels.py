from decimal import Decimal

import numpy as np
import pytest

from mprlib import InputError
from mprlib.baselines.group_labels import from_levels, zero_shot


def test_levels_become_classes_and_neutral_ones_zero():
    assert from_levels(["male", "unknown", "female", "male"], neutral=["unknown"]).tolist() == [2, 0, 1, 2]
    assert from_levels(["b", "a"]).tolist() == [2, 1]


def test_levels_are_named_as_in_every_column():
    mixed = [True, 1, 1.0, np.float32(1), Decimal("1.00"), "1", None]
    assert from_levels(mixed).tolist() == [2, 1, 1, 1, 1, 1, 3]
    assert from_levels(mixed, neutral=[1, None]).tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert from_levels(np.array([True, False])).tolist() == [2, 1]


def test_the_most_similar_text_names_the_class():
    texts = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    items = [[0.5, 0.5], [1.0, -0.5], [-0.5, 1.0]]
    assert zero_shot(items, texts).tolist() == [0, 1, 2]


@pytest.mark.parametrize("texts", [[[1.0, 0.0]], [[1.0], [2.0]], [[np.nan, 0.0], [1.0, 0.0]], [1.0, 0.0]])
def test_unusable_texts(texts):
    with pytest.raises(InputError, match="texts"):
        zero_shot([[1.0, 0.0]], texts)
