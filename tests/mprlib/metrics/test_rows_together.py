"""Measures of many selections at once are those of each by itself, to the bit."""

import sys

import numpy as np
import pytest

import mprlib
from mprlib.metrics.worst_attribute import worst_attributes
from tests.populations import one_hot_problem


@pytest.mark.parametrize("block", [1, 7, 2_000_000])
def test_many_selections_are_measured_as_one_is(block, monkeypatch):
    # The package names the function, not the module, by this name.
    monkeypatch.setattr(sys.modules["mprlib.metrics.worst_attribute"], "LARGEST_BLOCK", block)
    problem, random = one_hot_problem(), np.random.default_rng(2)
    selections = np.array([random.permutation(problem.n)[:13] for _ in range(9)])
    together = worst_attributes(problem, selections)
    assert together == [mprlib.metrics.worst_attribute(problem, items) for items in selections]
    for items, found in zip(selections, together):
        rankings = mprlib.metrics.rankings(problem, items).values()
        assert found.awrf == min(map(mprlib.metrics.awrf, rankings))
        assert found.ndkl == max(map(mprlib.metrics.ndkl, rankings))
        assert found.max_skew == max(map(mprlib.metrics.max_skew, rankings))
        assert found.min_skew == min(map(mprlib.metrics.min_skew, rankings))
