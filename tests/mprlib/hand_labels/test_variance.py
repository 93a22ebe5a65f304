"""What a hand label narrows: the formulas against simulated samples, and against numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mprlib.hand_labels import Selections, assumed_truth, spread_of, truth_of
from mprlib.hand_labels.estimate import effective_counts

SHARES = np.array([0.6, 0.3, 0.1])


def test_assumed_errors_are_as_many_as_assumed_and_leave_the_shares():
    truth = assumed_truth(SHARES, 0.1)
    assert truth.sum(axis=1) == pytest.approx(np.ones(3))
    assert SHARES @ truth == pytest.approx(SHARES)
    assert SHARES @ np.diag(truth) == pytest.approx(0.9)


@pytest.mark.parametrize("shares", [np.array([1.0]), np.array([1.0, 0.0])])
def test_where_all_have_one_level_nothing_is_replaced(shares):
    assert assumed_truth(shares, 0.1) == pytest.approx(np.eye(shares.size))


def test_a_known_confusion_says_what_it_was_made_of():
    truth = assumed_truth(SHARES, 0.2)
    joint = truth.T * SHARES
    assert truth_of(SHARES, joint / joint.sum(axis=1, keepdims=True)) == pytest.approx(truth)
    assert truth_of(np.array([0.5, 0.5, 0.0]), np.eye(3)) == pytest.approx(np.eye(3))


def test_a_selection_like_the_data_set_moves_with_its_shares_alone():
    truth = assumed_truth(SHARES, 0.1)
    found = spread_of(SHARES, truth, Selections(shares=SHARES[None, :]))
    assert found.estimation == pytest.approx(1 - np.sum(truth**2, axis=1))
    both = spread_of(SHARES, truth, Selections(shares=SHARES[None, :], has_predicted_reference=np.array([True])))
    assert both.estimation == pytest.approx(np.zeros(3), abs=1e-12)


def test_the_mean_over_selections_is_that_of_each():
    truth, shares = assumed_truth(SHARES, 0.2), np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]])
    apart = [spread_of(SHARES, truth, Selections(shares=row[None, :])).estimation for row in shares]
    assert spread_of(SHARES, truth, Selections(shares=shares)).estimation == pytest.approx(np.mean(apart, axis=0))


# Labels that are given by hand, by predicted level.
LABELLED = np.array([2_000, 2_000, 2_000])


@pytest.mark.parametrize("predicted_reference", [False, True])
def test_corrected_shares_vary_as_much_as_stated(predicted_reference):
    generator = np.random.default_rng(0)
    truth, shown = assumed_truth(SHARES, 0.2), np.array([0.2, 0.3, 0.5])
    asked = Selections(shares=shown[None, :], has_predicted_reference=np.array([predicted_reference]))
    stated = np.sum(spread_of(SHARES, truth, asked).estimation * SHARES**2 / LABELLED)
    gaps = []
    for _ in range(2_000):
        seen = np.array([generator.multinomial(count, row) / count for count, row in zip(LABELLED, truth)])
        joint = seen.T * SHARES
        confusion = joint / joint.sum(axis=1, keepdims=True)
        corrected = np.linalg.solve(confusion.T, shown)
        gaps.append(corrected - joint.sum(axis=1) * predicted_reference)
    assert np.var(gaps, axis=0).sum() == pytest.approx(stated, rel=0.1)


def sampled(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True and predicted levels of a sample that takes some items more often, and the probabilities."""
    truth = assumed_truth(SHARES, 0.2)
    kinds = np.array([[0.2, 0.1], [0.4, 0.5], [0.5, 1.0]])
    predicted = generator.choice(3, 4_000, p=SHARES)
    probabilities = kinds[predicted, generator.integers(0, 2, predicted.size)]
    is_taken = generator.uniform(size=predicted.size) < probabilities
    true = np.sum(generator.uniform(size=predicted.size)[:, None] > np.cumsum(truth, axis=1)[predicted], axis=1)[
        is_taken
    ]
    return true, predicted[is_taken], probabilities[is_taken]


def test_counts_have_the_shares_and_the_error_of_weighted_samples():
    generator = np.random.default_rng(1)
    truth = assumed_truth(SHARES, 0.2)
    joint = truth.T * SHARES
    confusion = joint / joint.sum(axis=1, keepdims=True)
    rows, sizes = [], []
    for _ in range(300):
        counts = effective_counts(*sampled(generator), SHARES)
        sizes.append(counts.sum(axis=1))
        rows.append(counts / counts.sum(axis=1, keepdims=True))
    assert np.abs(np.mean(rows, axis=0) - confusion).max() < 0.01
    observed = np.var(rows, axis=0).sum(axis=1)
    stated = (1 - np.sum(confusion**2, axis=1)) / np.mean(sizes, axis=0)
    assert stated == pytest.approx(observed, rel=0.25)


def test_totals_weigh_levels_that_were_labelled_by_halves():
    true, predicted = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 1])
    counts = effective_counts(true, predicted, np.ones(6), np.array([1.0, 5.0]))
    assert counts[0] / counts[0].sum() == pytest.approx(np.array([2 / 3, 5 / 3]) / (7 / 3))
    assert counts[1] / counts[1].sum() == pytest.approx(np.array([1 / 3, 10 / 3]) / (11 / 3))


def test_levels_that_nobody_has_count_nothing():
    none = np.zeros(0, dtype=int)
    assert effective_counts(none, none, np.ones(0), np.ones(2)).sum() == 0
    counts = effective_counts(np.array([0, 1, 0]), np.array([0, 0, 2]), np.ones(3), np.ones(3))
    assert counts[2].sum() == 0 and counts[:2].sum(axis=1).min() > 0


def test_labels_that_were_never_seen_wrong_may_be_and_have_an_error():
    counts = effective_counts(np.repeat([0, 1], 50), np.repeat([0, 1], 50), np.ones(100), np.ones(2))
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert shares[0, 0] == pytest.approx(50.5 / 51) and 25 < counts[0].sum() < 200
