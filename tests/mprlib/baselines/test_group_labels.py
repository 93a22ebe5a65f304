import numpy as np
import pytest

from mprlib import InputError
from mprlib.baselines.group_labels import from_levels, zero_shot


def test_levels_become_classes_and_neutral_ones_zero():
    assert from_levels(["male", "unknown", "female", "male"], neutral=["unknown"]).tolist() == [2, 0, 1, 2]
    assert from_levels(["b", "a"]).tolist() == [2, 1]


def test_the_most_similar_text_names_the_class():
    texts = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    items = [[0.5, 0.5], [1.0, -0.5], [-0.5, 1.0]]
    assert zero_shot(items, texts).tolist() == [0, 1, 2]


@pytest.mark.parametrize("texts", [[[1.0, 0.0]], [[1.0], [2.0]], [[np.nan, 0.0], [1.0, 0.0]], [1.0, 0.0]])
def test_unusable_texts(texts):
    with pytest.raises(InputError, match="texts"):
        zero_shot([[1.0, 0.0]], texts)
