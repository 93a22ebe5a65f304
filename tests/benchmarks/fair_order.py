"""Fair orders and attention on FairFace's labels: what they lose, how often limits are kept, and the time a row.

    python -m tests.benchmarks.fair_order [--problems 200] [--curves 5]

Prints, for `mopr` with order fair at k = 20: rows whose prefixes of 5 or more all keep their rho, rows for which no
order does (proven) or none was found, the loss of nDCG over the order by score, and processor time a row; then curves
of `mopr` with attention log2 beside those without. Bars: no prefix beyond its rho where an order exists, a median
loss of at most 1%, 5 ms a row, five times the time of a curve without attention.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import mprlib
from mprlib.attention import LOG2
from mprlib.optimisers.order_course import prefix_limits
from mprlib.registry import function_class
from tests.fairface_queries import fairface_query

K = 20
PARTS = (0.3, 0.5, 0.8)
POINTS = 20


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=200, help="queries of the orders (default 200: six minutes)")
    parser.add_argument("--curves", type=int, default=5, help="queries of the curves (default 5: ten seconds; 0: none)")
    arguments = parser.parse_args()
    for has_age_bands in (False, True):
        for name in ("linear", "groups"):
            prefixes(name, arguments.problems, has_age_bands)
    for k in (20, 50) if arguments.curves else ():
        for name in ("linear", "groups", "saturated"):
            curves(name, k, arguments.curves)


def prefixes(name: str, problems: int, has_age_bands: bool) -> None:
    """Orders whose prefixes are bounded."""
    kept = proven = unknown = unmet = 0
    losses, seconds, worst = [], [], 0.0
    for seed in range(problems):
        problem = fairface_query(seed, k=K, has_age_bands=has_age_bands)
        oracle = function_class(name).bind(problem)
        top = mprlib.measure(problem, problem.best_first[:K], name).value
        rows = mprlib.sweep(problem, "mopr", [part * top for part in PARTS], name)
        for row in rows:
            if row.mpr > row.rho:
                unmet += 1
                continue
            if not seconds:
                # What is compiled at the first call is no row's.
                mprlib.fair_order(problem, row.items, row.rho, name)
            start = time.process_time()
            found = mprlib.fair_order(problem, row.items, row.rho, name)
            seconds.append(time.process_time() - start)
            if found.status.value in ("infeasible", "not_found"):
                proven += found.status.value == "infeasible"
                unknown += found.status.value == "not_found"
                continue
            kept += 1
            worst = max(worst, largest_excess(problem, oracle, found.items, row.rho))
            losses.append(1 - found.similarity / (LOG2.weights(K) @ problem.scores[row.items]))
    cells = "126 cells" if has_age_bands else "28 cells"
    print(
        f"{name}, {cells}: {kept} orders keep every prefix (largest value over its rho {worst:.6f}), for {proven} sets "
        f"none does, for {unknown} none was found; {unmet} rows have no set; nDCG lost {100 * np.median(losses):.3f}% "
        f"(median), {100 * np.max(losses):.2f}% (most); {1e3 * np.median(seconds):.2f} ms a row (median), "
        f"{1e3 * np.mean(seconds):.2f} (mean), {1e3 * np.quantile(seconds, 0.99):.1f} (99%)"
    )


def curves(name: str, k: int, problems: int) -> None:
    """Sweeps of 20 points without and with attention, over 28 cells."""
    ratios, seconds, gaps, statuses = [], [], [], Counter()
    for seed in range(problems):
        problem = fairface_query(seed, k=k)
        spent = []
        for attention in ("uniform", "log2"):
            top = mprlib.measure(problem, problem.best_first[:k], name, attention=attention).value
            rhos = [part * top for part in np.linspace(0.1, 1, POINTS)]
            # What is compiled or bound once is not the sweep's.
            mprlib.select(problem, "mopr", rhos[-2], name, attention=attention)
            start = time.process_time()
            rows = mprlib.sweep(problem, "mopr", rhos, name, attention=attention)
            spent.append(time.process_time() - start)
        ratios.append(spent[1] / spent[0])
        seconds.append(spent[1])
        statuses.update(row.status.value for row in rows)
        gaps += [row.gap for row in rows if row.gap is not None]
    print(
        f"curves, {name}, k = {k}: attention takes {np.median(ratios):.1f} times the time without (median), "
        f"{np.median(seconds):.3f} s; gaps {100 * np.median(gaps):.3f}% (median), {100 * np.max(gaps):.2f}% (most); "
        + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    )


def largest_excess(problem: mprlib.Problem, oracle, items: np.ndarray, rho: float) -> float:
    """The largest value of a prefix over its limit, by the measuring code."""
    found = 0.0
    for length, limit in enumerate(prefix_limits(rho, k=K, first=5)):
        if np.isfinite(limit):
            weights = np.zeros(problem.n)
            weights[items[:length]] = 1 / length
            found = max(found, oracle.worst_case(weights).value / limit)
    return found


if __name__ == "__main__":
    main()
