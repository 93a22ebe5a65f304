"""Whether probabilities are believed where they should be, and a temperature that mends them."""

import numpy as np
import pytest

from mprlib.calibration import calibration_of, cross_fitted, spiegelhalter_z, temperature_of


def rows(seed: int, levels: int, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and levels that are drawn from their probabilities."""
    random = np.random.default_rng(seed)
    logits = 1.5 * random.standard_normal((count, levels))
    probabilities = softmax(logits)
    return logits, (random.random((count, 1)) > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)


def softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits)
    return odds / odds.sum(axis=1, keepdims=True)


def test_z_of_two_levels_is_spiegelhalters():
    """z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)), his formula."""
    logits, codes = rows(0, 2)
    likely = softmax(logits)[:, 1]
    above = np.sum((codes - likely) * (1 - 2 * likely))
    expected = above / np.sqrt(np.sum((1 - 2 * likely) ** 2 * likely * (1 - likely)))
    assert spiegelhalter_z(softmax(logits), codes) == pytest.approx(expected)


def test_z_of_what_is_sure():
    sure = np.eye(2)[[0, 1, 0]]
    assert spiegelhalter_z(sure, np.array([0, 1, 0])) == 0.0
    assert spiegelhalter_z(sure, np.array([0, 1, 1])) > 1_000


@pytest.mark.parametrize("levels", [2, 4])
def test_the_error_in_one_bin_is_the_gap_of_means(levels):
    logits, codes = rows(1, levels, 15)
    probabilities = softmax(logits)
    gaps = np.abs(probabilities.mean(axis=0) - np.bincount(codes, minlength=levels) / 15)
    assert calibration_of(probabilities, codes).error == pytest.approx(gaps.mean())


@pytest.mark.parametrize("count", [40, 100, 400])
def test_rows_of_one_probability_share_a_bin_whatever_their_order(count):
    """Half of the rows are of each level, as is said of every one; sorted by level they would fill bins of one each."""
    likely, codes = np.full((count, 2), 0.5), np.repeat([0, 1], count // 2)
    for order in (np.arange(count), np.random.default_rng(0).permutation(count)):
        found = calibration_of(likely, codes[order])
        assert found.error == 0.0
        assert found.is_kept
    # Two probabilities, each right.
    likely = np.repeat([[0.25, 0.75], [0.75, 0.25]], count // 2, axis=0)
    quarter = count // 8
    codes = np.repeat([0, 1, 0, 1], [quarter, count // 2 - quarter, count // 2 - quarter, quarter])
    assert calibration_of(likely, codes).error == pytest.approx(abs(2 * quarter / count - 0.25), abs=1e-12)


def test_calibrated_probabilities_are_kept_and_others_are_not():
    kept = dict.fromkeys((1.0, 3.0, 0.3), 0)
    for seed in range(8):
        logits, codes = rows(seed, 3, 300)
        for factor in kept:
            kept[factor] += calibration_of(softmax(factor * logits), codes).is_kept
    assert kept[1.0] == 8
    assert kept[3.0] == kept[0.3] == 0


def test_a_temperature_undoes_a_factor():
    logits, codes = rows(5, 3, 4_000)
    found = temperature_of(4.0 * logits, codes)
    assert found == pytest.approx(4.0 * temperature_of(logits, codes), rel=1e-2)
    assert found == pytest.approx(4.0, rel=0.1)


def test_each_row_is_judged_under_the_temperature_of_others():
    logits, codes = rows(2, 2, 60)
    before = cross_fitted(logits, codes)
    # Another logit of one row moves the temperature of the four other folds, and not of its own.
    changed = np.where(np.arange(60) == 7, 40.0 * logits[:, 0], logits[:, 0])
    after = cross_fitted(np.stack([changed, logits[:, 1]], axis=1), codes)
    is_other = np.abs(after - before).max(axis=1) > 1e-12
    assert is_other.sum() > 40
    assert not np.allclose(after[7], before[7])


def test_a_temperature_mends_a_probe_that_was_trained_too_long(monkeypatch):
    from mprlib.probes import train_probe

    random = np.random.default_rng(3)
    embeddings = random.standard_normal((300, 40))
    labels = np.where(embeddings[:, 0] + 0.8 * random.standard_normal(300) > 0, "old", "young")
    monkeypatch.setattr("mprlib.probes.STRENGTHS", (100.0,))
    probe = train_probe(embeddings, labels, held_out_share=0.3)
    fresh = random.standard_normal((1_000, 40))
    is_young = (fresh[:, 0] + 0.8 * random.standard_normal(1_000) <= 0).astype(int)
    sure, mended = (calibration_of(one(fresh), is_young) for one in (probe.probabilities, probe.calibrated))
    assert probe.temperature > 1.2
    assert mended.error < 0.8 * sure.error
    assert probe.calibrated(fresh).argmax(axis=1).tolist() == probe.probabilities(fresh).argmax(axis=1).tolist()
    assert probe.manifest()["calibration"]["rows"] == 90
