"""Whole curves on real labels: every row certified, the same bits whatever the threads, flat memory."""

import gc
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from mprlib import METHODS, Mopr, Problem, measure, sweep
from mprlib.optimisers import branch_and_bound
from mprlib.registry import function_class
from tests.fairface_queries import fairface_query

CONSTRAINED = [name for name, method in METHODS.items() if method.is_constrained]
ROOT = Path(__file__).resolve().parents[3]
DIGEST = """
import hashlib
from tests.mprlib.optimisers.test_paths import digest
print(digest())
"""


def rows_of(problem: Problem, name: str = "linear", points: int = 50):
    oracle = function_class(name).bind(problem)
    return sweep(problem, "mopr", Mopr.grid(problem, oracle, points), name)


def certified(problem: Problem, rows, name: str) -> None:
    for row in rows:
        assert len(set(row.items.tolist())) == problem.k
        assert row.mpr == measure(problem, row.items, name).value
        if row.status in ("optimal", "feasible"):
            assert row.mpr <= row.rho
            assert row.similarity_bound >= row.similarity
    # A larger rho allows every set of a smaller one.
    met = [row for row in sorted(rows, key=lambda row: row.rho) if row.status in ("optimal", "feasible")]
    bounds = [row.relaxation_bound for row in met]
    assert np.all(np.diff(bounds) >= -1e-9)
    for index, row in enumerate(met):
        assert all(row.similarity <= later.similarity_bound + 1e-12 for later in met[index:])


@pytest.mark.parametrize("seed", range(3))
def test_linear_curve_is_certified_within_the_stated_gaps(seed: int) -> None:
    problem = fairface_query(seed)
    rows = rows_of(problem)
    certified(problem, rows, "linear")
    considered = [row for row in rows if row.rho >= rows[-1].rho / 10]
    assert {row.status.value for row in considered} <= {"optimal", "feasible"}
    gaps = [row.gap for row in considered]
    assert np.median(gaps) <= 0.0005 and max(gaps) <= 0.003


def test_many_cells() -> None:
    problem = fairface_query(0, has_age_bands=True)
    rows = rows_of(problem)
    certified(problem, rows, "linear")
    gaps = [row.gap for row in rows if row.rho >= rows[-1].rho / 10 and row.status in ("optimal", "feasible")]
    assert np.median(gaps) <= 0.001 and max(gaps) <= 0.01


@pytest.mark.parametrize("name", ["tree", "groups", "saturated", "tree_greedy", "mlp"])
def test_other_classes(name: str) -> None:
    problem = fairface_query(1, size=3_000)
    rows = rows_of(problem, name, points=6)
    certified(problem, rows, name)
    assert sum(row.status in ("optimal", "feasible") for row in rows) >= 3


def test_small_rho_of_trees_is_met_by_sets_near_the_reference() -> None:
    problem = fairface_query(0)
    top = measure(problem, problem.best_first[:50], "tree").value
    rows = sweep(problem, "mopr", [0.3 * top, 0.35 * top], "tree")
    certified(problem, rows, "tree")
    assert [row.status.value for row in rows] == ["feasible"] * 2


def test_integer_proves_what_the_path_only_bounds() -> None:
    problem = fairface_query(1)
    top = measure(problem, problem.best_first[:50]).value
    rhos = [0.4 * top, 0.7 * top]
    for path, whole in zip(sweep(problem, "mopr", rhos), sweep(problem, "mopr_integer", rhos)):
        assert whole.status == "optimal" and whole.mpr <= whole.rho
        assert path.similarity - 1e-12 <= whole.similarity <= path.similarity_bound + 1e-12


def generated() -> Problem:
    rng = np.random.default_rng(5)
    labels = (rng.random((1_500, 5)) < 0.4).astype(float)
    return Problem(scores=rng.random(800), labels=labels[:800], reference=labels[800:], k=20)


def digest() -> str:
    problem, total = generated(), hashlib.sha256()
    for name in ("linear", "saturated", "groups", "tree"):
        for row in sweep(problem, "mopr", [0.02, 0.05, 0.1], name):
            total.update(row.items.tobytes())
            total.update(np.array([row.similarity, row.mpr, row.similarity_bound or 0.0]).tobytes())
    return total.hexdigest()


def test_same_bits_whatever_the_threads() -> None:
    digests = set()
    for threads in ("1", "2"):
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout.strip())
    assert len(digests) == 1


def grown_bytes(method: str, times: int) -> int:
    """Resident memory gained by so many solves on fresh problems, after some to warm up."""
    process = psutil.Process()
    before = 0
    for count in range(times + 10):
        sweep(generated(), method, [0.05])
        if count == 9:
            gc.collect()
            before = process.memory_info().rss
    gc.collect()
    return process.memory_info().rss - before


@pytest.mark.parametrize("method", CONSTRAINED)
def test_memory_stays_flat(method: str) -> None:
    assert grown_bytes(method, 20) < 20e6


@pytest.mark.system
@pytest.mark.parametrize("method", CONSTRAINED)
def test_memory_stays_flat_over_a_thousand_solves(method: str) -> None:
    assert grown_bytes(method, 1_000) < 50e6


def test_the_clock_of_a_row_is_one_budget_and_is_told(monkeypatch) -> None:
    problem = fairface_query(3, size=3_000)
    top = measure(problem, problem.best_first[:50], "tree").value
    monkeypatch.setattr(branch_and_bound, "ROW_SECONDS", 0.0)
    row = sweep(problem, "mopr_integer", [0.25 * top], "tree")[0]
    assert row.status == "time_limit" and "clock" in row.message
    assert len(set(row.items.tolist())) == 50 and row.similarity_bound >= row.similarity
