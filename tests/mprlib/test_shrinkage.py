"""What a sample's shares are expected to have too much: solved by hand, and against what they have."""

from itertools import pairwise

import numpy as np
import pytest

from mprlib import Problem, Reference
from mprlib.shrinkage import expected_errors
from tests.drawn_populations import Drawn, Setting


def cells_of_counts(counts) -> Reference:
    """One attribute with a level for each count."""
    return Reference.of(np.repeat(np.eye(len(counts)), counts, axis=0))


def errors_of(problem: Problem) -> np.ndarray:
    return expected_errors(problem.population, tuple(problem.attributes.values()))


def test_a_part_of_the_step_from_equal_shares_is_noise():
    """Ten cells of 100 +- 20 rows: chi^2 is 10 * 400 / 100 = 40, of 9 degrees of freedom."""
    population = cells_of_counts([120] * 5 + [80] * 5)
    found = expected_errors(population, [range(10)])
    assert found == pytest.approx(7 / 40 * (population.shares - 0.1))


def test_no_more_than_the_whole_step_is():
    """Ten cells of 100 +- 2 rows: chi^2 is 0.4."""
    population = cells_of_counts([102] * 5 + [98] * 5)
    assert expected_errors(population, [range(10)]) == pytest.approx(population.shares - 0.1)


@pytest.mark.parametrize("counts", [[5], [30, 70], [10, 20, 70], [7] * 10])
def test_of_few_cells_and_of_equal_shares_nothing_is_known(counts):
    assert not expected_errors(cells_of_counts(counts), [range(len(counts))]).any()


def product(*levels) -> tuple[np.ndarray, list[range]]:
    """Rows (rows, columns) of independent attributes with these counts of levels, one hot, and each one's columns."""
    grids = np.meshgrid(*(np.repeat(np.arange(len(own)), own) for own in levels), indexing="ij")
    rows = np.concatenate([np.eye(len(own))[grid.ravel()] for own, grid in zip(levels, grids)], axis=1)
    starts = np.cumsum([0, *(len(own) for own in levels)])
    return rows, [range(*ends) for ends in pairwise(starts)]


def test_each_attribute_is_a_step_of_its_own():
    """The first has too few levels to tell noise from. The second has three degrees of freedom, of which one counts."""
    rows, attributes = product([1, 3], [2, 2, 4, 8])
    population = Reference.of(rows)
    of_first = population.labels @ [0.25, 0.75, 0, 0, 0, 0] / 4
    step = population.shares - of_first
    squares = 64 * np.sum(step**2 / of_first)
    assert expected_errors(population, attributes) == pytest.approx(step / squares)


def test_labels_that_are_no_levels_have_a_step_for_all():
    """Too many margins to fit: chi^2 from equal shares alone."""
    rows = np.random.default_rng(0).standard_normal((400, 300))
    population = Reference.of(np.concatenate([rows, rows[:200], rows[:200]]))
    step = population.shares - 1 / 400
    squares = 800 * np.sum(step**2 * 400)
    found = expected_errors(population, [[column] for column in range(300)])
    assert found == pytest.approx(min(1.0, 397 / squares) * step)


@pytest.mark.parametrize("concentrations", [(2.0,), (20.0,), (1e6,), (1.0, 500.0, 500.0)])
def test_what_is_expected_is_what_they_have_on_average(concentrations):
    """Errors e less what is expected do not lean with what is expected: the slope of e by it is 1."""
    setting = Setting(levels=(2, 7, 9), m=10_000, n=100, k=10, concentrations=concentrations)
    expected, errors = [], []
    for seed in range(30):
        drawn = Drawn.of(setting, np.random.default_rng(seed))
        own = errors_of(drawn.problem)
        place = np.argmax(drawn.problem.population.labels @ drawn.one_hot.T, axis=1)
        expected.append(own)
        errors.append((drawn.sample_shares - drawn.shares)[place])
    slope = np.vdot(np.concatenate(expected), np.concatenate(errors)) / sum(own @ own for own in expected)
    assert slope == pytest.approx(1.0, abs=0.25)
