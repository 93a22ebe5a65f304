"""What a status claims holds by construction: values solved by hand, brute force, and scores of any size."""

from itertools import combinations, product

import numpy as np
import pytest

from mprlib import Mopr, Problem, measure, select, sweep
from mprlib.cells import selection_weights
from mprlib.method import Proof, selected
from mprlib.optimisers.cell_pool import ScoreScale, cell_pool_of
from mprlib.optimisers.enumeration import enumerate_counts
from mprlib.optimisers.solve_relaxation import solve_relaxations
from mprlib.registry import function_class
from tests.fuzz.random_problems import random_problem

METHODS = ("mopr", "mopr_integer", "mopr_qp")


def hot(rng: np.random.Generator, rows: int, levels: tuple[int, ...]) -> np.ndarray:
    shares = [rng.dirichlet(np.full(count, 2.0)) for count in levels]
    return np.hstack([np.eye(count)[rng.choice(count, rows, p=p)] for count, p in zip(levels, shares)])


class TestNothingAboveRho:
    @pytest.mark.parametrize("method", METHODS)
    def test_a_rho_that_one_set_attains_under_a_balanced_reference(self, method):
        problem = Problem(
            scores=[0.68, 0.05, 1.23, 0.76],
            labels=[[0, 1], [1, 0], [0, 0], [0, 1]],
            reference=[[0, 1], [0, 0], [1, 0]],
            reference_size=1e4,
            k=2,
        )
        rho = measure(problem, [1, 2], "saturated").value
        row = select(problem, method, rho, "saturated")
        assert row.mpr <= row.rho
        assert sorted(row.items) == [1, 2]

    @pytest.mark.parametrize("name", ["linear", "saturated", "groups", "rkhs"])
    @pytest.mark.parametrize("seed", range(6))
    def test_every_attained_rho_of_a_small_problem(self, seed, name):
        rng = np.random.default_rng(seed)
        labels = hot(rng, 7, (2, 3))
        problem = Problem(
            scores=rng.random(7), labels=labels, reference=np.eye(5)[:3], reference_size=[1e4, None][seed % 2], k=3
        )
        oracle = function_class(name).bind(problem)
        sets = [np.array(items) for items in combinations(range(7), 3)]
        values = np.array([oracle.worst_case(selection_weights(problem, items)).value for items in sets])
        similarities = np.array([problem.scores[items].mean() for items in sets])
        for method in METHODS if name != "groups" else METHODS[:2]:
            for row in sweep(problem, method, np.unique(values).tolist(), name):
                best = similarities[values <= row.rho].max()
                assert row.status != "infeasible"
                if row.status in ("optimal", "feasible"):
                    assert row.mpr <= row.rho
                    assert row.similarity_bound >= best - 1e-12
                if row.status == "optimal":
                    assert row.similarity == pytest.approx(best, abs=1e-9)

    def test_the_smallest_rho_of_a_row_is_never_above_what_it_attains(self):
        """A rho that is cut after its twelfth decimal lies below the uncut value of the set that attains it."""
        rng = np.random.default_rng(18)
        levels, n, k = (3, 4), 18, 3
        labels = hot(rng, n + 60, levels)
        problem = Problem(scores=np.round(rng.random(n), 1), labels=labels[:n], reference=labels[n:], k=k)
        oracle = function_class("linear").bind(problem)
        sets = combinations(range(n), k)
        values = sorted({oracle.worst_case(selection_weights(problem, np.array(items))).value for items in sets})
        for row in sweep(problem, "mopr", values[:20], "linear"):
            if row.status in ("optimal", "feasible"):
                assert row.similarity_bound is not None and row.gap >= 0
                assert row.rho_min is None or row.rho_min <= row.mpr

    def test_a_proof_does_not_overrule_the_measuring_code(self):
        problem = Problem(scores=[1.0, 0.5], labels=[[1.0], [0.0]], reference=[[1.0]], k=1)
        oracle = function_class("groups").bind(problem)
        proof = Proof(similarity_bound=0.9, relaxation_bound=0.9, rho_min=0.3, is_infeasible=True)
        inside = selected(problem, oracle, np.array([0]), method="mopr", value=0.1, rho=0.1, proof=proof)
        assert (inside.status, inside.similarity_bound, inside.rho_min) == ("optimal", 1.0, 0.0)
        outside = selected(problem, oracle, np.array([1]), method="mopr", value=0.1, rho=0.1, proof=proof)
        assert (outside.status, outside.mpr, outside.gap) == ("infeasible", 1.0, None)

    def test_a_set_outside_has_no_gap(self):
        found = {row.status for seed in range(60) for row in small_rows(seed) if row.mpr > row.rho and row.gap is None}
        assert found <= {"infeasible", "not_found"} and "infeasible" in found
        assert all(row.gap is None or row.gap >= 0 for seed in range(60) for row in small_rows(seed))


def small_rows(seed: int):
    problem = random_problem(seed)
    return sweep(problem, "mopr", [0.0, 0.1, 0.3], "linear")


class TestScores:
    # mopr_qp constrains unit balls alone.
    @pytest.mark.parametrize(
        ("method", "name"),
        [
            *product(["mopr", "mopr_integer", "mopr_paper"], ["linear", "groups", "tree"]),
            ("mopr_qp", "linear"),
        ],
    )
    def test_their_unit_changes_no_set(self, method, name):
        rng = np.random.default_rng(1)
        sex, race = rng.integers(0, 2, 120), rng.integers(0, 4, 120)
        labels = np.hstack([np.eye(2)[sex], np.eye(4)[race]])
        scores = 0.25 + 0.05 * rng.standard_normal(120) + 0.05 * sex + 0.03 * (race == 0)

        def rows(scale: float, shift: float = 0.0):
            problem = Problem(
                scores=scores * scale + shift,
                labels=labels,
                reference=labels,
                k=12,
                attributes={"sex": [0, 1], "race": [2, 3, 4, 5]},
            )
            top = measure(problem, problem.best_first[:12], name).value
            return sweep(problem, method, [0.4 * top, 0.8 * top], name)

        expected = rows(1.0)
        for scale in (2.0**-60, 1e-9, 1e-12, 1e-300, 1e12, 2.0**900):
            for row, other in zip(rows(scale), expected):
                assert row.items.tolist() == other.items.tolist() and row.status == other.status
                if row.similarity_bound is not None:
                    assert row.similarity_bound / scale == pytest.approx(other.similarity_bound, rel=1e-9)
        for row, other in zip(rows(1.0, -1.0), expected):
            assert row.items.tolist() == other.items.tolist() and row.status == other.status

    @pytest.mark.parametrize("shift", [0.0, 1e6, -1e3])
    def test_small_differences_beside_a_large_offset_are_told_apart(self, shift):
        rng = np.random.default_rng(2)
        labels = hot(rng, 12, (2, 2))
        problem = Problem(scores=shift + 1e-4 * rng.random(12), labels=labels, reference=labels, k=4)
        sets = [np.array(items) for items in combinations(range(12), 4)]
        oracle = function_class("groups").bind(problem)
        values = np.array([oracle.worst_case(selection_weights(problem, items)).value for items in sets])
        totals = np.array([np.sort(problem.scores[items] - shift).sum() for items in sets])
        for row in sweep(problem, "mopr_integer", [0.1, 0.2, 0.3], "groups"):
            if row.status == "optimal":
                own = (problem.scores[row.items] - shift).sum()
                assert own >= totals[values <= row.rho].max() - 1e-9 * np.ptp(problem.scores) - 1e-15 * abs(shift)

    @pytest.mark.parametrize(
        "scores", [[3.0, 3.0, 3.0], [0.0, -1e-320, 5e-324], [-1e308, 0.0, 1e308], [1e6, 1e6 + 1e-9, 0]]
    )
    def test_the_scale_brings_any_scores_to_one_and_back(self, scores):
        scores = np.array(scores)
        scale = ScoreScale.of(scores)
        scaled = scale.scaled(scores)
        assert scaled.min() == 0.0 and scaled.max() <= 1.0
        assert np.ptp(scores) == 0 or scaled.max() > 0.5
        for score, value in zip(scores, scaled):
            assert scale.mean(value, 1) == pytest.approx(score, rel=1e-15, abs=1e-15 * np.abs(scores).max())


def test_no_unlisted_set_loses_less_than_the_enumeration_says():
    """Against an enumeration that lists all; the reference has cells that the pool lacks."""
    compared = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        pool_labels, people = hot(rng, 80, (2, 3, 3)), hot(rng, 600, (2, 3, 3))
        problem = Problem(scores=rng.random(80) + pool_labels[:, 0] / 3, labels=pool_labels, reference=people, k=10)
        oracle = function_class("linear").bind(problem)
        pool = cell_pool_of(problem, oracle.cells)
        answer = solve_relaxations(problem, oracle, pool, Mopr.grid(problem, oracle, 5)[::-1])
        for row in answer.rows:
            if row.is_infeasible or row.multiplier == 0:
                continue
            asked = {"allowance": 0.03 * row.bound, "limit": 20_000}
            few = enumerate_counts(row, pool, answer.region, kept=16, **asked)
            every = enumerate_counts(row, pool, answer.region, kept=10**6, **asked)
            listed = {tuple(counts) for counts in few.candidates}
            unlisted = [loss for counts, loss in zip(every.candidates, every.losses) if tuple(counts) not in listed]
            if unlisted:
                compared += 1
                assert min(unlisted) >= few.least_loss
                assert few.losses[-1] <= min(unlisted) + 1e-12
    assert compared >= 5
