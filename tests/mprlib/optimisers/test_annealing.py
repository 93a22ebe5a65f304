"""Annealing: better sets where a proof ends early, never one beyond rho, the same at every call."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.optimisers.ball_annealing import BallAnnealing, Schedule
from mprlib.optimisers.ball_region import BallRegion, centred_features
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.cooling_kernel import exponential_quantiles
from mprlib.optimisers.random_kernel import PART_BITS, below, next_state, part
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.optimisers.whole.group_limits import GroupProof
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
    annealing = BallAnnealing.of(pool, ball, np.flatnonzero(pool.capacity), (SHORT,))
    counts = annealing.best(relaxation, -np.inf)
    assert counts is not None and counts.sum() == 4 and ball.value(counts) <= rho
    assert pool.similarity(counts) == pytest.approx(best)
    again = annealing.best(relaxation, -np.inf)
    assert again is not None and again.tolist() == counts.tolist()
    assert annealing.best(relaxation, best) is None


def people(n: int, k: int) -> Problem:
    """Three attributes whose scores favour some levels."""
    random = np.random.default_rng(0)
    levels = (2, 7, 9)
    rows = np.hstack([np.eye(count)[random.choice(count, 3 * n, p=random.dirichlet(np.full(count, 2.0)))]
                      for count in levels])  # fmt: skip
    starts = np.cumsum([0, *levels])
    attributes = {f"a{place}": list(range(starts[place], starts[place + 1])) for place in range(3)}
    scores = np.round(0.2 + 0.1 * rows[:n] @ random.standard_normal(18) / 4 + 0.02 * random.standard_normal(n), 2)
    return Problem(scores=scores, labels=rows[:n], reference=rows[n:], k=k, attributes=attributes)


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
