"""Labels with a probability each, in the place of a confusion of all."""

import numpy as np
import pytest

import mprlib
from mprlib import InputError, LabelError, Problem
from mprlib.label_errors import corrected, corrected_groups
from mprlib.registry import function_class


def audited(seed: int, items: int = 2_000) -> tuple[Problem, np.ndarray]:
    """People whose labels are the likelier level of a calibrated probability, and who is a woman."""
    random = np.random.default_rng(seed)
    woman = random.random(items) < 0.4
    evidence = np.where(woman, 1.2, -1.2) + random.standard_normal(items)
    odds = np.exp(2.4 * evidence) * 0.4 / 0.6
    likely = np.stack([odds / (1 + odds), 1 / (1 + odds)], axis=1)
    scores = 0.2 + 0.02 * (random.standard_normal(items) - 0.8 * woman)
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
