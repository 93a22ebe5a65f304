"""What is said of bounds over embeddings: items that are open, and products that no semidefinite relaxation refuses."""

from itertools import combinations

import numpy as np

from mprlib.optimisers.ball_region import centred_features
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.registry import function_class
from tests.embedded_bounds import free_items, has_products, semidefinite_floor
from tests.embedded_queries import embedded_query


def test_items_of_better_sets_are_free() -> None:
    """Of 12 items 3 are chosen: each item that only some of the better sets have is open."""
    problem = embedded_query(12, 2, k=3, seed=1)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, 3)
    sets = np.array(list(combinations(range(12), 3)))
    values = np.linalg.norm(features[pool.cell][sets].sum(axis=1), axis=1)
    totals = pool.scores[sets].sum(axis=1)
    rho = float(np.quantile(values, 0.3))
    [relaxation] = SmoothPath(features, pool).solve([rho])
    known = np.sort(totals[values <= rho])[-6]
    better = sets[(values <= rho) & (totals >= known)]
    counts = np.bincount(better.ravel(), minlength=12)
    is_in_some = (counts > 0) & (counts < len(better))
    assert 0 < is_in_some.sum() <= free_items(pool, relaxation, relaxation.bound - float(known)) <= 12


def test_products_that_say_nothing_more() -> None:
    """The construction itself: Z has the diagonal that is asked for, no negative eigenvalue, and sees no column."""
    random = np.random.default_rng(0)
    basis, _ = np.linalg.qr(np.column_stack([random.standard_normal((200, 4)), np.ones(200)]))
    assert has_products(basis, np.full(200, 0.1))
    # A whole set has no room for products: x - x^2 = 0 but for two items, which columns tell apart.
    weights = np.zeros(200)
    weights[:2] = 0.5
    assert not has_products(basis, weights)


def test_a_floor_is_below_the_relaxation_s_bound_and_near_it_where_items_are_many() -> None:
    problem = embedded_query(1_500, 8, k=20)
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, 20)
    top = float(np.linalg.norm(features[pool.cell[np.argsort(-pool.scores)[:20]]].sum(axis=0)))
    [relaxation] = SmoothPath(features, pool).solve([0.3 * top])
    floor = semidefinite_floor(pool, features[pool.cell], relaxation)
    assert floor is not None and 0.98 * relaxation.bound <= floor <= relaxation.bound
