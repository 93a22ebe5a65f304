"""Time, gap and status of 50-point paths on queries over FairFace's labels.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.mopr_path [queries] [--paper POINTS] [--classes]

Each query is solved by `mopr` with 28 and with 126 cells, beside one cold linear programme of the
same size (n columns, 20 dense rows, scipy's highs-ds) in the same run. With --paper, Algorithm 1 as
printed on that many points of the first query, its time scaled to 50 points. With --classes, 20
points of the classes that need cutting planes. Seconds are of wall time.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from time import perf_counter

import numpy as np
from scipy.optimize import linprog

from mprlib import Problem, sweep
from mprlib.cells import cells_of
from mprlib.optimisers import mopr
from mprlib.registry import function_class
from mprlib.selection import Selection
from tests.fairface_queries import fairface_query

POINTS = 50
REPEATS = 5
DENSE_ROWS = 20


def fresh(problem: Problem) -> Problem:
    """The same problem without what it has cached."""
    return replace(problem)


def linear_programme_seconds(problem: Problem) -> float:
    """One cold linear programme with the pool's columns and 20 dense two-sided cuts' worth of rows."""
    generator = np.random.default_rng(0)
    cuts = (problem.labels @ generator.standard_normal((problem.labels.shape[1], DENSE_ROWS // 2))).T / problem.k
    middle = problem.reference @ np.linalg.lstsq(problem.labels, cuts.T * problem.k, rcond=None)[0]
    limit = 0.3 * np.abs(cuts @ _top(problem) - middle.mean(axis=0))
    start = perf_counter()
    linprog(
        -problem.scores,
        A_ub=np.vstack([cuts, -cuts]),
        b_ub=np.concatenate([limit + middle.mean(axis=0), limit - middle.mean(axis=0)]),
        A_eq=np.ones((1, problem.n)),
        b_eq=[problem.k],
        bounds=(0, 1),
        method="highs-ds",
    )
    return perf_counter() - start


def _top(problem: Problem) -> np.ndarray:
    return np.isin(np.arange(problem.n), problem.best_first[: problem.k]).astype(float)


def path(problem: Problem, name: str, points: int) -> tuple[float, float, list[Selection]]:
    """Seconds of building the cells, of the path beside it, and the rows."""
    cell_seconds, path_seconds = [], []
    for _ in range(REPEATS if name == "linear" else 1):
        problem = fresh(problem)
        start = perf_counter()
        cells_of(problem)
        cell_seconds.append(perf_counter() - start)
        start = perf_counter()
        oracle = function_class(name).bind(problem)
        rows = sweep(problem, "mopr", mopr.grid(problem, oracle, points), name)
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
        f"not found from a tenth on {missing}; {counts}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("queries", type=int, nargs="?", default=10)
    parser.add_argument("--paper", type=int, default=0, metavar="POINTS")
    parser.add_argument("--classes", action="store_true")
    options = parser.parse_args()
    for has_age_bands in (False, True):
        table = []
        for seed in range(options.queries):
            problem = fairface_query(seed, has_age_bands=has_age_bands)
            table.append((*path(problem, "linear", POINTS), linear_programme_seconds(problem)))
        cell, whole, programme = (1e3 * np.median([row[i] for row in table]) for i in (0, 1, 3))
        ratio = np.median([(row[0] + row[1]) / row[3] for row in table])
        print(f"{126 if has_age_bands else 28} cells, {options.queries} queries, {POINTS} points, k = 50")
        print(f"  cells {cell:.1f} ms, path {whole:.1f} ms, one linear programme {programme:.1f} ms, ratio {ratio:.2f}")
        print("  " + summary([row for entry in table for row in entry[2]]))
    if options.classes:
        for name in ("tree", "tree_greedy", "groups", "mlp", "forest"):
            _, seconds, rows = path(fairface_query(0), name, 20)
            print(f"{name}, 20 points: {seconds:.2f} s; {summary(rows)}")
    if options.paper:
        compare_with_paper(fairface_query(0), options.paper)


def compare_with_paper(problem: Problem, points: int) -> None:
    """Algorithm 1 as printed, on evenly chosen points of the same grid."""
    oracle = function_class("linear").bind(problem)
    rhos = mopr.grid(problem, oracle, POINTS)[:: POINTS // points][:points]
    start = perf_counter()
    rows = sweep(problem, "mopr_paper", rhos)
    theirs = (perf_counter() - start) * POINTS / len(rhos)
    _, ours, own_rows = path(problem, "linear", POINTS)
    broken = np.mean([row.mpr > row.rho for row in rows])
    own = np.mean([row.mpr > row.rho for row in own_rows if row.status in ("optimal", "feasible")])
    print(f"mopr_paper, {len(rhos)} points scaled to {POINTS}: {theirs:.0f} s, {theirs / ours:.0f} times ours;")
    largest = max(row.mpr / row.rho for row in rows)
    print(f"  rows above rho: {broken:.0%} (largest {largest:.2f} times), ours {own:.0%}")


if __name__ == "__main__":
    main()
