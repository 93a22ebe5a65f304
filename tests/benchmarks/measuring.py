"""What measuring costs, class by class.

    python -m tests.benchmarks.measuring

First the exact depth-3 tree against scikit-learn's greedy fit on rows, at 126 cells and 18 binary
columns; then every class once on real labels, in one process that has measured nothing before, so
that cells, bindings and the import of scikit-learn count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mprlib import FUNCTION_CLASSES, Problem, measure
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.tree import Tree
from tests.populations import one_hot_problem, signed_weights
from tests.real_labels import HAS_LABELS, faces_problem

REPEATS = 9


def main() -> None:
    if HAS_LABELS:
        real_labels()
    else:
        print("real labels: ../shared/data is absent, skipped")
    print()
    trees()


def real_labels() -> None:
    problem = faces_problem()
    items = problem.best_first[: problem.k]
    print(f"FairFace's {problem.reference.shape[0]} as reference, UTKFace's {problem.n} as items, k = {problem.k}")
    print(f"{'class':12} {'MPR':>8} {'at most':>8} {'chi':>6} {'first ms':>9} {'again ms':>9}  witness")
    total = 0.0
    for name in FUNCTION_CLASSES:
        first, result = _timed(lambda: measure(problem, items, name))
        again, _ = _timed(lambda: measure(problem, items, name))
        total += first
        chi = "-" if result.chi is None else f"{result.chi:.2f}"
        print(
            f"{name:12} {result.value:8.4f} {result.upper_bound:8.4f} {chi:>6} {1e3 * first:9.1f} {1e3 * again:9.1f}  "
            f"{result.witness.sentence.split(';')[0]}"
        )
    print(f"{'together':12} {'':8} {'':8} {'':6} {1e3 * total:9.1f}")


def trees() -> None:
    from sklearn.tree import DecisionTreeRegressor

    problem = one_hot_problem(n=10_000, m=10_000, k=50, levels=(2, 7, 9))
    items = problem.best_first[:50]
    weights = selection_weights(problem, items)
    rows = np.concatenate([problem.labels, problem.reference])
    targets = signed_weights(problem, items)
    targets /= targets.std()
    cells = cells_of(problem)
    print(f"{cells.size} cells, {rows.shape[1]} binary columns, {rows.shape[0]} rows; median of {REPEATS}, ms")
    oracle = Tree().bind(problem)
    unbound = iter([_fresh(problem) for _ in range(REPEATS)])
    timings = {
        "exact tree, value": lambda: oracle.worst_case(weights),
        "exact tree, listing all splits and value": lambda: Tree().bind(next(unbound)).worst_case(weights),
        "scikit-learn's greedy fit on the rows": lambda: DecisionTreeRegressor(max_depth=3, random_state=1017).fit(
            rows, targets
        ),
    }
    for name, call in timings.items():
        print(f"  {name:42} {1e3 * np.median([_timed(call)[0] for _ in range(REPEATS)]):8.2f}")


def _fresh(problem: Problem) -> Problem:
    """The same problem with its cells and nothing else derived yet."""
    fresh = replace(problem)
    fresh.cached("cells", lambda: cells_of(problem))
    return fresh


def _timed(call: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    main()
