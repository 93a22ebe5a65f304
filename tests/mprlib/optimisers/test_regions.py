"""What differs between classes is said by the oracle and the region, so that a new class needs no edit here."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mprlib import Problem, measure, sweep
from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import CentredProducts, Oracle, WorstCase
from mprlib.function_classes.linear import Linear
from mprlib.optimisers import local_search_kernel
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cut_region import CutRegion
from mprlib.optimisers.solve_relaxation import ball_region

FOLDER = Path(__file__).resolve().parents[3] / "mprlib/optimisers"


@dataclass(frozen=True, slots=True)
class OwnRows:
    """Centred features of some cells."""

    features: FloatArray

    @property
    def squares(self) -> FloatArray:
        return (self.features**2).sum(axis=1)

    def products(self, places: IntArray) -> FloatArray:
        return self.features @ self.features[places].T


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class OwnBall(Oracle):
    """A ball that a user wrote: the linear class, from features alone or from products alone."""

    cells: Cells
    features: FloatArray
    has_features: bool

    def ball_features(self) -> FloatArray | None:
        return self.features if self.has_features else None

    def ball_products(self) -> CentredProducts | None:
        return None if self.has_features else self

    def centred_rows(self, cells: IntArray) -> OwnRows:
        return OwnRows((self.features - self.cells.reference_shares @ self.features)[cells])

    def worst_case(self, weights: FloatArray) -> WorstCase:
        gap = self.cells.differences(weights) @ self.features
        value = float(np.linalg.norm(gap))
        function = self.features @ gap / value if value > 0 else np.zeros(self.cells.size)
        return WorstCase(value=value, upper_bound=value, is_exact=True, function=function)


@dataclass(frozen=True, kw_only=True)
class OwnClass:
    name = "own"
    is_normalised = True

    has_features: bool

    def bind(self, problem: Problem) -> OwnBall:
        features = Linear().bind(problem).features
        return OwnBall(cells=cells_of(problem), features=features, has_features=self.has_features)


def problem_of(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    rows = np.hstack([np.eye(2)[rng.integers(0, 2, 160)], np.eye(3)[rng.integers(0, 3, 160)]])
    return Problem(scores=rng.random(100) + rows[:100, 0] / 2, labels=rows[:100], reference=rows[100:], k=9)


@pytest.mark.parametrize("has_features", [True, False])
@pytest.mark.parametrize("method", ["mopr", "mopr_qp", "mopr_integer"])
def test_a_new_ball_is_solved_as_the_built_in_one(method, has_features):
    problem = problem_of(3)
    top = measure(problem, problem.best_first[:9]).value
    rhos = [0.3 * top, 0.7 * top]
    own_rows = sweep(problem, method, rhos, OwnClass(has_features=has_features))
    for own, built_in in zip(own_rows, sweep(problem, method, rhos)):
        assert own.mpr <= own.rho and own.status == built_in.status
        assert own.relaxation_bound == pytest.approx(built_in.relaxation_bound, rel=1e-6)
        assert own.statistics.cuts == 0
        if method == "mopr_integer":
            assert own.items.tolist() == built_in.items.tolist()


def test_both_regions_value_moves_as_what_they_become():
    rng = np.random.default_rng(0)
    features, cuts = rng.standard_normal((6, 3)), rng.standard_normal((4, 6))
    regions = BallRegion(features), CutRegion(cuts, reference_shares=np.full(6, 1 / 6), k=6)
    counts, cells, one = np.array([2, 1, 0, 3, 0, 0]), np.arange(6), np.eye(6, dtype=int)
    giving, taking = np.array([0, 1, 3]), np.array([2, 4, 5])
    for region in regions:
        assert region.values(counts[None, :] @ region.directions)[0] == pytest.approx(region.value(counts))
        after = region.swap_values(counts, cells)
        for g in cells:
            for h in cells:
                assert after[g, h] == pytest.approx(region.value(counts - one[g] + one[h]))
        pairs = region.pair_values(counts, giving, taking)
        step = one[taking] - one[giving]
        assert pairs[0, 2] == pytest.approx(region.value(counts + step[0] + step[2]))


def test_only_cuts_gain_by_separation():
    problem = problem_of(1)
    oracle = Linear().bind(problem)
    ball = ball_region(oracle, problem.k)
    region = CutRegion(np.zeros((0, oracle.cells.size)), reference_shares=oracle.cells.reference_shares, k=problem.k)
    weights = np.zeros(problem.n)
    weights[problem.best_first[:9]] = 1 / 9
    counts = np.bincount(oracle.cells.pool_cell[problem.best_first[:9]], minlength=oracle.cells.size)
    worst = oracle.worst_case(weights)
    assert not ball.separate(counts, worst)
    assert region.separate(counts, worst) and region.value(counts) == pytest.approx(worst.value)
    assert not region.separate(counts, worst) and region.cut_count == 1


def test_no_optimiser_asks_for_the_type_of_an_oracle_or_region():
    """Validation of a caller's numbers aside."""
    for path in FOLDER.glob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "isinstance(" not in line or "int)" in line, f"{path.name}: {line.strip()}"
            assert "getattr(" not in line, f"{path.name}: {line.strip()}"


@pytest.mark.parametrize(("value", "penalty"), [(0.4, 2.0), (0.9, 2.0), (0.9, 0.0)])
def test_the_best_move_is_that_of_a_table_of_all(value, penalty):
    """From inside rho = 1/2 none leads outside; from outside what is violated has its price."""
    random, rho = np.random.default_rng(4), 0.5
    after, gains, losses = random.uniform(0, 1, (6, 6)), random.uniform(0, 1, 6), random.uniform(0, 1, 6)
    merit = gains[None, :] - losses[:, None]
    excess = np.maximum(after - rho, 0.0)
    merit = np.where(excess > 0, -np.inf, merit) if value <= rho else merit - (excess - (value - rho)) * penalty
    np.fill_diagonal(merit, -np.inf)
    giving, taking, best = local_search_kernel.best_swap(after, gains, losses, value, rho, penalty)
    assert (giving, taking) == divmod(int(merit.argmax()), 6)
    assert best == merit.max()
