"""Fractional counts become whole ones, k in all, whatever a solver left of their sum."""

import numpy as np
import pytest

from mprlib import Problem
from mprlib.cells import cells_of
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.rounding import rounded


@pytest.mark.parametrize("shift", [-5.0, -0.4, 0.0, 0.7, 6.0])
def test_k_items_within_the_cells(shift):
    generator = np.random.default_rng(0)
    labels = np.eye(6)[generator.integers(0, 6, 60)]
    problem = Problem(scores=generator.random(60), labels=labels, reference=labels[:20], k=17)
    pool = cell_pool_of(problem, cells_of(problem))
    for _ in range(50):
        counts = generator.dirichlet(np.ones(6)) * (17 + shift)
        whole = rounded(np.minimum(counts, pool.capacity), pool)
        assert whole.sum() == 17
        assert ((whole >= 0) & (whole <= pool.capacity)).all()


def test_the_largest_fractions_are_rounded_up():
    labels = np.repeat(np.eye(3), 10, axis=0)
    problem = Problem(scores=np.linspace(1, 0, 30), labels=labels, reference=labels, k=5)
    cells = cells_of(problem)
    pool = cell_pool_of(problem, cells)
    assert rounded(np.array([1.2, 2.9, 0.9]), pool).tolist() == [1, 3, 1]
