"""Labels with a probability each, in the place of a confusion of all."""

import numpy as np
import pytest

import mprlib
from mprlib import InputError, LabelError, Problem
from mprlib.label_errors import corrected, corrected_groups
from mprlib.registry import function_class


def audited(seed: int, items: int = 2_000) -> tuple[Problem, np.ndarray]:
    """People whose labels are the likelier level of their probability given all that is seen of them, the score too,
    and who is a woman."""
    random = np.random.default_rng(seed)
    woman = random.random(items) < 0.4
    evidence = np.where(woman, 1.2, -1.2) + random.standard_normal(items)
    noise = random.standard_normal(items) - 0.8 * woman
    odds = np.exp(2.4 * evidence - 0.8 * noise - 0.32) * 0.4 / 0.6
    likely = np.stack([odds / (1 + odds), 1 / (1 + odds)], axis=1)
    scores = 0.2 + 0.02 * noise
    problem = Problem(
        scores=scores,
        labels=np.eye(2)[likely.argmax(axis=1)],
        reference=np.eye(2),
        reference_weights=[0.4, 0.6],
        reference_size=2_000,
        k=50,
        attributes={"gender": [0, 1]},
        label_names=["gender=woman", "gender=man"],
        label_error=LabelError(probabilities={"gender": likely}),
    )
    return problem, woman


def test_intervals_hold_the_truth_though_scores_lean():
    held, off = [], []
    for seed in range(40):
        problem, woman = audited(seed)
        top = problem.best_first[:50]
        truth = woman[top].mean()
        found = corrected_groups(problem, top)["gender=woman"]
        held.append(found.low <= truth <= found.high)
        off.append(found.share - truth)
    assert np.mean(held) >= 0.87
    assert abs(np.mean(off)) < 0.02


def test_a_repair_claims_what_probabilities_carry():
    problem, _ = audited(100)
    top = mprlib.measure(problem, problem.best_first[:50]).value
    row = mprlib.select(problem, "mopr", 0.8 * top)
    assert row.p_rho is not None
    found = corrected(problem, row.items, function_class("linear"))
    assert found.low <= found.value <= found.high


def test_what_is_no_probability_is_refused():
    with pytest.raises(InputError, match="for item 1: none may be negative"):
        Problem(
            scores=[1, 2],
            labels=np.eye(2),
            reference=np.eye(2),
            k=1,
            attributes={"a": [0, 1]},
            label_error=LabelError(probabilities={"a": [[0.5, 0.5], [0.5, 0.7]]}),
        )


def test_expected_shares_are_the_means_of_what_is_given_whatever_scores_say():
    problem, _ = audited(3)
    likely = problem.label_error.probabilities["gender"]
    for items in (problem.best_first[:50], np.arange(7)):
        found = corrected_groups(problem, items)["gender=woman"]
        assert found.share == pytest.approx(likely[items, 0].mean(), abs=1e-12)


@pytest.fixture(scope="module")
def two_attributes() -> tuple[Problem, np.ndarray, np.ndarray]:
    """Probabilities of gender, a confusion or probabilities of age, and some genders known by hand."""
    random = np.random.default_rng(5)
    n = 600
    likely, aged = random.dirichlet([1, 1], n), random.dirichlet([2, 1, 1], n)
    labels = np.concatenate([np.eye(2)[likely.argmax(axis=1)], np.eye(3)[aged.argmax(axis=1)]], axis=1)
    known = np.full(n, -1)
    known[:5] = 1
    error = LabelError(probabilities={"gender": likely, "age": aged}, known={"gender": known})
    problem = Problem(
        scores=random.random(n) + 0.3 * likely[:, 0],
        labels=labels,
        reference=labels,
        k=20,
        attributes={"gender": [0, 1], "age": [2, 3, 4]},
        label_names=["gender=woman", "gender=man", "age=young", "age=mid", "age=old"],
        label_error=error,
    )
    return problem, likely, aged


def test_levels_of_every_attribute_keep_their_probabilities(two_attributes):
    problem, likely, aged = two_attributes
    items = np.arange(5, 60)
    found = corrected_groups(problem, items)
    assert found["gender=woman"].share == pytest.approx(likely[items, 0].mean(), abs=1e-8)
    for place, level in enumerate(["young", "mid", "old"]):
        assert found[f"age={level}"].share == pytest.approx(aged[items, place].mean(), abs=1e-8)
    by_hand = corrected_groups(problem, np.arange(5))["gender=woman"]
    assert (by_hand.share, by_hand.low, by_hand.high) == (0.0, 0.0, 0.0)


def test_a_mean_of_few_and_small_probabilities_is_within_its_interval():
    # One of five is a woman with a probability of 2%: nearly all draws have none.
    likely = np.array([[0.02, 0.98], *[[0.0, 1.0]] * 4, *[[1.0, 0.0]] * 5])
    problem = Problem(
        scores=np.linspace(0.9, 0.1, 10),
        labels=np.eye(2)[likely.argmax(axis=1)],
        reference=np.eye(2),
        reference_size=1_000,
        k=5,
        attributes={"gender": [0, 1]},
        label_names=["gender=woman", "gender=man"],
        label_error=LabelError(probabilities={"gender": likely}),
    )
    women = corrected_groups(problem, np.arange(5))["gender=woman"]
    assert women.share == pytest.approx(0.02 / 5)
    assert women.low == 0.0 and women.high == women.share


def test_a_length_of_few_draws_is_within_its_interval():
    # An item that is a woman with a probability of 2%, against as many women as men: all draws are as long but for
    # rounding.
    likely = np.array([[0.02, 0.98], *[[1.0, 0.0]] * 5, *[[0.0, 1.0]] * 5])
    problem = Problem(
        scores=np.linspace(0.9, 0.1, 11),
        labels=np.eye(2)[likely.argmax(axis=1)],
        reference=np.eye(2),
        reference_size=1_000,
        k=1,
        attributes={"gender": [0, 1]},
        label_error=LabelError(probabilities={"gender": likely}),
    )
    for name in ("groups", "linear", "saturated", "rkhs"):
        found = corrected(problem, np.arange(1), function_class(name), chosen_by="expected")
        assert found.low <= found.value <= found.high
