"""Bounds: known sizes, and a coin that the printed one fails."""

import numpy as np
import pytest

from mprlib import InputError
from mprlib.statistics import (
    cells_bound,
    finite_bound,
    paper_deviation,
    paper_reference_size,
    rademacher_bound,
    reference_size,
    vc_bound,
)


def test_needed_sizes_for_28_cells():
    assert reference_size(lambda m: vc_bound(28, m, 0.05), 0.1) == 253_032
    assert reference_size(lambda m: cells_bound(28, m, 0.05), 0.1) == 5_843
    # 32 * 28 / 0.01 + 2 ln(40) / 0.01
    # 89,600 for the dimension and ln(40) / 0.01 = 368.9 for the risk.
    assert paper_reference_size(28, 0.1, 0.05) == 89_969


def test_needed_size_is_the_smallest():
    size = reference_size(lambda m: finite_bound(10, m, 0.05), 0.05)
    assert finite_bound(10, size, 0.05) <= 0.05 < finite_bound(10, size - 1, 0.05)


def test_indicators_need_half_and_a_class_without_complexity_only_the_deviation():
    assert finite_bound(5, 100, 0.1, indicators=True) == pytest.approx(finite_bound(5, 100, 0.1) / 2)
    assert rademacher_bound(0.0, 100, 0.05) == pytest.approx(np.sqrt(2 * np.log(40) / 100))
    assert rademacher_bound(0.0, 100, 0.05) == pytest.approx(4 * paper_deviation(100, 0.05))


def test_one_fair_coin_breaks_the_printed_deviation():
    """C = {c}, c = +-1 by a fair coin: complexity 0, so the printed bound is its deviation alone."""
    means = 2 * np.random.default_rng(0).binomial(1000, 0.5, size=20_000) / 1000 - 1
    assert np.mean(np.abs(means) > paper_deviation(1000, 0.05)) > 0.3
    assert np.mean(np.abs(means) > finite_bound(1, 1000, 0.05)) < 0.05


@pytest.mark.parametrize("bound", [lambda m: cells_bound(28, m, 0.05), lambda m: vc_bound(28, m, 0.05)])
def test_bounds_fall_with_the_sample(bound):
    values = [bound(m) for m in (100, 1000, 10_000, 100_000)]
    assert np.all(np.diff(values) < 0)


def test_vc_bound_of_too_few_rows_is_the_trivial_one():
    assert vc_bound(28, 27, 0.05) == 2.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: cells_bound(0, 10, 0.1), "cells"),
        (lambda: vc_bound(0, 10, 0.1), "dimension"),
        (lambda: finite_bound(0, 10, 0.1), "functions"),
        (lambda: cells_bound(2, 0, 0.1), "m is"),
        (lambda: cells_bound(2, 10, 1.0), "delta"),
        (lambda: reference_size(lambda m: 1 / m, 0.0), "epsilon"),
        (lambda: reference_size(lambda m: 1.0, 0.5), "no reference size"),
        (lambda: paper_reference_size(2, -1, 0.1), "epsilon"),
    ],
)
def test_refuses_what_no_bound_is_for(call, name):
    with pytest.raises(InputError, match=name):
        call()
