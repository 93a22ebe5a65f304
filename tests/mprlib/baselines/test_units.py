"""No method cares for the unit of the scores, nor for what all of them have in common."""

import numpy as np
import pytest

import mprlib
from mprlib import METHODS, Linear
from tests.populations import one_hot_problem

# Methods without rho that see scores and labels alone, each with a value of its own.
BY_SCORES = {
    name: method.grid(one_hot_problem(), Linear().bind(one_hot_problem()), 3)[0]
    for name, method in METHODS.items()
    if not (method.is_constrained or method.needs_embeddings)
}
# Of those that see vectors, these standardise the scores, or are asked for them alone; others rank by dot products of
# their own, or weigh scores against distances.
WITH_EMBEDDINGS = {"dpp": None, "mmr": 0.0}
CASES = pytest.mark.parametrize(("method", "value"), [*BY_SCORES.items(), *WITH_EMBEDDINGS.items()])


def problem_with(seed: int, scores: np.ndarray | None = None) -> mprlib.Problem:
    embeddings = np.random.default_rng(seed).standard_normal((120, 6))
    fields = {} if scores is None else {"scores": scores}
    return one_hot_problem(seed, n=120, k=12, levels=(2, 3, 4), embeddings=embeddings, **fields)


def items_of(problem: mprlib.Problem, method: str, value: float | None) -> list[int]:
    return mprlib.select(problem, method, value).items.tolist()


def test_methods_by_scores_are_looked_at():
    assert BY_SCORES.keys() >= {"top_k", "pbm", "apportionment", "fair_top_k"}


@CASES
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, 2.0**-600, 2.0**600])
def test_scaled_scores_give_the_same_items(method, value, scale):
    for seed in range(3):
        problem = problem_with(seed)
        scaled = problem_with(seed, problem.scores * scale)
        assert items_of(scaled, method, value) == items_of(problem, method, value)


@CASES
def test_shifted_scores_give_the_same_items(method, value):
    """Scores of 12 binary places, so that the shift rounds nothing."""
    for seed in range(3):
        scores = np.round(problem_with(seed).scores * 2.0**12) / 2.0**12
        for shift in (2.0**20, -(2.0**30)):
            shifted = problem_with(seed, scores + shift)
            assert items_of(shifted, method, value) == items_of(problem_with(seed, scores), method, value)


@CASES
def test_equal_scores_are_answered(method, value):
    items = items_of(problem_with(0, np.full(120, 0.1)), method, value)
    assert len(set(items)) == 12


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e13])
def test_mmr_without_diversity_is_top_k(scale):
    """Near-ties, where the unit would decide what counts as one."""
    random = np.random.default_rng(0)
    scores = scale * (0.3 + 1e-11 * random.permutation(120))
    problem = problem_with(0, scores)
    assert items_of(problem, "mmr", 0.0) == items_of(problem, "top_k", None)
