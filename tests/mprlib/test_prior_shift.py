"""Shares of levels where a classifier learnt others: found, with their errors, or left alone where nothing tells."""

from __future__ import annotations

import numpy as np
import pytest

from mprlib import InputError
from mprlib.prior_shift import HALF_INTERVAL, shift_of


def likely(levels: np.ndarray, shares: np.ndarray, apart: float, seed: int) -> np.ndarray:
    """Calibrated probabilities (n, L) of items of these levels, by a training set of these shares: each level has a
    normal number of its own per coordinate."""
    places = apart * np.eye(shares.size)
    seen = places[levels] + np.random.default_rng(seed).standard_normal((levels.size, shares.size))
    logits = -0.5 * ((seen[:, None, :] - places) ** 2).sum(axis=2) + np.log(shares)
    found = np.exp(logits - logits.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def drawn(shares: list[float], rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(len(shares), rows, p=shares)


@pytest.mark.parametrize("apart", [1.5, 3.0])
@pytest.mark.parametrize("true", [[0.8, 0.2], [0.5, 0.5], [0.97, 0.03]])
def test_shares_are_found_within_their_errors(true, apart):
    trained = np.array([0.5, 0.5])
    off = []
    for seed in range(40):
        levels = drawn(true, 2_000, seed)
        found = shift_of(likely(levels, trained, apart, 100 + seed), trained)
        assert found.why == ""
        off.append((found.after[0] - true[0]) / found.errors[0])
    assert np.mean(np.abs(off) <= HALF_INTERVAL) >= 0.85 and abs(np.mean(off)) < 0.6


def test_items_are_as_likely_as_their_own_shares_make_them():
    trained, true = np.array([0.5, 0.5]), [0.8, 0.2]
    levels = drawn(true, 20_000, 1)
    given = likely(levels, trained, 1.5, 2)
    found = shift_of(given, trained)
    again = found.of(given)
    assert again.mean(axis=0) == pytest.approx(found.after, abs=1e-4)
    # What a classifier that had learnt from such items would say.
    assert again == pytest.approx(likely(levels, np.array(true), 1.5, 2), abs=0.03)
    assert abs(given.mean(axis=0)[0] - 0.8) > 0.05


def test_three_levels_of_which_one_is_absent():
    trained = np.array([0.3, 0.3, 0.4])
    found = shift_of(likely(drawn([0.6, 0.4, 0.0], 5_000, 1), trained, 3.0, 2), trained)
    assert found.after == pytest.approx([0.6, 0.4, 0.0], abs=0.03) and (found.after >= 0).all()


def test_levels_that_look_alike_are_left_as_given():
    trained = np.array([0.5, 0.5])
    given = likely(drawn([0.8, 0.2], 400, 1), trained, 0.15, 2)
    found = shift_of(given, trained)
    assert "cannot be told apart" in found.why
    assert np.array_equal(found.of(given), given)


def test_a_bias_that_few_held_out_rows_cannot_exclude_widens_the_errors():
    trained, given = np.array([0.5, 0.5]), likely(drawn([0.8, 0.2], 5_000, 1), np.array([0.5, 0.5]), 2.0, 2)
    sure, unsure = (shift_of(given, trained, bias * np.array([[1.0, -1.0], [-1.0, 1.0]])) for bias in (0.0, 0.03**2))
    assert unsure.errors[0] > 2 * sure.errors[0]
    # Of levels that are told apart surely the bias is that of the share.
    exact = shift_of(np.eye(2)[drawn([0.5, 0.5], 10_000, 3)], trained, 0.03**2 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert exact.errors[0] == pytest.approx(np.hypot(0.005, 0.03), rel=0.02)


def test_what_does_not_fit_is_refused():
    for before in ([0.5, 0.3, 0.2], [1.0, 0.0]):
        with pytest.raises(InputError, match="a positive share for each of the 2 columns"):
            shift_of([[0.5, 0.5]], before)
    assert shift_of(np.zeros((0, 2)), [0.5, 0.5]).why == "there is no item"
