"""Annealing: better sets where a proof ends early, never one beyond rho, the same at every call."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.cells import Cells
from mprlib.optimisers.ball_annealing import BallAnnealing, Schedule
from mprlib.optimisers.ball_region import BallRegion, centred_features
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.cooling_kernel import exponential_quantiles
from mprlib.optimisers.random_kernel import PART_BITS, below, next_state, part
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.optimisers.whole.group_limits import GroupProof
from mprlib.optimisers.whole.marginals import marginals_of
from mprlib.registry import function_class
from tests.embedded_queries import embedded_query

SHORT = Schedule(warmest=0.1, coldest=0.003, penalty=4.0, steps=500_000)


def test_parts_of_a_state_cover_a_range_evenly():
    state, seen = np.uint64(1), np.zeros(7, int)
    for _ in range(700):
        state = next_state(state)
        for place in range(3):
            seen[below(part(state, place), 7)] += 1
    assert seen.sum() == 2_100 and abs(seen - 300).max() < 80
    assert below(np.int64((1 << PART_BITS) - 1), 7) == 6
    assert exponential_quantiles().mean() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_sets_of_a_ball(seed):
    """Of 14 items 4 are chosen."""
    problem = embedded_query(14, 3, k=4, seed=seed)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, 4)
    ball = BallRegion(features)
    sets = [
        np.bincount(oracle.cells.pool_cell[list(items)], minlength=len(features))
        for items in combinations(range(14), 4)
    ]
    values = np.array([ball.value(counts) for counts in sets])
    similarities = np.array([pool.similarity(counts) for counts in sets])
    rho = float(np.quantile(values, 0.1))
    best = similarities[values <= rho].max()
    [relaxation] = SmoothPath(features, pool).solve([rho])
    annealing = BallAnnealing.of(pool, ball, np.zeros((oracle.cells.size, 0), np.intp), (SHORT,))
    counts = annealing.best(relaxation, -np.inf)
    assert counts is not None and counts.sum() == 4 and ball.value(counts) <= rho
    assert pool.similarity(counts) == pytest.approx(best)
    again = annealing.best(relaxation, -np.inf)
    assert again is not None and again.tolist() == counts.tolist()
    assert annealing.best(relaxation, best) is None


def people(n: int, k: int, seed: int = 0, levels: tuple[int, ...] = (2, 7, 9)) -> Problem:
    """Three attributes whose scores favour some levels."""
    random = np.random.default_rng(seed)
    rows = np.hstack([np.eye(count)[random.choice(count, 3 * n, p=random.dirichlet(np.full(count, 2.0)))]
                      for count in levels])  # fmt: skip
    starts = np.cumsum([0, *levels])
    attributes = {f"a{place}": list(range(starts[place], starts[place + 1])) for place in range(3)}
    lean = rows[:n] @ random.standard_normal(sum(levels)) / 4
    scores = np.round(0.2 + 0.1 * lean + 0.02 * random.standard_normal(n), 2)
    return Problem(scores=scores, labels=rows[:n], reference=rows[n:], k=k, attributes=attributes)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_sets_of_people(seed):
    """Of 14 people 4 are chosen, with exchanges of levels."""
    problem = people(14, 4, seed=seed, levels=(2, 3, 2))
    pool, cells, ball, annealing = annealing_of(problem)
    sets = [np.bincount(cells.pool_cell[list(items)], minlength=cells.size) for items in combinations(range(14), 4)]
    values = np.array([ball.value(counts) for counts in sets])
    similarities = np.array([pool.similarity(counts) for counts in sets])
    for share in (0.02, 0.1, 0.4):
        rho = float(np.quantile(values, share)) * (1 + 1e-9)
        [relaxation] = SmoothPath(ball.features, pool).solve([rho])
        counts = annealing.best(relaxation, -np.inf)
        assert counts is not None and counts.sum() == 4 and ball.value(counts) <= rho
        assert (counts <= pool.capacity).all()
        assert pool.similarity(counts) == pytest.approx(similarities[values <= rho].max())


def test_exchanges_of_levels_find_sets_that_single_moves_miss():
    """Near the smallest MPR of all sets nearly every single move leaves some attribute's counts far off."""
    problem = people(300, 20)
    pool, cells, ball, annealing = annealing_of(problem)
    rho = 0.12 * ball.value(pool.top_counts(problem))
    [relaxation] = SmoothPath(ball.features, pool).solve([rho])
    single = BallAnnealing.of(pool, ball, np.zeros((cells.size, 0), np.intp)).best(relaxation, -np.inf)
    assert single is not None
    counts = annealing.best(relaxation, pool.similarity(single))
    assert counts is not None and counts.sum() == 20 and (counts <= pool.capacity).all()
    assert ball.value(counts) <= rho and pool.similarity(counts) > pool.similarity(single) + 1e-6


def annealing_of(problem: Problem) -> tuple[CellPool, Cells, BallRegion, BallAnnealing]:
    """That of `rkhs` over a problem's people."""
    oracle = function_class("rkhs").bind(problem)
    pool, ball = cell_pool_of(problem, oracle.cells), BallRegion(centred_features(oracle, problem.k))
    column = marginals_of(problem, oracle.cells).column
    return pool, oracle.cells, ball, BallAnnealing.of(pool, ball, column)


def test_few_nodes_leave_sets_of_groups_near_their_bounds():
    rows = sweep(people(1_000, 50), "mopr", [0.025, 0.03, 0.04, 0.05], "groups", nodes=500)
    for row in rows:
        assert row.status in ("optimal", "feasible") and row.mpr <= row.rho
        assert row.gap <= 0.005


def test_counts_within_the_limits_of_groups_or_none():
    problem = people(300, 20)
    oracle = function_class("groups").bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    proof = GroupProof.of(pool, oracle)
    for rho in (0.01, 0.04, 0.08):
        found = proof._searched(rho, None, 2, is_any=False)
        if found.counts is not None:
            weights = found.counts / 20
            assert np.abs(oracle.totals(weights - oracle.cells.reference_shares)).max() <= rho + 1e-9
            assert found.bound >= pool.similarity(found.counts) - 1e-9
