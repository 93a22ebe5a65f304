"""Time, gap and status of rho paths: FairFace's labels, classes that need cuts, embeddings, the paper's loop.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.mopr_path [queries] [--classes] [--embeddings] [--paper T10 T50]

Each query is solved by `mopr` at 50 points with 28 and with 126 cells, beside one cold linear programme
of the same size (n columns, 20 dense rows, scipy's highs-ds) in the same run. Rows called infeasible
are solved by that solver as well. With --classes, 20 points of every class that needs cutting planes;
with --embeddings, 20 points of the linear class over 384 columns. With --paper, Algorithm 1 as printed
for that many rows with 10 rounds and with 50, its time extrapolated to 50 rows. Seconds are of wall time.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
from scipy.optimize import linprog

from mprlib import Mopr, Problem, sweep
from mprlib.cells import cells_of
from mprlib.function_classes.base import Oracle
from mprlib.optimisers.ball_region import centred_features
from mprlib.registry import function_class
from mprlib.selection import Selection
from tests.embedded_queries import embedded_query
from tests.fairface_queries import fairface_query

POINTS = 50
FEWER_POINTS = 20
REPEATS = 5
DENSE_ROWS = 20
CUT_CLASSES = ("tree", "tree_greedy", "groups", "mlp", "forest")
# The outside check of infeasible rows: rounds of cuts at most, and the excess that ends them.
OUTSIDE_ROUNDS = 100
OUTSIDE_TOLERANCE = 1e-7


def fresh(problem: Problem) -> Problem:
    """The same problem without what it has cached."""
    return replace(problem)


def linear_programme_seconds(problem: Problem, clock: Callable[[], float] = perf_counter) -> float:
    """One cold linear programme with the pool's columns and 20 dense rows, by a clock."""
    generator = np.random.default_rng(0)
    cuts = (problem.labels @ generator.standard_normal((problem.labels.shape[1], DENSE_ROWS // 2))).T / problem.k
    middle = problem.reference @ np.linalg.lstsq(problem.labels, cuts.T * problem.k, rcond=None)[0]
    limit = 0.3 * np.abs(cuts @ _top(problem) - middle.mean(axis=0))
    start = clock()
    linprog(
        -problem.scores,
        A_ub=np.vstack([cuts, -cuts]),
        b_ub=np.concatenate([limit + middle.mean(axis=0), limit - middle.mean(axis=0)]),
        A_eq=np.ones((1, problem.n)),
        b_eq=[problem.k],
        bounds=(0, 1),
        method="highs-ds",
    )
    return clock() - start


def _top(problem: Problem) -> np.ndarray:
    return np.isin(np.arange(problem.n), problem.best_first[: problem.k]).astype(float)


def smallest_rho(problem: Problem, oracle: Oracle) -> float:
    """A rho that no weights go below, by scipy's solver over the cells' counts, a direction of the gap a round."""
    features = centred_features(oracle, problem.k)
    capacity = np.minimum(oracle.cells.pool_counts, problem.k)
    gaps = np.vstack([features.T, -features.T])
    for _ in range(OUTSIDE_ROUNDS):
        solution = linprog(
            np.append(np.zeros(capacity.size), 1.0),
            A_ub=np.column_stack([gaps, -np.ones(len(gaps))]),
            b_ub=np.zeros(len(gaps)),
            A_eq=[np.append(np.ones(capacity.size), 0.0)],
            b_eq=[problem.k],
            bounds=[(0, limit) for limit in capacity] + [(0, None)],
            method="highs",
        )
        gap = solution.x[:-1] @ features
        length = np.linalg.norm(gap)
        if length <= solution.fun + OUTSIDE_TOLERANCE:
            break
        gaps = np.vstack([gaps, features @ gap / length])
    return float(solution.fun)


def path(problem: Problem, name: str, points: int, repeats: int = 1) -> tuple[float, float, list[Selection]]:
    """Seconds of building the cells, of the path beside it, and the rows."""
    cell_seconds, path_seconds = [], []
    for _ in range(repeats):
        problem = fresh(problem)
        start = perf_counter()
        cells_of(problem)
        cell_seconds.append(perf_counter() - start)
        start = perf_counter()
        oracle = function_class(name).bind(problem)
        rows = sweep(problem, "mopr", Mopr.grid(problem, oracle, points), name)
        path_seconds.append(perf_counter() - start)
    return float(np.median(cell_seconds)), float(np.median(path_seconds)), rows


def summary(rows: list[Selection]) -> str:
    """Statuses, gaps from a tenth of top-k's MPR on, and sets above rho."""
    considered = [row for row in rows if row.rho >= max(r.rho for r in rows) / 10]
    gaps = [100 * row.gap for row in considered if row.status in ("optimal", "feasible")]
    broken = sum(row.mpr > row.rho for row in rows if row.status in ("optimal", "feasible"))
    missing = sum(row.status == "not_found" for row in considered)
    counts = ", ".join(f"{count} {status}" for status, count in Counter(row.status.value for row in rows).items())
    return (
        f"gap {np.median(gaps):.4f}% median {max(gaps):.4f}% max; above rho {broken}; "
        f"not found from a tenth on {missing} of {len(considered)}; {counts}"
    )


def compare_cells(queries: int, *, has_age_bands: bool) -> None:
    """The linear class on FairFace's labels: times, ratio, gaps, and the outside check of infeasible rows."""
    table, infeasible, disputed = [], 0, 0
    for seed in range(queries):
        problem = fairface_query(seed, has_age_bands=has_age_bands)
        table.append((*path(problem, "linear", POINTS, REPEATS), linear_programme_seconds(problem)))
        ruled_out = [row for row in table[-1][2] if row.status == "infeasible"]
        if ruled_out:
            lowest = smallest_rho(problem, function_class("linear").bind(problem))
            infeasible += len(ruled_out)
            disputed += sum(row.rho >= lowest + OUTSIDE_TOLERANCE for row in ruled_out)
    cell, whole, programme = (1e3 * np.median([row[i] for row in table]) for i in (0, 1, 3))
    ratio = np.median([(row[0] + row[1]) / row[3] for row in table])
    print(f"{126 if has_age_bands else 28} cells, {queries} queries, {POINTS} points, k = 50")
    print(f"  cells {cell:.1f} ms, path {whole:.1f} ms, one linear programme {programme:.1f} ms, ratio {ratio:.2f}")
    print("  " + summary([row for entry in table for row in entry[2]]))
    print(f"  rows called infeasible {infeasible}, of which an outside linear programme does not confirm {disputed}")


def compare_with_paper(problem: Problem, rounds: int, count: int) -> None:
    """Algorithm 1 as printed on evenly chosen points of the grid, beside the whole path in the same run."""
    oracle = function_class("linear").bind(problem)
    grid = Mopr.grid(problem, oracle, POINTS)
    rhos = [grid[place] for place in np.linspace(0, POINTS - 1, count + 2).astype(int)[1:-1]]
    start = perf_counter()
    rows = sweep(problem, "mopr_paper", rhos, rounds=rounds)
    theirs = (perf_counter() - start) * POINTS / len(rhos)
    _, ours, own_rows = path(problem, "linear", POINTS, REPEATS)
    broken = sum(row.mpr > row.rho for row in rows)
    own = sum(row.mpr > row.rho for row in own_rows if row.status in ("optimal", "feasible"))
    largest = max(row.mpr / row.rho for row in rows)
    print(
        f"mopr_paper, T = {rounds}: {theirs:.0f} s for {POINTS} points (extrapolated from {count}), "
        f"{theirs / ours:.0f} times ours ({1e3 * ours:.0f} ms)"
    )
    print(f"  rows above rho: {broken} of {count} (largest {largest:.2f} times); ours {own} of {POINTS}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("queries", type=int, nargs="?", default=10)
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--embeddings", action="store_true")
    parser.add_argument("--paper", type=int, nargs=2, metavar=("T10", "T50"), default=(0, 0))
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for has_age_bands in (False, True) if options.queries else ():
        compare_cells(options.queries, has_age_bands=has_age_bands)
    for name in CUT_CLASSES if options.classes else ():
        _, seconds, rows = path(fairface_query(0), name, FEWER_POINTS)
        print(f"{name}, {FEWER_POINTS} points: {seconds:.2f} s; {summary(rows)}", flush=True)
    if options.embeddings:
        cell_seconds, seconds, rows = path(embedded_query(10_000, 384, k=50), "linear", FEWER_POINTS)
        print(f"linear over 384 columns, {FEWER_POINTS} points: {cell_seconds + seconds:.1f} s; {summary(rows)}")
    for rounds, count in zip((10, 50), options.paper):
        if count:
            compare_with_paper(fairface_query(0), rounds, count)


if __name__ == "__main__":
    main()
