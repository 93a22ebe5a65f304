"""The short form of `python -m tests.benchmarks.label_noise`: intervals hold the truth, claims are kept."""

from dataclasses import replace

import numpy as np
import pytest

import mprlib
from mprlib import Status
from mprlib.label_errors import corrected
from mprlib.registry import function_class
from tests.benchmarks.label_audits import REPAIRED, Setting, people
from tests.benchmarks.label_noise import coverage

# 95% intervals; 24 audits tell that to some four points.
FLOOR, AUDITS = 0.86, 24
SETTINGS = [
    Setting(levels=(2,), error=0.1, is_symmetric=True),
    Setting(levels=(7,), error=0.2, is_symmetric=False, hand_labels=300),
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


def test_a_bound_that_noise_does_not_carry_is_not_claimed():
    audit = people(Setting(levels=(2,), error=0.2, is_symmetric=True, items=500), 7)
    row = mprlib.select(audit.seen(None), "mopr", 1e-4)
    assert row.status == Status.NOT_FOUND
    assert "it holds with a probability of" in row.message


def test_other_constrained_methods_say_what_their_sets_may_claim():
    audit = people(replace(SETTINGS[0], items=300), 8)
    top = mprlib.measure(audit.plain, audit.plain.best_first[:50]).value
    row = mprlib.select(audit.seen(None), "mopr_qp", 0.3 * top)
    assert row.p_rho is not None
    assert row.status == (Status.FEASIBLE if row.p_rho >= 0.9 else Status.NOT_FOUND)
