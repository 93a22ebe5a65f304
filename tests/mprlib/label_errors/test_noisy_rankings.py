"""Published corrections of a measure of rankings, and ours, on rankings of their authors' settings."""

import numpy as np
import pytest

from tests.benchmarks.noisy_rankings import SHARE, errors_of, ours, ranking, rnd, shares_of, theirs

Q, P = 0.2, 0.3


def test_the_inverse_is_the_published_correction_where_scores_depend_on_the_truth():
    _, predicted, scores = ranking("I", Q, np.random.default_rng(0))
    order = np.argsort(-scores)
    observed = rnd(shares_of(predicted[order]) - ((1 - Q) * SHARE + P * (1 - SHARE)))
    assert ours(predicted, scores, order, Q)[0] == pytest.approx(theirs(observed, Q)[0], abs=1e-9)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_scores_and_labels_together_say_more_than_labels(q):
    errors = [errors_of("I", q, seed) for seed in range(2)]
    _, published, _, inverse, by_score = np.mean(errors, axis=0)
    assert by_score < 0.01 and by_score < published == pytest.approx(inverse, abs=1e-9)
