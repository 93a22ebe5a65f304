"""Every method against brute force on problems small enough to list all sets."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.cells import selection_weights
from mprlib.registry import function_class

CLASSES = ("linear", "saturated", "groups", "tree", "rkhs")
ROUNDING = 1e-12


def random_problem(seed: int, *, is_discrete: bool = False) -> Problem:
    """Small sizes of all kinds; every third has tied scores, every fourth continuous labels unless told otherwise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    m, columns = int(rng.integers(1, 20)), int(rng.integers(1, 4))
    rows = (rng.random((n + m, columns)) < rng.random(columns)).astype(float)
    if seed % 4 == 0:
        rows = rng.standard_normal((n + m, columns))
        rows = np.rint(rows) if is_discrete else rows
    scores = np.round(3 * rng.random(n)) / 3 if seed % 3 == 0 else rng.random(n)
    return Problem(scores=scores, labels=rows[:n], reference=rows[n:], k=int(rng.integers(1, min(n, 4) + 1)))


def best_similarity(problem: Problem, values: dict[tuple[int, ...], float], rho: float) -> float | None:
    inside = [problem.scores[list(items)].mean() for items, value in values.items() if value <= rho]
    return max(inside, default=None)


@pytest.mark.system
@pytest.mark.full
@pytest.mark.parametrize("name", CLASSES)
def test_equals_brute_force_in_many_problems(name: str) -> None:
    """2,000 rows of every class and method."""
    for seed in range(14, 350):
        test_equals_brute_force(seed, name)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("seed", range(14))
def test_equals_brute_force(seed: int, name: str) -> None:
    # Named groups need levels.
    problem = random_problem(seed, is_discrete=name == "groups")
    oracle = function_class(name).bind(problem)
    values = {
        items: oracle.worst_case(selection_weights(problem, np.array(items))).value
        for items in combinations(range(problem.n), problem.k)
    }
    top = values[tuple(sorted(problem.best_first[: problem.k].tolist()))]
    rhos = [0.0, 0.6 * top, 0.9 * top, top, 2 * top + 0.1, 0.05]
    methods = ["mopr", "mopr_integer", "mopr_paper"] + ["mopr_qp"] * (name in ("linear", "saturated", "rkhs"))
    for method in methods:
        for rho, row in zip(rhos, sweep(problem, method, rhos, name)):
            best = best_similarity(problem, values, rho)
            assert len(set(row.items.tolist())) == problem.k
            if row.status in ("optimal", "feasible"):
                assert row.mpr <= rho
            if method == "mopr_paper":
                continue
            if row.status == "optimal":
                assert row.similarity == pytest.approx(best, abs=1e-9)
            if best is None:
                assert row.status in ("infeasible", "not_found")
            else:
                assert row.status != "infeasible"
                assert row.similarity_bound >= best - ROUNDING
                assert row.relaxation_bound >= row.similarity_bound - ROUNDING
            if rho >= top:
                assert row.status == "optimal"
                np.testing.assert_array_equal(row.items, problem.best_first[: problem.k])
            if method == "mopr_integer":
                assert row.status == ("infeasible" if best is None else "optimal")


def test_the_reduced_programme_gives_the_printed_one_s_sets() -> None:
    rng = np.random.default_rng(3)
    labels = np.column_stack([rng.random((300, 3)) < 0.4, rng.random(300) < 0.2]).astype(float)
    reference = (rng.random((200, 4)) < 0.5).astype(float)
    problem = Problem(scores=rng.random(300), labels=labels, reference=reference, k=12)
    for name in ("linear", "tree"):
        rows = [
            sweep(problem, "mopr_paper", [0.02, 0.06], name, rounds=8, programme=programme)
            for programme in ("reduced", "printed")
        ]
        for reduced, printed in zip(*rows):
            np.testing.assert_array_equal(reduced.items, printed.items)
            assert reduced.status == printed.status
