import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem


def problem_of(embeddings, scores, k) -> Problem:
    ones = np.ones((len(embeddings), 1))
    return Problem(scores=scores, labels=ones, reference=ones, k=k, embeddings=embeddings)


def greedy_by_determinants(vectors, scores, k, weight):
    """Greedy MAP by determinants of the whole kernel."""
    quality = np.exp(0.5 * weight * (scores - scores.mean()) / scores.std())
    kernel = quality[:, None] * (vectors @ vectors.T) * quality
    chosen = []
    for _ in range(k):
        gains = [
            -np.inf if item in chosen else np.linalg.slogdet(kernel[np.ix_([*chosen, item], [*chosen, item])])[1]
            for item in range(len(vectors))
        ]
        chosen.append(int(np.argmax(gains)))
    return set(chosen)


@pytest.mark.parametrize("weight", [0.0, 1.0, 4.0])
def test_equals_greedy_by_determinants(weight):
    generator = np.random.default_rng(0)
    vectors, scores = generator.standard_normal((30, 9)), generator.random(30)
    items = mprlib.select(problem_of(vectors, scores, 7), "dpp", weight=weight).items
    assert set(items.tolist()) == greedy_by_determinants(vectors, scores, 7, weight)


def test_a_large_weight_is_top_k_and_does_not_overflow():
    generator = np.random.default_rng(1)
    problem = problem_of(generator.standard_normal((40, 20)), generator.random(40), 6)
    items = mprlib.select(problem, "dpp", weight=1e6).items
    assert items.tolist() == mprlib.select(problem, "top_k").items.tolist()


def test_what_adds_no_volume_is_filled_by_similarity():
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [2.0, 1.0]])
    selection = mprlib.select(problem_of(vectors, [0.5, 0.9, 0.1, 0.8, 0.2], 4), "dpp")
    assert np.unique(selection.items).size == 4
    assert "2 items add no volume" in selection.message


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_a_weight_outside_its_range(weight):
    with pytest.raises(InputError, match="weight"):
        mprlib.select(problem_of(np.eye(3), [0.3, 0.2, 0.1], 2), "dpp", weight=weight)
