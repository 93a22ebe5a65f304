import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem


def problem_of(embeddings, query, k, embedding_scale=1.0) -> Problem:
    embeddings = np.asarray(embeddings, dtype=float)
    ones = np.ones((len(embeddings), 1))
    return Problem(scores=embeddings @ query, labels=ones, reference=ones, k=k, embeddings=embeddings * embedding_scale)


def test_only_the_span_of_the_phrases_counts():
    """Three equally similar items; the third differs from the first in what the phrase speaks of."""
    embeddings = [[1.0, 0.0, 0.0], [1.0, 5.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 9.0]]
    problem = problem_of(embeddings, np.array([1.0, 0.0, 0.0]), 2)
    assert set(mprlib.select(problem, "paths", subspace=[[0.0, 0.0, 2.0]], trade_off=0.1).items.tolist()) == {0, 2}
    assert set(mprlib.select(problem, "paths", subspace=[[0.0, 3.0, 0.0]], trade_off=0.1).items.tolist()) == {0, 1}


def test_in_the_whole_space_it_is_mmr_by_the_nearest():
    generator = np.random.default_rng(0)
    problem = problem_of(generator.standard_normal((60, 5)), generator.standard_normal(5), 10)
    nearest = mprlib.select(problem, "mmr", 0.5, spread="nearest")
    rotated = np.linalg.qr(generator.standard_normal((5, 5)))[0]
    assert mprlib.select(problem, "paths", subspace=rotated).items.tolist() == nearest.items.tolist()


def test_repeated_phrases_change_nothing():
    generator = np.random.default_rng(1)
    problem = problem_of(generator.standard_normal((60, 5)), generator.standard_normal(5), 10)
    phrases = generator.standard_normal((2, 5))
    once = mprlib.select(problem, "paths", subspace=phrases).items.tolist()
    assert mprlib.select(problem, "paths", subspace=np.concatenate([phrases, phrases])).items.tolist() == once


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        ({"subspace": np.eye(3)}, "subspace"),
        ({"subspace": np.zeros((2, 2))}, "not all zero"),
        ({"subspace": [[np.nan, 1.0]]}, "subspace"),
        ({"subspace": np.eye(2), "dimensions": 0}, "dimensions"),
        ({"subspace": np.eye(2), "trade_off": 1.5}, "trade_off"),
    ],
)
def test_unusable_extras(extras, words):
    with pytest.raises(InputError, match=words):
        mprlib.select(problem_of(np.eye(2), np.array([1.0, 0.0]), 1), "paths", **extras)
