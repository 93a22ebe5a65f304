"""Labels that are embeddings: every item its own cell, the same interface, an honest gap."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, measure, sweep
from mprlib.cells import selection_weights
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.optimisers.ball_region import BallRegion, centred_features
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.item_swaps import ItemSwaps
from mprlib.optimisers.kernel_region import KernelRegion
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.registry import function_class
from tests.embedded_queries import embedded_query


def test_smooth_path_encloses_the_cone_programme() -> None:
    problem = embedded_query(550, 8)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    top = measure(problem, problem.best_first[:20]).value
    programme = ConeProgramme(features, pool)
    for row in SmoothPath(features, pool).solve([0.8 * top, 0.4 * top, 0.1 * top]):
        exact = programme.relaxation(row.rho).bound
        assert row.is_converged
        assert exact - 1e-6 <= row.bound <= exact * (1 + 1e-3)
        assert np.linalg.norm(row.counts @ features) <= row.rho * (1 + 1e-9)
        assert pool.fractional_similarity(row.counts) >= row.bound * (1 - 1e-3)


def test_a_rho_out_of_reach_of_embeddings_is_proven() -> None:
    """Items on one side of every reference row: no weights come closer than the nearest of them."""
    problem = embedded_query(550, 8)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    moved = features + 5 * np.abs(features).max() * np.eye(8)[0]
    exact = ConeProgramme(moved, pool).relaxation(0.0)
    row = SmoothPath(moved, pool).solve([0.5 * exact.rho_min])[0]
    assert row.is_infeasible and 0.5 * exact.rho_min < row.rho_min <= exact.rho_min * (1 + 1e-6)


@pytest.mark.parametrize(("name", "settings"), [("linear", {}), ("rkhs", {"kernel": "linear"})])
def test_curve_over_embeddings(name: str, settings: dict) -> None:
    problem = embedded_query(1_200, 24)
    top = measure(problem, problem.best_first[:20], name, **settings).value
    rows = sweep(problem, "mopr", [0.5 * top, 0.8 * top, top], name, **settings)
    for row in rows:
        assert len(set(row.items.tolist())) == 20
        assert row.mpr == measure(problem, row.items, name, **settings).value
        if row.status in ("optimal", "feasible"):
            assert row.mpr <= row.rho and row.gap >= 0
    assert rows[1].status == "feasible" and rows[2].status == "optimal"


@pytest.mark.parametrize("seed", range(4))
def test_swaps_of_items_against_brute_force(seed: int) -> None:
    """Of 14 items 4 are chosen: a set inside rho wherever there is one, and not far from the best."""
    problem = embedded_query(14, 3, k=4, seed=seed)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, 4)
    ball = BallRegion(features)
    cell = oracle.cells.pool_cell
    sets = [np.bincount(cell[list(items)], minlength=features.shape[0]) for items in combinations(range(14), 4)]
    values = np.array([np.linalg.norm(counts @ features) for counts in sets])
    similarities = np.array([pool.similarity(counts) for counts in sets])
    for rho in (np.quantile(values, 0.02), np.quantile(values, 0.3), 0.5 * values.min()):
        relaxation = SmoothPath(features, pool).solve([rho])[0]
        counts = ItemSwaps(Separator(problem, oracle, pool, ball), ball).counts(relaxation, None)
        assert counts.sum() == 4
        is_inside = values <= rho
        if is_inside.any():
            assert np.linalg.norm(counts @ features) <= rho
            # Similarity in the caller's scores: these totals are of scores brought to [0, 1].
            found = pool.scale.mean(pool.similarity(counts), 4)
            assert found >= pool.scale.mean(similarities[is_inside].max(), 4) * 0.85
        else:
            assert np.linalg.norm(counts @ features) <= 1.3 * values.min()


def test_edges_of_embeddings() -> None:
    problem = embedded_query(1_000, 24)
    for k in (1, 1_000):
        for row in sweep(replace(problem, k=k), "mopr", [0.0, 0.1, 5.0]):
            assert len(set(row.items.tolist())) == k
    flat = replace(problem, scores=np.full(1_000, 0.5))
    top = measure(flat, flat.best_first[:20]).value
    for row in sweep(flat, "mopr", [0.7 * top, 0.9 * top]):
        assert row.status == "optimal" and row.mpr <= row.rho


@pytest.mark.parametrize(("n", "k"), [(45, 6), (300, 10), (700, 20)])
def test_a_kernel_over_many_rows_finds_sets_where_random_ones_are(n: int, k: int) -> None:
    query = embedded_query(n + 1_500, 24, seed=3)
    problem = Problem(scores=query.scores[:n], labels=query.labels[:n], reference=query.labels[n:], k=k)
    oracle = function_class("rkhs").bind(problem)
    assert isinstance(oracle, KernelOracle)
    rng = np.random.default_rng(0)
    drawn = [rng.choice(n, k, replace=False) for _ in range(60)]
    values = np.array([oracle.worst_case(selection_weights(problem, items)).value for items in drawn])
    rhos = np.quantile(values, [0.1, 0.5, 0.9]).tolist()
    best = [max(problem.scores[items].mean() for items, value in zip(drawn, values) if value <= rho) for rho in rhos]
    for row, other in zip(sweep(problem, "mopr", rhos, "rkhs"), best):
        assert row.status in ("optimal", "feasible") and row.mpr <= row.rho
        assert row.similarity >= other - 1e-12
        assert row.similarity_bound >= row.similarity


def test_a_kernel_s_features_see_a_part_and_its_products_all() -> None:
    problem = embedded_query(1_400, 24, k=30)
    oracle = function_class("rkhs").bind(problem)
    region = KernelRegion(oracle, oracle.cells, oracle.unit, 30)
    rng = np.random.default_rng(1)
    for _ in range(5):
        items = rng.choice(problem.n, 30, replace=False)
        counts = np.bincount(oracle.cells.pool_cell[items], minlength=oracle.cells.size)
        exact = oracle.worst_case(selection_weights(problem, np.flatnonzero(counts[oracle.cells.pool_cell]))).value
        assert region.value(counts) == pytest.approx(exact, rel=1e-9)
        assert np.linalg.norm(counts @ region.features) <= exact * (1 + 1e-9)
