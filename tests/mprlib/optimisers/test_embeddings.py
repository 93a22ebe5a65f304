"""Labels that are embeddings: every item its own cell, the same interface, an honest gap."""

import numpy as np
import pytest

from mprlib import Problem, measure, sweep
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.corral import Corral
from mprlib.optimisers.relaxing import centred_features
from mprlib.registry import function_class


def embedded(n: int, width: int, seed: int = 0) -> Problem:
    """Unit vectors around ten centres; the query leans to one of them."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((10, width))
    rows = centres[rng.integers(0, 10, 2 * n)] + rng.standard_normal((2 * n, width))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = centres[0] + rng.standard_normal(width)
    return Problem(scores=rows[:n] @ query / np.linalg.norm(query), labels=rows[:n], reference=rows[n:], k=20)


def test_corral_encloses_the_cone_programme() -> None:
    problem = embedded(550, 8)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    top = measure(problem, problem.best_first[:20]).value
    programme = ConeProgramme(features, pool)
    for row in Corral(features, pool).walk([0.8 * top, 0.4 * top]):
        exact = programme.relaxation(row.rho).bound
        assert exact - 1e-6 <= row.bound <= exact * (1 + 2e-2)


@pytest.mark.parametrize(("name", "settings"), [("linear", {}), ("rkhs", {"kernel": "linear"})])
def test_curve_over_embeddings(name: str, settings: dict) -> None:
    problem = embedded(1_200, 24)
    top = measure(problem, problem.best_first[:20], name, **settings).value
    rows = sweep(problem, "mopr", [0.5 * top, 0.8 * top, top], name, **settings)
    for row in rows:
        assert len(set(row.items.tolist())) == 20
        assert row.mpr == measure(problem, row.items, name, **settings).value
        if row.status in ("optimal", "feasible"):
            assert row.mpr <= row.rho and row.gap >= 0
    assert rows[1].status == "feasible" and rows[2].status == "optimal"
