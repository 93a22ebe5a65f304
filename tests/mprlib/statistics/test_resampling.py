"""Resamples in cells have the distribution of resamples row by row."""

import time

import numpy as np
import pytest
from scipy.stats import ks_2samp

from mprlib import Problem, Reference
from mprlib.cells import cells_of
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.registry import function_class
from mprlib.statistics import Resamples, sampling_interval, sampling_margin
from mprlib.statistics import draws as draws_of
from mprlib.statistics.resampling import resampled
from tests.populations import one_hot_problem, one_hot_rows

DRAWS = 4000
# Of each of 72 comparisons.
FALSE_ALARM = 1e-4
WEIGHTS = {
    "equal": lambda random, rows: np.ones(rows),
    "two a cell": lambda random, rows: np.where(random.random(rows) < 0.2, 9.0, 1.0),
    "even": lambda random, rows: random.random(rows) + 0.5,
    "skewed": lambda random, rows: random.lognormal(sigma=1.5, size=rows),
}


def row_by_row(problem, draws, seed):
    """Cell shares of resamples, each row drawn by itself."""
    reference, cells = problem.population, cells_of(problem)
    distance = np.abs(problem.reference[:, None, :] - reference.labels[None, :, :]).sum(axis=2)
    cell = cells.reference_cell[distance.argmin(axis=1)]
    random, weights = np.random.default_rng(seed), problem.reference_weights
    found = np.empty((draws, cells.size))
    for place in range(draws):
        drawn = random.integers(weights.size, size=weights.size)
        totals = np.bincount(cell[drawn], weights[drawn], cells.size)
        found[place] = totals / totals.sum()
    return found


def is_alike(found, expected):
    """Whether two samples may be of one distribution; values that differ by rounding are equal."""
    return ks_2samp(found.round(12), expected.round(12)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("rows", [60, 600])
@pytest.mark.parametrize("name", WEIGHTS)
def test_shares_and_distances_are_distributed_alike(name, rows):
    random = np.random.default_rng(1)
    weights = WEIGHTS[name](random, rows)
    problem = one_hot_problem(
        levels=(2, 3), m=rows, reference=one_hot_rows(random, rows, (2, 3)), reference_weights=weights
    )
    cells, expected = cells_of(problem), row_by_row(problem, DRAWS, 2)
    found = np.zeros_like(expected)
    found[:, cells.reference_cell] = resampled(problem.population, DRAWS, [3])
    assert np.cov(found.T) == pytest.approx(np.cov(expected.T), abs=0.08 * np.cov(expected.T).max())
    for column in cells.reference_cell:
        assert is_alike(found[:, column], expected[:, column])
    for of_class in ("linear", "groups", "saturated"):
        oracle = function_class(of_class).bind(problem)
        distances = [closed_form_gaps(oracle, drawn - cells.reference_shares) for drawn in (found, expected)]
        assert is_alike(*distances)


def test_a_margin_of_a_million_weighted_rows_takes_less_than_two_seconds():
    random = np.random.default_rng(0)
    rows, weights = one_hot_rows(random, 1_000_000, (2, 7, 9)), random.lognormal(size=1_000_000)
    problem = one_hot_problem(n=10_000, levels=(2, 7, 9), k=50, reference=Reference.of(rows, weights))
    for name in ("linear", "saturated", "groups", "tree", "rkhs", "mlp"):
        started = time.process_time()
        assert 0 < sampling_margin(problem, name) < 0.01
        assert time.process_time() - started < 2.0


def test_no_resample_leaves_the_range_of_the_weights():
    labels = np.repeat([[1.0, 0.0], [0.0, 1.0]], [3, 50], axis=0)
    weights = np.concatenate([[1e-6, 1.0, 1000.0], np.ones(50)])
    shares = resampled(Reference.of(labels, weights), 2000, [0])
    assert (shares >= 0).all() and shares.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "tree", "mlp"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal rows", "weighted rows"])
def test_resamples_at_hand_give_the_same_margin(name, is_weighted):
    weights = np.random.default_rng(0).random(200) if is_weighted else None
    fresh, given = (one_hot_problem(reference_weights=weights) for _ in range(2))
    drawn = Resamples.drawn(given.population, 1000, [5, 0])
    assert sampling_margin(given, name, seed=5, drawn=drawn) == sampling_margin(fresh, name, seed=5)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_resamples_that_are_too_many_to_keep_are_drawn_once(monkeypatch, is_weighted):
    drawn = []

    def counted(reference, count, seed, **settings):
        drawn.append(seed)
        return resampled(reference, count, seed, **settings)

    monkeypatch.setattr(draws_of, "resampled", counted)
    monkeypatch.setattr(draws_of, "LARGEST_KEPT", 0)
    weights = np.random.default_rng(0).random(200) if is_weighted else None
    sampling_margin(one_hot_problem(reference_weights=weights), "saturated", seed=5)
    assert drawn == [(5, 0)]


@pytest.mark.parametrize("name", ["linear", "saturated", "groups"])
def test_cells_that_only_the_pool_has_vary_for_the_saturated_class(name):
    problem = one_hot_problem(m=40, levels=(2, 3, 4))
    assert cells_of(problem).size > problem.population.counts.size
    drawn = Resamples.drawn(problem.population, 1000, [5, 0])
    assert sampling_margin(problem, name, seed=5, drawn=drawn) == sampling_margin(
        one_hot_problem(m=40, levels=(2, 3, 4)), name, seed=5
    )


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "tree"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_what_is_kept_of_resamples_changes_no_interval(name, is_weighted):
    """Pools of one reference, with other cells each, some of which the reference lacks."""
    random = np.random.default_rng(8)
    rows = one_hot_rows(random, 60, (2, 3))
    rows = rows[rows[:, 4] == 0]
    reference = Reference.of(rows, random.lognormal(size=len(rows)) if is_weighted else None)
    shared = Resamples.drawn(reference, 300, [0, 0])
    for seed in (1, 2, 3):
        labels = one_hot_rows(np.random.default_rng(seed), 30, (2, 3))[: 8 * seed]
        scores = np.linspace(1, 0, len(labels))
        problem = Problem(
            scores=scores, labels=labels, reference=reference, k=4, attributes={"a": [0, 1], "b": [2, 3, 4]}
        )
        alone = Resamples.drawn(reference, 300, [0, 0])
        of_shared, of_own = (
            [sampling_interval(problem, range(4), name, resamples=300, drawn=one)] for one in (shared, alone)
        )
        assert of_shared == of_own
