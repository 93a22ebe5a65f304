"""Fair order beside the prefix rules and the lottery of others: python -m tests.benchmarks.prefix_rules [--problems 12]

FairFace's labels, 10,000 candidates, 28 groups (sex, age over 49, race), k = 20, rho half of top-k's MPR under
`groups`. Of each method's order: MPR of the set and under attention log2, prefixes of 5 to 20 items beyond the limits
of a fair order at rho, discounted similarity that is lost against top-k, AWRF and NDKL of the worst attribute (1 and 0
are even), milliseconds of the processor. Medians over problems.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import mprlib
from mprlib.attention import FIRST, LOG2
from mprlib.optimisers.order_course import OrderCourse, prefix_limits
from mprlib.registry import function_class
from tests.fairface_queries import fairface_query

K, PART = 20, 0.5
CLASS = "groups"
# Name of a row: the method and its settings.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "top_k": ("top_k", {}),
    "mopr": ("mopr", {}),
    "mopr, order fair": ("mopr", {"order": "fair"}),
    "mopr, attention log2": ("mopr", {"attention": "log2"}),
    "det_greedy": ("det_greedy", {"order": "fair"}),
    "det_cons": ("det_cons", {"order": "fair"}),
    "det_relaxed": ("det_relaxed", {"order": "fair"}),
    "det_const_sort": ("det_const_sort", {"order": "fair"}),
    "fair_top_k (FA*IR)": ("fair_top_k", {"order": "fair"}),
    "exposure_policy, one draw": ("exposure_policy", {"order": "fair"}),
}
COLUMNS = ("MPR", "MPR log2", "prefixes", "loss %", "AWRF", "NDKL", "ms")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=12, help="queries (default 12: half a minute)")
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for seed in range(parser.parse_args().problems):
        problem = fairface_query(seed, k=K)
        rho = PART * mprlib.select(problem, "top_k", None, CLASS).mpr
        for name, (method, settings) in METHODS.items():
            value = rho if method == "mopr" else None
            if seed == 0:
                # What is compiled at the first call is no method's.
                mprlib.select(problem, method, value, CLASS, **settings)
            start = time.process_time()
            row = mprlib.select(problem, method, value, CLASS, **settings)
            seconds = time.process_time() - start
            found[name].append([*measures(problem, row.items, rho), 1e3 * seconds])
    print(f"{'':<26}" + "".join(f"{column:>10}" for column in COLUMNS))
    for name, rows in found.items():
        print(f"{name:<26}" + "".join(f"{value:>10.3f}" for value in np.median(rows, axis=0)))


def measures(problem: mprlib.Problem, items: np.ndarray, rho: float) -> list[float]:
    """The columns but for time."""
    weights, worst = LOG2.weights(K), mprlib.metrics.worst_attribute(problem, items)
    lost = 1 - (weights @ problem.scores[items]) / (weights @ problem.scores[problem.best_first[:K]])
    course = OrderCourse.of(problem, function_class(CLASS).bind(problem), items)
    return [
        mprlib.measure(problem, items, CLASS).value,
        mprlib.measure(problem, items, CLASS, attention="log2").value,
        len(course.missed(items, prefix_limits(rho, k=K, first=FIRST))),
        100 * lost,
        worst.awrf,
        worst.ndkl,
    ]


if __name__ == "__main__":
    main()
