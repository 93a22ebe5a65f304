"""Proofs on whole counts, against all sets of small problems and against values solved by hand."""

from itertools import combinations

import numpy as np
import pytest

from mprlib import Problem, measure, select, sweep
from mprlib.function_classes.base import FunctionClass
from mprlib.registry import function_class
from tests.fuzz.random_problems import random_problem

CLASSES = ("linear", "saturated", "groups", "rkhs", "tree")
METHODS = ("mopr", "mopr_integer")
SIMILARITY = 1e-9
KINDS = 6


def hot(rng: np.random.Generator, rows: int, levels: tuple[int, ...]) -> np.ndarray:
    shares = [rng.dirichlet(np.full(count, 2.0)) for count in levels]
    return np.hstack([np.eye(count)[rng.choice(count, rows, p=share)] for count, share in zip(levels, shares)])


def small_problem(seed: int) -> Problem:
    """All sets can be listed: attributes of levels, columns without attributes, tied scores, weights, equal attributes,
    numbers with an order."""
    rng = np.random.default_rng(seed)
    levels = [(2, 3), (2, 2, 3), (3, 4), (2, 7)][seed % 4]
    n, k = [(14, 4), (12, 5), (13, 3), (11, 4), (16, 2)][seed % 5]
    rows = hot(rng, n + 60, levels)
    starts = np.cumsum([0, *levels])
    attributes = {f"a{i}": list(range(starts[i], starts[i + 1])) for i in range(len(levels))}
    kind = seed % KINDS
    if kind == 3:
        rows, attributes = np.hstack([rows, rows[:, : levels[0]]]), None
    if kind == 4:
        rows, attributes = np.column_stack([rows[:, 1:2], rng.integers(0, 3, n + 60)]), None
    scores = np.round(rng.random(n), 1) if kind == 1 else rng.random(n) + 0.4 * rows[:n, 0]
    return Problem(
        scores=scores,
        labels=rows[:n],
        reference=rows[n:],
        k=k,
        attributes=attributes,
        reference_weights=rng.lognormal(0, 1, 60) if kind == 2 else None,
    )


class Listed:
    """Every set of a problem, with its value and similarity."""

    def __init__(self, problem: Problem, name: str | FunctionClass) -> None:
        oracle = (function_class(name) if isinstance(name, str) else name).bind(problem)
        self.sets = np.array(list(combinations(range(problem.n), problem.k)))
        weights = np.zeros(problem.n)
        values = []
        for items in self.sets:
            weights[:] = 0.0
            weights[items] = 1.0 / problem.k
            values.append(oracle.worst_case(weights).value)
        self.values = np.array(values)
        self.similarities = problem.scores[self.sets].mean(axis=1)

    def rhos(self) -> list[float]:
        """Some between the smallest value and top-k's, attained values and others, and one below all."""
        distinct = np.unique(self.values)
        top = self.values[self.similarities.argmax()]
        low = distinct[distinct <= top]
        chosen = low[np.linspace(0, low.size - 1, 4).astype(int)]
        between = 0.5 * (chosen[1:] + chosen[:-1])
        return [0.0, 0.7 * distinct[0], *chosen, *between]

    def best(self, rho: float) -> float | None:
        inside = self.similarities[self.values <= rho]
        return float(inside.max()) if inside.size else None


def check(problem: Problem, listed: Listed, row) -> str:
    """Every statement of a row, and what it is: settled or not."""
    best = listed.best(row.rho)
    assert len(set(row.items.tolist())) == problem.k
    if row.rho_min is not None:
        assert row.rho_min <= listed.values.min() + 1e-12
    if row.status == "infeasible":
        assert best is None
        assert row.rho < row.rho_min
        said = row.message.partition("raise rho to at least ")[2]
        assert not said or row.message.startswith("no selection") or float(said) >= listed.values.min()
        return "settled"
    if best is None:
        assert row.status == "not_found"
        return "open"
    assert row.similarity_bound >= best - SIMILARITY
    assert row.relaxation_bound is None or row.relaxation_bound >= row.similarity_bound - SIMILARITY
    if row.status == "not_found":
        return "open"
    assert row.mpr <= row.rho and row.similarity <= best + SIMILARITY
    if row.status == "optimal":
        assert row.similarity >= best - SIMILARITY
        return "settled"
    return "open"


def statements(seeds: range, name: str) -> dict[str, int]:
    found = {"settled": 0, "open": 0}
    for seed in seeds:
        problem = small_problem(seed)
        if name == "groups" and seed % KINDS == 4:
            continue
        listed = Listed(problem, name)
        rhos = listed.rhos()
        for method in METHODS:
            for row in sweep(problem, method, rhos, name):
                found[check(problem, listed, row)] += 1
            # Alone, nothing is known from other values of rho.
            found[check(problem, listed, select(problem, method, rhos[3], name))] += 1
    return found


@pytest.mark.parametrize("name", CLASSES)
def test_every_statement_holds_for_all_sets(name):
    found = statements(range(2 * KINDS), name)
    assert found["open"] == 0


@pytest.mark.system
@pytest.mark.full
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("first", range(12, 252, 24))
def test_every_statement_holds_for_all_sets_of_many_problems(name, first):
    """2,000 rows and more of every class and method: three minutes of one core."""
    statements(range(first, first + 24), name)


def test_sets_have_k_items_where_no_attribute_has_all_its_levels_decided():
    """Levels of one attribute that are those of another: counts of some do not say how many items there are."""
    problem = random_problem(117)
    top = measure(problem, problem.best_first[: problem.k], "rkhs").value
    rows = sweep(problem, "mopr", [0.0, 0.3 * top, 0.7 * top, top], "rkhs")
    assert [len(row.items) for row in rows] == 4 * [problem.k]
    assert all(row.status == "infeasible" or row.mpr <= row.rho for row in rows)
