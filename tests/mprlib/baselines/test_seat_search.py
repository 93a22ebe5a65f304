"""The search for seats finds the best set, ends within its limits, and does not care for the scores' unit."""

from itertools import combinations
from math import fsum

import numpy as np
import pytest

import mprlib
from mprlib.baselines import seat_search
from mprlib.baselines.apportionment import hamilton
from mprlib.optimisers.highs.programmes import LinearProgramme
from tests.populations import one_hot_problem


def one_hot(columns, levels) -> np.ndarray:
    return np.hstack([np.eye(count)[column] for column, count in zip(columns, levels)])


def random_problem(random: np.random.Generator) -> mprlib.Problem:
    """Up to 11 items with up to five attributes; k is 1, n or between; levels are often missing or scarce."""
    levels = random.integers(2, 5, size=int(random.integers(1, 6))).tolist()
    n, m = int(random.integers(1, 12)), int(random.integers(1, 30))
    rows = [
        one_hot([random.choice(count, size, p=random.dirichlet(np.ones(count))) for count in levels], levels)
        for size in (n, m)
    ]
    ends = np.cumsum(levels)
    return mprlib.Problem(
        scores=random_scores(random, n),
        labels=rows[0],
        reference=rows[1],
        # Uneven ones, so that no remainders are tied.
        reference_weights=random.random(m),
        k=int(random.choice([1, n, random.integers(1, n + 1)])),
        attributes={f"a{at}": range(end - count, end) for at, (end, count) in enumerate(zip(ends, levels))},
    )


def random_scores(random: np.random.Generator, n: int) -> np.ndarray:
    scores = random.standard_normal(n)
    return [
        scores,
        scores * 1e-12,
        scores * 1e12,
        1e6 + 1e-6 * scores,
        np.full(n, 0.3),
        -random.integers(1, 4, n) / 10,
        10.0 ** random.uniform(-12, 8, n),
        np.where(np.arange(n) == 0, 1e9, scores),
    ][int(random.integers(8))]


def targets_of(problem: mprlib.Problem) -> np.ndarray:
    shares = problem.reference_weights @ problem.reference
    return np.concatenate([hamilton(shares[list(columns)], problem.k) for columns in problem.attributes.values()])


def missed(problem: mprlib.Problem, items, targets) -> float:
    return np.abs(problem.labels[list(items)].sum(axis=0) - targets).sum()


def brute_force(problem: mprlib.Problem) -> tuple[float, float]:
    """Fewest missed seats, then the highest sum of scores, over all sets."""
    targets = targets_of(problem)
    sets = list(combinations(range(problem.n), problem.k))
    seats = [missed(problem, items, targets) for items in sets]
    fewest = min(seats)
    return fewest, max(fsum(problem.scores[list(items)]) for items, each in zip(sets, seats) if each == fewest)


@pytest.mark.parametrize("seed", range(4))
def test_equals_brute_force_in_any_unit(seed):
    random = np.random.default_rng(seed)
    for _ in range(75):
        problem = random_problem(random)
        selection = mprlib.select(problem, "apportionment")
        fewest, highest = brute_force(problem)
        assert missed(problem, selection.items, targets_of(problem)) == fewest
        assert fsum(problem.scores[selection.items]) == pytest.approx(highest, rel=1e-12, abs=0)
        assert "stopped" not in selection.message


def test_ends_where_presolve_loops():
    """HiGHS's presolve never returns from this programme of six items; its node and time limits do not end it."""
    pool = one_hot([[2, 0, 0, 1, 1, 0], [1, 0, 1, 0, 0, 0], [1, 0, 2, 1, 2, 2]], (3, 2, 3))
    reference = [np.repeat(range(3), (18, 20, 22)), np.repeat(range(2), (28, 32)), np.repeat(range(3), (17, 20, 23))]
    problem = mprlib.Problem(
        scores=[-2.114, 2.157, -0.915, 1.163, -0.409, -0.789],
        labels=pool,
        reference=one_hot(reference, (3, 2, 3)),
        k=3,
        attributes={"a": [0, 1, 2], "b": [3, 4], "c": [5, 6, 7]},
    )
    selection = mprlib.select(problem, "apportionment")
    assert brute_force(problem) == (2, pytest.approx(-0.366))
    assert selection.similarity == pytest.approx(-0.122)
    assert selection.message == "targets are missed by 2 seats over all attributes"


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, -(2.0**-40)])
def test_a_power_of_two_changes_no_item(scale):
    """A negative one asks for the least similar items, in its own unit."""
    for seed in range(5):
        settings = {"levels": (2, 3, 4), "k": 15}
        scores = one_hot_problem(seed, **settings).scores
        sign = 1.0 if scale > 0 else -1.0
        one, other = (
            mprlib.select(one_hot_problem(seed, scores=factor * scores, **settings), "apportionment")
            for factor in (sign, scale)
        )
        assert one.items.tolist() == other.items.tolist()


@pytest.fixture
def solves(monkeypatch) -> list[int]:
    """Simplex iterations of every linear programme that is solved."""
    iterations = []
    solve = LinearProgramme.minimised

    def counted(self, *arguments, iteration_limit):
        answer = solve(self, *arguments, iteration_limit=iteration_limit)
        assert answer.iterations <= iteration_limit
        iterations.append(answer.iterations)
        return answer

    monkeypatch.setattr(LinearProgramme, "minimised", counted)
    return iterations


def hard_problem(seed: int = 1) -> mprlib.Problem:
    """Fifteen attributes over 300 items, nearly all in cells of their own: no proof ends within the limits."""
    levels = (3, 3, 4, 5, 5, 2, 2, 4, 5, 2, 3, 3, 2, 4, 3)
    labels = one_hot_problem(seed, n=300, k=40, levels=levels).labels
    return one_hot_problem(seed, n=300, k=40, levels=levels, reference=labels)


@pytest.mark.parametrize(("nodes", "iterations"), [(1, 10**6), (20, 10**6), (10**6, 1), (10**6, 300), (10**6, 2_000)])
def test_limits_of_nodes_and_iterations_end_a_search(monkeypatch, solves, nodes, iterations):
    monkeypatch.setattr(seat_search, "NODE_LIMIT", nodes)
    monkeypatch.setattr(seat_search, "ITERATION_LIMIT", iterations)
    selection = mprlib.select(hard_problem(), "apportionment")
    # Two searches, each within both.
    assert len(solves) <= 2 * nodes and sum(solves) <= 2 * iterations
    assert len(set(selection.items.tolist())) == 40
    assert selection.status == "done" and "stopped by the limits of branch and bound" in selection.message


def test_the_limits_themselves_end_a_hard_search(solves):
    selection = mprlib.select(hard_problem(), "apportionment")
    assert len(solves) <= 2 * seat_search.NODE_LIMIT and sum(solves) <= 2 * seat_search.ITERATION_LIMIT
    assert "stopped by the limits" in selection.message


def test_a_search_that_limits_end_finds_the_same_again(monkeypatch, solves):
    monkeypatch.setattr(seat_search, "ITERATION_LIMIT", 2_000)
    first, second = (mprlib.select(hard_problem(), "apportionment") for _ in range(2))
    assert first.items.tolist() == second.items.tolist()
    assert solves[: len(solves) // 2] == solves[len(solves) // 2 :]


def test_the_clock_says_time_limit(monkeypatch):
    monkeypatch.setattr(seat_search, "TIME_LIMIT_SECONDS", 0.0)
    selection = mprlib.select(hard_problem(), "apportionment")
    assert selection.status == "time_limit" and "stopped by the clock" in selection.message
    assert len(set(selection.items.tolist())) == 40
