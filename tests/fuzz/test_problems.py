"""Every method and class over random problems: no set above its rho, no bound below a set that exists."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem, Selection
from mprlib.cells import selection_weights
from mprlib.function_classes.base import Oracle
from mprlib.registry import function_class
from tests.method_arrays import needed

from .random_problems import LARGEST_SET_COUNT, random_problem

PROBLEMS = 20_000
PARTS = 20
SLOWEST_SECONDS = 5.0
# What the order of a sum of k scores may change, in parts of the largest score.
ROUNDING = 1e-12
# A set this close to the best, in parts of the range of scores, may be called the best.
OPTIMALITY = 1e-9
# Small ones of their kind: a forest of the default size takes a second for each function that it finds.
CLASS_SETTINGS = {"forest": {"trees": 4}}
CONSTRAINED = [name for name, method in mprlib.METHODS.items() if method.is_constrained]


def settings(seed: int) -> tuple[str, str]:
    """The method and the class that problem number `seed` is tried with: all pairs in turn."""
    methods, classes = list(mprlib.METHODS), list(mprlib.FUNCTION_CLASSES)
    # Methods with a rho have most to prove.
    methods += CONSTRAINED * 3
    return methods[seed % len(methods)], classes[seed // len(methods) % len(classes)]


def asked(rng: np.random.Generator, problem: Problem, oracle: Oracle) -> list[float]:
    """Values of rho: none, all, between, and those that a random set attains exactly."""

    def attained(items: np.ndarray) -> float:
        return oracle.worst_case(selection_weights(problem, items)).value

    top = attained(problem.best_first[: problem.k])
    sets = [rng.choice(problem.n, problem.k, replace=False) for _ in range(2)]
    return [0.0, *(attained(items) for items in sets), 0.6 * top, 0.05, 2 * top + 1.0]


def extras(rng: np.random.Generator, problem: Problem, method: str) -> dict:
    width = problem.embeddings.shape[1]
    return {
        "fair_top_k": {"protected": rng.random(problem.n) < 0.4, "share": 0.3},
        "pbm": {"group_labels": rng.integers(0, 3, problem.n)},
        "mopr_integer": {"nodes": 200},
    }.get(method, needed(method, width, int(rng.integers(1000))))


def values_of(rng: np.random.Generator, problem: Problem, oracle: Oracle, method: str) -> list:
    kind = mprlib.METHODS[method]
    if kind.is_constrained:
        return asked(rng, problem, oracle)
    if kind.parameter is None:
        return [None]
    limits = kind.value_of_width(problem.embeddings.shape[1])
    return list(dict.fromkeys([*kind.grid(problem, oracle, 3), limits.least, limits.most]))


def expect_sound(problem: Problem, oracle: Oracle, row: Selection) -> None:
    """What holds of every row by itself."""
    assert row.items.size == np.unique(row.items).size == problem.k
    assert (np.diff(problem.scores[row.items]) <= 0).all()
    worst = oracle.worst_case(selection_weights(problem, row.items))
    if row.status == "optimal":
        assert row.mpr_upper_bound <= row.rho
    assert row.mpr == worst.value and row.mpr <= row.mpr_upper_bound
    if row.rho is None:
        assert row.status == "done"
        return
    if row.status in ("optimal", "feasible"):
        assert row.mpr <= row.rho
    if row.status in ("infeasible", "not_found"):
        assert row.mpr > row.rho and row.gap is None
    if row.gap is not None:
        assert row.gap >= 0
    if row.rho_min is not None and row.status == "infeasible":
        assert row.rho_min > row.rho or "ruled out" in row.message
    if row.rho_min is not None and row.mpr <= row.rho:
        assert row.rho_min <= row.mpr


def expect_true(problem: Problem, row: Selection, sets: np.ndarray, values: np.ndarray) -> None:
    """What a row claims of all sets, against all sets."""
    size = float(np.abs(problem.scores).max())
    similarities = problem.scores[sets].mean(axis=1)
    inside = values <= row.rho
    if row.rho_min is not None:
        assert row.rho_min <= values.min() * (1 + ROUNDING)
    if not inside.any():
        assert row.status in ("infeasible", "not_found")
        return
    best = float(similarities[inside].max())
    assert row.status != "infeasible"
    if row.similarity_bound is not None:
        assert row.similarity_bound >= best - ROUNDING * size
        assert row.relaxation_bound >= row.similarity_bound - ROUNDING * size
    if row.status == "optimal":
        assert row.similarity >= best - OPTIMALITY * float(np.ptp(problem.scores)) - ROUNDING * size


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_row_is_wrong(part: int, cases: Callable[[int], int]) -> None:
    for seed in range(part, cases(PROBLEMS), PARTS):
        try_problem(seed)


def try_problem(seed: int) -> None:
    """One problem with one method and one class; a failure names the number that makes it again."""
    rng = np.random.default_rng([seed, 1])
    method, name = settings(seed)
    problem = random_problem(seed)
    # Seconds of the processor: the machine may be busy with something else.
    started = time.process_time()
    try:
        settings_of_class = CLASS_SETTINGS.get(name, {})
        oracle = function_class(name, **settings_of_class).bind(problem)
        values = values_of(rng, problem, oracle, method)
        given = extras(rng, problem, method) | settings_of_class
        rows = mprlib.sweep(problem, method, values, function_class=name, **given)
    except InputError as error:
        assert "\n" not in str(error)
        return
    except Exception as error:
        raise AssertionError(f"problem {seed}, {method} for {name}: {type(error).__name__}: {error}") from error
    seconds = (time.process_time() - started) / len(values)
    assert seconds <= SLOWEST_SECONDS, f"problem {seed}, {method} for {name}: {seconds:.1f} s a value"
    row = None
    try:
        for row in rows:
            expect_sound(problem, oracle, row)
        if method in CONSTRAINED and comb(problem.n, problem.k) <= LARGEST_SET_COUNT:
            sets = np.array(list(combinations(range(problem.n), problem.k)))
            worst = [oracle.worst_case(selection_weights(problem, items)) for items in sets]
            attained = np.array([one.value for one in worst])
            # Of a class that is searched by a heuristic other sets may measure as less than they are.
            for row in rows if all(one.is_exact for one in worst) else []:
                expect_true(problem, row, sets, attained)
    except AssertionError as error:
        raise AssertionError(f"problem {seed}, {method} for {name}: {error}\n{row}") from error
