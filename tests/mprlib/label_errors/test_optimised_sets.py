"""The short form of `python -m tests.benchmarks.label_noise`: intervals hold the truth, claims are kept."""

from dataclasses import replace

import numpy as np
import pytest

import mprlib
from mprlib import Confusion, LabelError, Problem, Status
from mprlib.label_errors import corrected, corrected_groups
from mprlib.label_errors.claims import claim_of
from mprlib.label_errors.corrected import difference_of, features_of
from mprlib.label_errors.estimates import reference_errors
from mprlib.label_errors.true_problem import true_problem
from mprlib.registry import function_class
from tests.benchmarks.label_audits import MOPR, REPAIRED, K, Setting, people
from tests.benchmarks.label_noise import coverage

# 95% intervals; 24 audits tell that to some four points.
FLOOR, AUDITS = 0.86, 24
SETTINGS = [
    Setting(levels=(2,), error=0.1, is_symmetric=True),
    Setting(levels=(7,), error=0.2, is_symmetric=False, hand_labels=300),
    # Log odds that are no lines, and that jump.
    Setting(levels=(2,), error=0.1, is_symmetric=True, scores="skewed up"),
    Setting(levels=(2,), error=0.1, is_symmetric=True, scores="heavy tails"),
    Setting(levels=(2,), error=0.1, is_symmetric=True, scores="skewed down"),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_intervals_hold_the_truth(setting):
    for kind, sums in coverage(setting, AUDITS, first=10_000).items():
        assert sums["is_held"] / sums["audits"] >= FLOOR, kind


def test_an_optimiser_picks_the_mislabelled_and_the_inverse_does_not_see_it():
    linear, missed, held = function_class("linear"), [], []
    for seed in range(10):
        audit = people(SETTINGS[0], 20_000 + seed)
        plain, seen = audit.plain, audit.seen(None)
        rho = REPAIRED * mprlib.measure(plain, plain.best_first[: plain.k]).value
        row = mprlib.select(plain, "mopr", rho)
        truth = mprlib.measure(audit.truth, row.items).value
        assert row.mpr is not None and row.mpr < truth
        for kept, chosen_by in ((missed, "other"), (held, "labels")):
            found = corrected(seen, row.items, linear, chosen_by=chosen_by)
            kept.append(found.low <= truth <= found.high)
    assert np.mean(missed) < 0.7 < 0.8 < np.mean(held)


@pytest.mark.parametrize("name", ["linear", "groups"])
def test_a_claimed_bound_is_kept(name):
    kept, similarities = [], []
    for seed in range(10):
        audit = people(replace(SETTINGS[0], items=1_000), 30_000 + seed)
        seen = audit.seen(None)
        top = mprlib.measure(seen, seen.best_first[:50], name).value
        for row in mprlib.sweep(seen, "mopr", [0.6 * top, 0.9 * top], name):
            assert (row.status == Status.FEASIBLE) == (row.p_rho >= 0.9)
            assert row.similarity_bound is None
            if row.status == Status.FEASIBLE:
                kept.append(mprlib.measure(audit.truth, row.items, name).value <= row.rho)
                similarities.append(row.similarity)
    assert len(kept) > 8
    assert np.mean(kept) >= 0.8


def test_a_claim_counts_errors_of_what_is_estimated_with_the_sign_that_is_against_it():
    seen = people(SETTINGS[0], 40_000).seen(100)
    top, linear = seen.best_first[:K], function_class("linear")
    found, features = difference_of(seen, top, "labels"), features_of(linear.bind(true_problem(seen)))
    own, error = found.shares + found.own, np.resize(found.error, found.own.shape)
    both = [np.linalg.norm((own + sign * error) @ features, axis=1) for sign in (1, -1)]
    claim = claim_of(seen, top, linear)
    assert claim.draws == pytest.approx(np.sort(np.maximum(*both)))
    assert claim.bound(0.9) >= max(np.quantile(one, 0.9) for one in both)


def test_what_the_references_shares_are_expected_to_have_too_much_is_that_of_the_labels_by_the_inverse():
    """Ten levels of 100 +- 20 people, the wrong label in one of ten cases: 7/40 of each deviation of the labels' shares
    is expected to be noise (as in `test_shrinkage`), and a true share deviates 9/8 times as far."""
    rows = np.repeat(np.eye(10), [120] * 5 + [80] * 5, axis=0)
    confusion = Confusion.of(0.9 * np.eye(10) + 0.1 / 9 * (1 - np.eye(10)))
    seen = Problem(
        scores=np.arange(1_000),
        labels=rows,
        reference=rows,
        k=20,
        attributes={"a": range(10)},
        label_error=LabelError(items={"a": confusion}, reference={"a": confusion}),
    )
    expected = np.repeat([0.02, -0.02], 5) * 7 / 40 * 9 / 8
    assert reference_errors(seen) == pytest.approx(expected)
    items = np.arange(20)
    assert difference_of(seen, items, "labels").expected == pytest.approx(expected)
    assert not difference_of(seen, items, "other").expected.any()


def test_what_is_fitted_to_shares_that_differ_by_noise_is_held():
    """The sets that are nearest to a reference of 1,000 people in 126 cells of nearly equal shares, one label in fifty
    wrong; without what its shares are expected to have too much, a claim with 90% is kept by none."""
    saturated = function_class("saturated")
    setting = Setting(levels=(2, 7, 9), error=0.02, is_symmetric=True, people=1_000, concentration=1_000.0)
    for seed in range(2):
        audit = people(setting, 50_000 + seed)
        seen = audit.seen(None)
        row = mprlib.select(seen, MOPR, 0.01, "saturated")
        truth = mprlib.measure(audit.truth, row.items, "saturated").value
        assert truth <= claim_of(seen, row.items, saturated).bound(0.9)
        assert truth <= mprlib.corrected(seen, row, "saturated").high


def test_where_a_group_vanishes_its_share_may_be_none():
    # The most similar 300 of 3,000 are men, one in ten of them labelled a woman, and these women are chosen.
    random = np.random.default_rng(0)
    women = np.arange(3_000) >= 300
    women[300:] = random.random(2_700) < 0.6
    labels = np.where(random.random(3_000) < 0.1, ~women, women)
    rows = np.stack([labels, ~labels], axis=1).astype(float)
    seen = Problem(
        scores=np.linspace(1, 0, 3_000),
        labels=rows,
        reference=rows,
        k=20,
        attributes={"gender": [0, 1]},
        label_names=["gender=woman", "gender=man"],
        label_error={"gender": [[0.9, 0.1], [0.1, 0.9]]},
    )
    share = corrected_groups(seen, np.flatnonzero(labels[:300])[:20])["gender=woman"]
    assert share.low == 0.0 and share.share < 0.3


def test_a_bound_that_noise_does_not_carry_is_not_claimed():
    audit = people(Setting(levels=(2,), error=0.2, is_symmetric=True, items=500), 7)
    row = mprlib.select(audit.seen(None), "mopr", 1e-4)
    assert row.status == Status.NOT_FOUND
    assert "it holds with a probability of" in row.message


def test_no_difference_at_all_is_claimed_of_no_set():
    audit = people(replace(SETTINGS[0], items=300, people=300), 60_000)
    [row] = mprlib.sweep(audit.seen(None), MOPR, [0.0])
    assert (row.status, row.items.size) == (Status.NOT_FOUND, K)
    assert row.p_rho == 0.0


def test_other_constrained_methods_say_what_their_sets_may_claim():
    audit = people(replace(SETTINGS[0], items=300), 8)
    top = mprlib.measure(audit.plain, audit.plain.best_first[:50]).value
    row = mprlib.select(audit.seen(None), "mopr_qp", 0.3 * top)
    assert row.p_rho is not None
    assert row.status == (Status.FEASIBLE if row.p_rho >= 0.9 else Status.NOT_FOUND)


def test_sets_by_expected_labels_are_off_by_what_is_not_known():
    """An optimiser of expected labels brings them to the reference, whatever the true ones are: mostly 0 would be said
    of sets at 0.02, if the error of what is expected were taken off. Sixty hand labels a level."""
    linear, values, truths, held = function_class("linear"), [], [], []
    for seed in range(12):
        audit = people(SETTINGS[0], seed)
        plain, seen = audit.plain, audit.seen(60)
        rho = 0.6 * mprlib.measure(plain, plain.best_first[: plain.k]).value
        row = mprlib.select(seen, MOPR, rho)
        found, truth = mprlib.corrected(seen, row), mprlib.measure(audit.truth, row.items).value
        assert found == corrected(seen, row.items, linear, chosen_by="expected")
        values.append(found.value)
        truths.append(truth)
        held.append(found.low <= truth <= found.high)
        # Draws of a confusion that are hardly better than lots do not carry the estimate beyond its interval.
        assert found.low <= found.value <= found.high
    size, truth = (np.sqrt(np.mean(np.square(one))) for one in (values, truths))
    assert 0.6 * truth <= size <= 1.6 * truth
    assert np.mean(held) >= FLOOR
