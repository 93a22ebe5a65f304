"""Kernels as sums of squares of whole counts: the same MPR, and bounds that no set of a small problem beats."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, select, sweep
from mprlib.function_classes.rkhs import Rkhs
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.solve_relaxation import solve_relaxations
from mprlib.optimisers.whole.product_price_kernel import ascended, near_counts
from mprlib.optimisers.whole.products import STEPS, ProductProof

KERNELS = [Rkhs(), Rkhs(bandwidth=0.7), Rkhs(kernel="polynomial", degree=2), Rkhs(kernel="polynomial", degree=3)]


def problem_of(seed: int, levels: tuple[int, ...], n: int = 14, k: int = 4) -> Problem:
    rng = np.random.default_rng(seed)
    rows = np.hstack([np.eye(count)[rng.choice(count, n + 80)] for count in levels])
    ends = np.cumsum([0, *levels])
    attributes = {f"a{one}": list(range(ends[one], ends[one + 1])) for one in range(len(levels))}
    scores = rng.random(n) + 0.4 * rows[:n, 0]
    return Problem(scores=scores, labels=rows[:n], reference=rows[n:], k=k, attributes=attributes)


def proof_of(problem: Problem, kernel: Rkhs) -> ProductProof | None:
    oracle = kernel.bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    ball = solve_relaxations(problem, oracle, pool, [1.0], "auto").region.ball
    return ProductProof.of(problem, pool, oracle.cells, ball)


def square_of(proof: ProductProof, counts: np.ndarray) -> float:
    squares = proof.squares
    margins = np.bincount(squares.member.ravel(), np.repeat(counts, squares.member.shape[1]), squares.weight.size)
    own = squares.own * ((counts - squares.target) ** 2).sum()
    return squares.constant + own + (squares.weight * (margins - squares.centre) ** 2).sum()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("levels", [(2, 3), (2, 2, 3)])
def test_squares_of_counts_are_those_of_the_measured_value(kernel, levels):
    problem = problem_of(1, levels)
    proof, oracle = proof_of(problem, kernel), kernel.bind(problem)
    for items in list(combinations(range(problem.n), problem.k))[::97]:
        weights = np.zeros(problem.n)
        weights[list(items)] = 1.0 / problem.k
        counts = np.rint(problem.k * oracle.cells.shares(weights))[proof.cells]
        value = oracle.worst_case(weights).value / proof.unit
        assert square_of(proof, counts) == pytest.approx((problem.k * value) ** 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_set_is_nearer_than_the_bound_says(seed):
    problem = problem_of(seed, (2, 2, 3))
    proof, oracle = proof_of(problem, KERNELS[0]), KERNELS[0].bind(problem)
    smallest = np.inf
    for items in combinations(range(problem.n), problem.k):
        weights = np.zeros(problem.n)
        weights[list(items)] = 1.0 / problem.k
        smallest = min(smallest, oracle.worst_case(weights).value)
    assert np.sqrt(max(proof.nearest().square, 0.0)) / problem.k <= smallest + 1e-12
    counts, margins = np.zeros(proof.cells.size, np.int64), np.zeros(proof.squares.weight.size)
    assert near_counts(proof.squares, counts, margins) == pytest.approx(square_of(proof, counts))
    assert proof.floor(np.zeros(proof.pool.cell_count, np.intp), 2.0, 10_000).rho == pytest.approx(smallest, abs=1e-10)


@pytest.mark.parametrize(("n", "k", "seed"), [(300, 20, 0), (200, 50, 0), (200, 50, 1)])
def test_the_price_of_the_limit_rises_to_where_the_bound_is_least(n, k, seed):
    """Near the smallest rho of whole counts it is several times the relaxation's, which knows nothing of them."""
    problem = problem_of(seed, (2, 7, 9), n=n, k=k)
    proof, oracle = proof_of(problem, KERNELS[0]), KERNELS[0].bind(problem)
    rho = np.sqrt(1.2 * proof.nearest().square) / k * proof.unit
    [relaxation] = solve_relaxations(problem, oracle, proof.pool, [rho], "auto").rows
    limit = proof._limit(rho)
    price, prices = proof._prices(relaxation, limit)
    goal = 0.9 * relaxation.bound
    fixed = []
    for factor in 2.0 ** np.arange(5):
        own = factor * prices
        fixed.append(ascended(proof.squares, limit, factor * price, own, goal, (600, False))[0])
    found = ascended(proof.squares, limit, price, prices, goal, (STEPS, True))[0]
    assert found <= min(fixed) + 0.05 * (relaxation.bound - min(fixed))


def test_numbers_with_an_order_are_no_product():
    """Neighbours are nearer: whether two cells agree does not say how far apart they are."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 90), rng.integers(0, 5, 90)]).astype(float)
    problem = Problem(scores=rng.random(30), labels=rows[:30], reference=rows[30:], k=5)
    assert proof_of(problem, KERNELS[0]) is None
    assert select(problem, "mopr", 0.2, "rkhs").status in ("optimal", "infeasible")


def test_what_is_no_whole_count_is_ruled_out():
    """One of two equal levels: half an item off in each."""
    halves = np.eye(2)
    problem = Problem(scores=[0.9, 0.1], labels=halves, reference=halves, k=1, attributes={"a": [0, 1]})
    value = float(np.sqrt((2.0 - 2.0 * np.exp(-0.5)) / 4.0))
    below, above = sweep(problem, "mopr", [value - 1e-6, value + 1e-6], "rkhs")
    assert (below.status, above.status) == ("infeasible", "optimal")
    assert below.rho_min == pytest.approx(value)
