"""The stochastic policy: its lottery against the programme over doubly stochastic matrices, and its draws."""

import numpy as np
import pytest
from scipy.optimize import linprog

import mprlib
from mprlib.attention import LOG2
from mprlib.baselines.exposure_policy import PENALTY, exposure_policy
from tests.populations import one_hot_problem


def best_matrix(problem, scores, levels):
    """The optimum over the probabilities of each item at each place: expected similarity less what is missing."""
    n, k, size = problem.n, problem.k, levels.shape[1]
    weights = LOG2.weights(k)
    in_place = [np.eye(k)[place] * np.ones((n, 1)) for place in range(k)]
    shown = [levels[:, [level]] * weights for level in range(size)]
    slack = np.concatenate([np.eye(size), -np.eye(size)], axis=1)
    equal = [np.append(one.ravel(), np.zeros(2 * size)) for one in in_place]
    equal += [np.append(one.ravel(), slack[level]) for level, one in enumerate(shown)]
    of_item = np.kron(np.eye(n), np.ones(k))
    solved = linprog(
        np.append(-(scores[:, None] * weights).ravel(), np.full(2 * size, PENALTY)),
        A_ub=np.concatenate([of_item, np.zeros((n, 2 * size))], axis=1), b_ub=np.ones(n),
        A_eq=np.array(equal), b_eq=np.append(np.ones(k), np.zeros(size)),
    )  # fmt: skip
    return -solved.fun


def centred_levels(problem):
    return problem.labels - problem.reference.mean(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_the_lottery_is_the_best_of_all_policies(seed):
    problem = one_hot_problem(seed, n=12, m=60, k=4, levels=(2, 3))
    policy, levels = exposure_policy(problem), centred_levels(problem)
    scores = (problem.scores - problem.scores.min()) / np.ptp(problem.scores)
    weights = LOG2.weights(4)
    expected = policy.chances @ (scores[policy.rankings] @ weights)
    shown = sum(chance * (weights @ levels[one]) for chance, one in zip(policy.chances, policy.rankings))
    assert np.abs(shown).sum() == pytest.approx(policy.missing, abs=1e-9)
    assert expected - PENALTY * policy.missing == pytest.approx(best_matrix(problem, scores, levels), abs=1e-7)
    assert policy.chances.sum() == pytest.approx(1)
    assert all(len(set(one)) == 4 for one in policy.rankings.tolist())


def test_draws_follow_the_chances_and_the_seed():
    problem = one_hot_problem(1, n=40, k=5)
    policy = exposure_policy(problem)
    drawn = [mprlib.select(problem, "exposure_policy", seed=seed, order="fair").items.tolist() for seed in range(60)]
    assert drawn == [
        mprlib.select(problem, "exposure_policy", seed=seed, order="fair").items.tolist() for seed in range(60)
    ]
    for chance, one in zip(policy.chances, policy.rankings.tolist()):
        assert drawn.count(one) / 60 == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 60) + 0.02)


def test_the_mean_attention_of_many_draws_is_the_reference_s():
    problem = one_hot_problem(2, n=200, k=10)
    policy, weights = exposure_policy(problem), LOG2.weights(10)
    assert policy.missing == pytest.approx(0, abs=1e-9)
    shown = sum(chance * (weights @ problem.labels[one]) for chance, one in zip(policy.chances, policy.rankings))
    assert shown == pytest.approx(problem.reference.mean(axis=0), abs=1e-9)


def test_what_is_missing_is_said_and_order_by_score_is_the_set():
    alike = mprlib.Problem(
        scores=[0.9, 0.8], labels=[[1, 0], [1, 0]], reference=[[1, 0], [0, 1]], k=2, attributes={"a": [0, 1]}
    )
    drawn = mprlib.select(alike, "exposure_policy", order="fair")
    assert "levels are off their shares of attention by 1.000 in all" in drawn.message
    assert "by score, of whose attention nothing is said" in mprlib.select(alike, "exposure_policy").message
    problem = one_hot_problem(0)
    found = mprlib.select(problem, "exposure_policy", order="score", seed=3)
    assert found.items.tolist() == problem.ranked(found.items).tolist()
