"""The walk over rho: a path solved by hand, and Clarabel's answers on random problems."""

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.cells import Cells
from mprlib.optimisers.ball_path import BallPath
from mprlib.optimisers.ball_region import centred_features
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.relaxation import rho_bound, similarity_bound
from mprlib.registry import function_class


def two_cells() -> tuple[Problem, Cells]:
    problem = Problem(scores=[1.0, 0.0], labels=[[1.0], [0.0]], reference=[[1.0], [0.0]], k=1)
    return problem, function_class("linear").bind(problem).cells


def test_path_solved_by_hand() -> None:
    """M = (1, -1): v = 2 x - 1, so |v| <= rho gives x = (1 + rho) / 2 of the better item."""
    problem, cells = two_cells()
    pool = cell_pool_of(problem, cells)
    features = np.where(cells.labels == 1.0, 1.0, -1.0)
    better = int(np.flatnonzero(cells.labels[:, 0] == 1.0)[0])
    rows = BallPath(features, pool).solve([1.0, 0.5, 0.0])
    for row, rho in zip(rows, (1.0, 0.5, 0.0)):
        assert row.counts[better] == pytest.approx((1 + rho) / 2)
        assert row.bound == pytest.approx((1 + rho) / 2)
    assert rows[1].multiplier == pytest.approx(0.5)


def test_out_of_reach_is_told_with_the_smallest_rho() -> None:
    problem, cells = two_cells()
    # Both items lie on one side: |v| >= 0.25 whatever is chosen.
    rows = BallPath(np.array([[0.25], [1.0]]), cell_pool_of(problem, cells)).solve([0.3, 0.1])
    assert not rows[0].is_infeasible
    assert rows[1].is_infeasible and rows[1].rho_min == pytest.approx(0.25)


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(30, 400)), int(rng.integers(20, 300))
    rows = (rng.random((n + m, 5)) < rng.uniform(0.1, 0.9, 5)).astype(float)
    rows = np.hstack([rows, 1 - rows[:, :2]])
    scores = rng.random(n) + rows[:n] @ rng.standard_normal(7) / 3
    if seed % 2:
        scores = np.round(scores, 1)
    return Problem(scores=scores, labels=rows[:n], reference=rows[n:], k=int(rng.integers(1, 25)))


@pytest.mark.parametrize("name", ["linear", "saturated", "rkhs"])
@pytest.mark.parametrize("seed", range(8))
def test_equals_the_cone_programme(seed: int, name: str) -> None:
    problem = random_problem(seed)
    oracle = function_class(name).bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    features = centred_features(oracle, problem.k)
    top = float(np.linalg.norm(pool.top_counts(problem) @ features))
    rhos = [fraction * top for fraction in (0.95, 0.5, 0.2, 0.05)]
    programme = ConeProgramme(features, pool)
    for row in BallPath(features, pool).solve(rhos):
        other = programme.relaxation(row.rho)
        assert row.is_infeasible == other.is_infeasible
        assert row.counts.sum() == pytest.approx(problem.k)
        assert (row.counts >= -1e-9).all() and (row.counts <= pool.capacity + 1e-9).all()
        if row.is_infeasible:
            assert row.rho_min == pytest.approx(other.rho_min, rel=1e-5)
            continue
        assert row.bound / problem.k == pytest.approx(other.bound / problem.k, abs=1e-6)
        assert row.bound == pytest.approx(similarity_bound(pool, row.price, row.multiplier, row.rho), rel=1e-13)
        assert np.linalg.norm(row.counts @ features) <= row.rho * (1 + 1e-9)
        # The point attains the bound: the path is optimal by its own duality.
        assert pool.fractional_similarity(np.clip(row.counts, 0, pool.capacity)) == pytest.approx(row.bound, abs=1e-7)


@pytest.mark.parametrize("name", ["linear", "saturated"])
def test_over_a_hundred_free_cells_attain_their_bounds(name: str) -> None:
    """Levels of two attributes, 2 and 90: near the smallest rho most cells have a part of an item."""
    rng = np.random.default_rng(0)
    held = np.column_stack([rng.integers(0, 2, 4_000), 2 + rng.integers(0, 90, 4_000)])
    labels = np.zeros((4_000, 92))
    labels[np.arange(4_000)[:, None], held] = 1.0
    problem = Problem(scores=rng.random(2_000), labels=labels[:2_000], reference=labels[2_000:], k=60)
    oracle = function_class(name).bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    top = float(np.linalg.norm(pool.top_counts(problem) @ features))
    rows = BallPath(features, pool).solve([0.5 * top, 0.2 * top, 0.05 * top])
    assert np.count_nonzero(rows[-1].counts % 1.0 > 1e-6) > 80
    for row in rows:
        assert row.counts.sum() == pytest.approx(problem.k)
        assert np.linalg.norm(row.counts @ features) <= row.rho * (1 + 1e-9)
        bound = similarity_bound(pool, row.price, row.multiplier, row.rho)
        assert pool.fractional_similarity(np.clip(row.counts, 0, pool.capacity)) == pytest.approx(bound, abs=1e-7)


def test_any_prices_give_valid_bounds() -> None:
    problem = random_problem(3)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    scaled = pool.scale.scaled(problem.scores)
    rng = np.random.default_rng(0)
    for _ in range(50):
        items = rng.choice(problem.n, problem.k, replace=False)
        counts = np.bincount(oracle.cells.pool_cell[items], minlength=oracle.cells.size)
        value = float(np.linalg.norm(counts @ features))
        prices = rng.standard_normal(features.shape[1])
        length = float(np.linalg.norm(prices))
        assert similarity_bound(pool, features @ prices, length, value) >= scaled[items].sum() - 1e-9
        assert rho_bound(pool, features @ prices, length) <= value + 1e-9


def test_relaxation_is_shared_by_the_methods() -> None:
    problem = random_problem(0)
    for first, second in zip(*(sweep(problem, method, [0.03, 0.1], "linear") for method in ("mopr", "mopr_qp"))):
        assert first.relaxation_bound == pytest.approx(second.relaxation_bound, abs=1e-6)
