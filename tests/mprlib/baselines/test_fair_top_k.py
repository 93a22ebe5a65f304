from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import mprlib
from mprlib import InputError, Problem
from mprlib.baselines.fair_top_k import lower_bounds, rejection_probability


def problem_of(scores, protected, k) -> Problem:
    labels = np.eye(2)[np.asarray(protected, dtype=int)]
    return Problem(
        scores=scores,
        labels=labels,
        reference=labels,
        k=k,
        attributes={"sex": [0, 1]},
        label_names=["sex=male", "sex=female"],
    )


def test_rejection_probability_counts_all_sequences():
    bounds, share = np.array([0, 0, 1, 1, 2]), 0.4
    rejected = sum(
        np.prod([share if hit else 1 - share for hit in hits])
        for hits in product([0, 1], repeat=5)
        if (np.cumsum(hits) < bounds).any()
    )
    assert rejection_probability(bounds, share) == pytest.approx(rejected)


@pytest.mark.parametrize(("k", "share"), [(1, 0.5), (10, 0.3), (50, 0.5), (100, 0.1)])
def test_bounds_reject_a_fair_lottery_at_most_as_often_as_stated(k, share):
    bounds = lower_bounds(k, share, 0.1)
    assert (np.diff(bounds) >= 0).all() and (np.diff(bounds) <= 1).all()
    assert rejection_probability(bounds, share) <= 0.1
    uncorrected = binom.ppf(0.1, np.arange(1, k + 1), share)
    assert (bounds <= uncorrected).all()


def test_bounds_by_hand():
    """One draw of a fair coin shows no protected item half of the time: nothing can be asked."""
    assert lower_bounds(1, 0.5, 0.1).tolist() == [0]
    # Four draws without one have probability 1/16 < 0.1, and no earlier test is possible at that level.
    assert lower_bounds(4, 0.5, 0.1).tolist() == [0, 0, 0, 1]


def test_the_table_without_correction_rejects_a_fair_lottery_too_often():
    """Of 20 draws at 0.25, tested at level 0.1 each: the bounds, counted to the last of them, fail for 14.7%."""
    uncorrected = np.maximum(binom.ppf(0.1, np.arange(1, 21), 0.25), 0).astype(int)
    assert uncorrected.tolist() == [0] * 8 + [1] * 6 + [2] * 5 + [3]
    assert rejection_probability(uncorrected, 0.25) == pytest.approx(0.1469, abs=5e-5)
    assert rejection_probability(lower_bounds(20, 0.25, 0.1), 0.25) <= 0.1


def test_a_merged_ranking_under_prefix_bounds_is_the_same_set():
    generator = np.random.default_rng(0)
    for _ in range(40):
        scores, protected, k = generator.random(40), generator.random(40) < 0.3, 12
        scores[protected] *= generator.random()
        share = float(generator.uniform(0.1, 0.9))
        bounds = lower_bounds(k, share, 0.1)
        queues = {side: [i for i in np.argsort(-scores) if protected[i] == side] for side in (True, False)}
        merged = []
        while len(merged) < k:
            shown = int(protected[merged].sum()) if merged else 0
            heads = [side for side in (True, False) if queues[side]]
            must = shown < bounds[len(merged)] and True in heads
            side = True if must else max(heads, key=lambda side: scores[queues[side][0]])
            merged.append(queues[side].pop(0))
        problem = problem_of(scores, protected, k)
        ours = mprlib.select(problem, "fair_top_k", protected=protected, share=share).items
        assert set(ours.tolist()) == set(merged)
        in_order = mprlib.select(problem, "fair_top_k", protected=protected, share=share, order="fair")
        assert in_order.items.tolist() == merged
        assert in_order.similarity == mprlib.select(problem, "fair_top_k", protected=protected, share=share).similarity


def test_the_default_group_is_the_one_that_top_k_hides_most():
    scores = np.concatenate([np.linspace(1, 0.9, 30), np.linspace(0.5, 0.1, 30)])
    problem = problem_of(scores, np.arange(60) >= 30, 20)
    selection = mprlib.select(problem, "fair_top_k")
    needed = lower_bounds(20, 0.5, 0.1)[-1]
    assert (selection.items >= 30).sum() == needed > 0
    assert selection.message == f"at least {needed} of 20 must be sex=female, {needed} are"


def test_too_few_protected_items_are_all_taken():
    protected = np.arange(10) == 0
    problem = problem_of(np.arange(10.0), protected, 8)
    selection = mprlib.select(problem, "fair_top_k", protected=protected, share=0.9)
    assert 0 in selection.items
    assert np.unique(selection.items).size == 8
    assert "1 are" in selection.message


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        ({"protected": [1, 0]}, "protected"),
        ({"protected": [0.5] * 10}, "protected"),
        ({"protected": [True] * 10}, "share"),
        ({"protected": [True] * 10, "share": 1.0}, "share"),
        ({"share": 0.5}, "share comes without protected"),
        ({"significance": 0.0}, "significance"),
    ],
)
def test_unusable_extras(extras, words):
    with pytest.raises(InputError, match=words):
        mprlib.select(problem_of(np.arange(10.0), np.arange(10) % 2, 4), "fair_top_k", **extras)
