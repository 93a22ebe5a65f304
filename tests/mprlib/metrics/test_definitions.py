"""Every measure equals its published formula, written out a second time without arrays, and other people's code."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from sklearn.metrics import ndcg_score, precision_score

from mprlib import metrics

from .random_rankings import cases

TOLERANCE = 1e-9
CASES = list(cases())


def equal(found, expected):
    return found == expected or found == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


def shares_of(levels, names):
    return [levels.count(name) / len(levels) for name in names]


def test_the_cases_reach_the_edges():
    assert len(CASES) == 500
    assert sum(len(case.target) == 1 for case in CASES) >= 50
    assert sum(len(case.levels) == 1 for case in CASES) >= 50
    assert sum(math.isinf(metrics.ndkl(case.ranking)) for case in CASES) >= 20
    assert sum(math.isinf(metrics.min_skew(case.ranking)) for case in CASES) >= 100
    assert sum(0 in case.candidates.values() for case in CASES) >= 10
    assert sum(metrics.ndcg(case.gains, case.candidate_gains) is None for case in CASES) >= 50


def test_awrf_is_one_minus_scipys_jensen_shannon_distance_squared():
    for case in CASES:
        weights = [1 / math.log2(max(place, 2)) for place in range(1, len(case.levels) + 1)]
        attention = [
            sum(weight for weight, level in zip(weights, case.levels) if level == name) / sum(weights)
            for name in case.target
        ]
        distance = jensenshannon(attention, list(case.target.values()))
        # scipy takes a root of what is below zero by rounding.
        expected = 1.0 if math.isnan(distance) else 1.0 - distance**2
        assert metrics.awrf(case.ranking) == pytest.approx(expected, abs=TOLERANCE)


def test_ndkl_is_the_discounted_mean_of_scipys_relative_entropies():
    for case in CASES:
        total = normaliser = 0.0
        for place in range(1, len(case.levels) + 1):
            weight = 1 / math.log2(place + 1)
            shares = shares_of(case.levels[:place], case.target)
            total += weight * entropy(shares, list(case.target.values()))
            normaliser += weight
        assert equal(metrics.ndkl(case.ranking), total / normaliser)


def test_skews_are_logarithms_of_ratios():
    for case in CASES:
        found = []
        for share, target in zip(shares_of(case.levels, case.target), case.target.values()):
            if share or target:
                found.append(-math.inf if not share else math.inf if not target else math.log(share) - math.log(target))
        assert equal(metrics.max_skew(case.ranking), max(found))
        assert equal(metrics.min_skew(case.ranking), min(found))


def test_exposures_are_means_over_the_candidates_of_a_level():
    for case in CASES:
        means = []
        for name, size in case.candidates.items():
            got = [1 / math.log2(place + 2) for place, level in enumerate(case.levels) if level == name]
            if size:
                means.append(sum(got) / size)
        assert equal(metrics.exposure_ratio(case.ranking), min(means) / max(means))
        assert equal(metrics.exposure_difference(case.ranking), max(means) - min(means))


def test_parity_compares_shares_with_the_target():
    for case in CASES:
        pairs = list(zip(shares_of(case.levels, case.target), case.target.values()))
        ratios = [share / target if target else math.inf for share, target in pairs if share or target]
        assert equal(metrics.parity_difference(case.ranking), max(abs(share - target) for share, target in pairs))
        assert equal(metrics.parity_ratio(case.ranking), min(ratios) / max(ratios))


def test_parity_ratio_against_the_candidates_is_that_of_selection_rates():
    """Exactly, as demographic parity is defined for classifiers: the smallest rate over the largest."""
    for case in CASES:
        total = sum(case.candidates.values())
        target = {name: size / total for name, size in case.candidates.items()}
        rates = [Fraction(case.levels.count(name), size) for name, size in case.candidates.items() if size]
        assert equal(metrics.parity_ratio(metrics.ranking(case.levels, target)), float(min(rates) / max(rates)))


def test_ndcg_equals_scikit_learns():
    for case in CASES:
        shown, others = case.gains, list(case.candidate_gains)
        for gain in shown:
            others.remove(gain)
        found = metrics.ndcg(shown, case.candidate_gains)
        if found is None:
            assert not any(case.candidate_gains)
        elif len(case.candidate_gains) > 1:
            order = -np.arange(len(case.candidate_gains))
            assert equal(found, ndcg_score([shown + others], [order], k=len(shown)))


def test_precision_equals_scikit_learns():
    for case in CASES:
        relevant = [gain > 0 for gain in case.gains]
        assert equal(metrics.precision(case.gains), precision_score(relevant, [True] * len(relevant), zero_division=0))
