"""The measures beside packages that print them, each skipped where the package is not installed.

    pip install ir-measures pytrec-eval-terrier FairRankTune

Where a package has another definition, the difference is undone here and so explained.
"""

import math

import numpy as np
import pandas as pd
import pytest

from mprlib import metrics

from .random_rankings import cases

TOLERANCE = 1e-9
CASES = list(cases(1))
# What FairRankTune adds to every share. A level that a prefix lacks then adds up to this times its logarithm.
SMOOTHING = 1e-7
MOST_LEVELS = 8


def documents(count: int) -> list[str]:
    """Names in an order that is also that of trec_eval among equal scores."""
    return [f"d{number:04d}" for number in range(count, 0, -1)]


def run_and_judgements(case) -> tuple[dict, dict]:
    """A run whose scores all tie, so that trec_eval orders by name, and judgements of all candidates."""
    others = list(case.candidate_gains)
    for gain in case.gains:
        others.remove(gain)
    names = documents(len(case.candidate_gains))
    judged = dict(zip(names, map(int, [*case.gains, *others])))
    return {"q": dict.fromkeys(names[: len(case.gains)], 1.0)}, {"q": judged}


def test_trec_evals_ndcg_and_precision():
    package = pytest.importorskip("pytrec_eval")
    for case in CASES:
        run, judgements = run_and_judgements(case)
        k = len(case.gains)
        found = package.RelevanceEvaluator(judgements, {f"ndcg_cut.{k}", f"P.{k}"}).evaluate(run)["q"]
        # trec_eval has 0 where no candidate is relevant, and no order is better than another.
        assert found[f"ndcg_cut_{k}"] == pytest.approx(
            metrics.ndcg(case.gains, case.candidate_gains) or 0, abs=TOLERANCE
        )
        assert found[f"P_{k}"] == pytest.approx(metrics.precision(case.gains), abs=TOLERANCE)


def test_ir_measures_ndcg_and_precision():
    package = pytest.importorskip("ir_measures")
    for case in CASES[:100]:
        run, judgements = run_and_judgements(case)
        k = len(case.gains)
        found = package.calc_aggregate([package.nDCG @ k, package.P @ k], judgements, run)
        assert found[package.nDCG @ k] == pytest.approx(
            metrics.ndcg(case.gains, case.candidate_gains) or 0, abs=TOLERANCE
        )
        assert found[package.P @ k] == pytest.approx(metrics.precision(case.gains), abs=TOLERANCE)


def as_fair_rank_tune(case) -> tuple[pd.DataFrame, dict]:
    """A ranking as one column, and the level of every candidate."""
    names = documents(sum(case.candidates.values()))
    waiting = {level: size - case.levels.count(level) for level, size in case.candidates.items()}
    levels = [*case.levels, *(level for level, size in waiting.items() for _ in range(size))]
    return pd.DataFrame({"ranking": names[: len(case.levels)]}), dict(zip(names, levels))


def test_fair_rank_tunes_exposure():
    package = pytest.importorskip("FairRankTune.Metrics")
    for case in CASES:
        ranking, level_of = as_fair_rank_tune(case)
        ratio, _ = package.EXP(ranking, level_of, "MinMaxRatio")
        difference, _ = package.EXP(ranking, level_of, "MaxMinDiff")
        assert metrics.exposure_ratio(case.ranking) == pytest.approx(ratio, abs=TOLERANCE)
        assert metrics.exposure_difference(case.ranking) == pytest.approx(difference, abs=TOLERANCE)


def smoothed_divergence(shares: np.ndarray, target: np.ndarray) -> float:
    return float(np.sum((shares + SMOOTHING) * np.log((shares + SMOOTHING) / (target + SMOOTHING))))


def test_fair_rank_tunes_ndkl():
    """Its target is the list's own mix, without the groups that are absent, and every share is raised a little."""
    package = pytest.importorskip("FairRankTune.Metrics")
    for case in CASES:
        ranking, level_of = as_fair_rank_tune(case)
        theirs = package.NDKL(ranking, level_of)
        own_mix = {level: case.levels.count(level) / len(case.levels) for level in set(case.levels)}
        ours = metrics.ndkl(metrics.ranking(case.levels, own_mix))
        assert ours == pytest.approx(theirs, abs=MOST_LEVELS * SMOOTHING * abs(math.log(SMOOTHING)))
        target, terms, weights = np.array(list(own_mix.values())), [], []
        for place in range(1, len(case.levels) + 1):
            shares = np.array([case.levels[:place].count(level) / place for level in own_mix])
            terms.append(smoothed_divergence(shares, target))
            weights.append(1 / math.log2(place + 1))
        assert np.average(terms, weights=weights) == pytest.approx(theirs, abs=TOLERANCE)
