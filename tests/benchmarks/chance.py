"""Is what is called chance chance, and what is found beyond it: python -m tests.benchmarks.chance [--audits 2000]

Five tables, of which `--only` prints one. `uniform`, p values of fair draws: Kolmogorov and Smirnov's test of being
uniform (only upwards for classes with few values, whose p values may be larger than uniform), and the share within the
chance level: bar 93 to 97% of 1,000, where values are not few. `attended`, the same where places have weights: the
level of MPR under attention. `costs`, of the level, once per reference and k: bar 20 ms. `power`: how often a group's
gap of so many points is beyond chance at k = 50, by its own query and among 24 queries (false discovery rate 5%).
`systems`: how often one is said to be better where both are alike and queries share people, bar 5%, and where one is
five points better over 50 queries. Times are seconds of the processor, on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy.stats import kstest
from threadpoolctl import threadpool_limits

from mprlib import Problem, registry
from mprlib.cells import cells_of
from mprlib.chance import chance_of
from mprlib.function_classes.base import FunctionClass
from mprlib.lotteries import drawn_cells, lottery_counts
from mprlib.statistics import benjamini_yekutieli
from tests.correlated_queries import found_share
from tests.mprlib.test_attention import FAIR, fair_audits
from tests.mprlib.test_chance import CLASSES, SMOOTH, audits
from tests.populations import one_hot_problem

QUERIES, K = 24, 50
ATTENTIONS = ("log2", "geometric(0.8)")
TABLES = ("uniform", "attended", "costs", "power", "systems")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=2_000, help="simulated audits of each class")
    parser.add_argument("--systems", type=int, default=500, help="simulated comparisons of two systems")
    parser.add_argument("--only", choices=TABLES, help="one table instead of all")
    given = parser.parse_args()
    with threadpool_limits(1):
        for name in [given.only] if given.only else TABLES:
            for row in table(name, given.audits, given.systems):
                print(row, flush=True)
            print()


def table(name: str, audits_of_a_class: int, comparisons: int) -> Iterator[str]:
    """The rows of one table."""
    if name == "costs":
        return costs()
    if name == "systems":
        return systems(comparisons)
    return {"uniform": uniform, "attended": attended, "power": power}[name](audits_of_a_class)


def uniform(count: int) -> Iterator[str]:
    """p values of fair draws, and how many of them are within the level."""
    yield f"{'class':<14} {'KS p':>7} {'within level':>13}   of {count} fair draws (bar: p > 0.01; 93% to 97%)"
    for name in CLASSES:
        found = audits(name, count, seed=3)
        side = "two-sided" if name in SMOOTH else "greater"
        values = [one.p_value for one in found]
        within = np.mean([one.value <= one.chance_level for one in found])
        yield f"{name:<14} {kstest(values, 'uniform', alternative=side).pvalue:>7.3f} {within:>13.1%}"


def attended(count: int) -> Iterator[str]:
    """Fair draws under attention, place by place, and how many are within the level of the same attention."""
    yield f"{'class':<14} {'attention':<16} {'KS p':>7} {'within level':>13}   of {count} fair draws (bar: 93% to 97%)"
    for name in FAIR:
        side = "two-sided" if name in SMOOTH else "greater"
        for attention in ATTENTIONS:
            found = list(fair_audits(name, attention, count))
            test = kstest([one.p_value for one in found], "uniform", alternative=side)
            within = np.mean([one.value <= one.chance_level for one in found])
            yield f"{name:<14} {attention:<16} {test.pvalue:>7.3f} {within:>13.1%}"


def costs() -> Iterator[str]:
    """Milliseconds of the level: lotteries once per reference and k, then each class once per pool."""
    problem = one_hot_problem(0, n=10_000, m=10_000, k=K, levels=(2, 7, 9))
    yield f"{'class':<14} {'ms':>7}   {cells_of(problem).size} cells, k = {K}, lotteries included (bar: 20 ms)"
    for name in ("linear", "saturated", "groups", "rkhs", "tree"):
        chosen = registry.function_class(name)
        chosen.bind(problem)
        yield f"{name:<14} {1000 * _seconds(problem, chosen):>7.1f}"


def _seconds(problem: Problem, chosen: FunctionClass) -> float:
    lottery_counts.cache_clear()
    start = time.process_time()
    chance_of(problem, chosen)
    return time.process_time() - start


def power(count: int) -> Iterator[str]:
    """How often a shift of so many points of the largest group is found."""
    problem = one_hot_problem(1, n=10_000, m=10_000, k=K, levels=(2, 3, 4))
    groups = registry.function_class("groups")
    chance, cells, oracle = chance_of(problem, groups), cells_of(problem), groups.bind(problem)
    assert chance is not None
    random = np.random.default_rng(5)
    of_group = cells.labels[:, int(np.argmax(cells.reference_shares @ cells.labels))] > 0
    share = float(cells.reference_shares[of_group].sum())
    level = 100 * chance.level
    yield f"{'points':>6} {'alone':>7} {'of 24':>7}   a group of {share:.0%}; chance: {level:.1f} points"
    for points in (0, 10, 15, 20, 25, 30, 40):
        less = max(1 - points / 100 / share, 0.0)
        shares = np.where(of_group, less, (1 - less * share) / (1 - share)) * cells.reference_shares
        alone = among = 0
        for _ in range(count // 4):
            drawn = np.concatenate(
                [drawn_cells(shares, (1, K), random), drawn_cells(cells.reference_shares, (QUERIES - 1, K), random)]
            )
            p_values = []
            for row in drawn:
                gaps = np.bincount(row, minlength=cells.size) / K - cells.reference_shares
                p_values.append(chance.p_value(float(np.abs(oracle.totals(gaps)).max())))
            alone += p_values[0] <= 0.05
            among += benjamini_yekutieli(p_values)[0] <= 0.05
        yield f"{points:>6} {alone / (count // 4):>7.1%} {among / (count // 4):>7.1%}"


def systems(count: int) -> Iterator[str]:
    """Level and power of a comparison of two systems over 50 queries."""
    yield f"{'families of':>11} {'share':>6} {'level':>7} {'naive':>7} {'power':>7}   level: at most 5%"
    for family, kept in ((1, 0.0), (5, 0.3), (5, 0.6), (10, 0.6)):
        settings = {"family": family, "kept": kept}
        level, naive, power_found = (
            found_share(np.random.default_rng(seed), count, **others, **settings)  # type: ignore[arg-type]
            for seed, others in ((1, {}), (1, {"is_naive": True}), (2, {"tilt": 0.05}))
        )
        yield f"{family:>11} {kept:>6.0%} {level:>7.1%} {naive:>7.1%} {power_found:>7.1%}"


if __name__ == "__main__":
    main()
