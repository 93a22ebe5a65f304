"""How often a comparison of two runs is wrong, and how small a change it finds: python -m tests.benchmarks.compare

A week is 24 queries asked of 2,000 people of three attributes, twice. In the null weeks nothing happens to a
group: scores are redrawn with noise (a new encoder), or a twentieth of the people is replaced by others (a crawl).
Bar: the expected share of false ones among the queries said to have moved is at most the level, 5%; in a null week
all are false, so that this is the share of weeks with any. In the other weeks one group's scores rise for one query,
by some standard deviations: how often is that query found, and that group alone named in it?
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from mprlib.statistics import benjamini_hochberg, exchange_test, moved_groups
from tests.mprlib.statistics.test_exchange import differing, people

LEVEL, QUERIES, K, PEOPLE = 0.05, 24, 50, 2000
NOISE, REPLACED = 0.3, 0.05
# The column of people() that is shifted: the third race, a tenth of the people.
COLUMN, ATTRIBUTE, VALUE = 4, 1, 2
Change = Callable[[np.random.Generator, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def noise(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> tuple:
    """Both weeks see the true scores with noise of their own."""
    return differing(*(true + NOISE * random.standard_normal((2, PEOPLE))), K)


def replaced(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> tuple:
    """Each week lacks a twentieth of the people, its own."""
    return differing(*np.where(random.random((2, PEOPLE)) < REPLACED, -np.inf, true), K)


def shifted(deviations: float) -> Change:
    """For the first query one group's scores rise; all are seen with noise."""

    def change(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> tuple:
        before, after = true + NOISE * random.standard_normal((2, PEOPLE))
        return differing(before, after + deviations * (query == 0) * (labels[:, ATTRIBUTE] == VALUE), K)

    return change


def week(seed: int, change: Change) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Adjusted p-values (QUERIES,) and who left and entered for each query."""
    random = np.random.default_rng(seed)
    members, labels = people(random, PEOPLE)
    lean = 0.5 * labels[:, 0] - 0.3 * (labels[:, 1] == 0)
    pairs = []
    for query in range(QUERIES):
        left, entered = change(random, lean + random.standard_normal(PEOPLE), labels, query)
        pairs.append((members[left], members[entered]))
    values = [exchange_test(*pair, seed=query) for query, pair in enumerate(pairs)]
    return benjamini_hochberg(values), pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weeks", type=int, default=200)
    weeks = parser.parse_args().weeks
    print(f"{weeks} weeks a row, {QUERIES} queries, k = {K}, level {LEVEL:.0%}")
    heads = ("items that differ", "false among moved", "found", "named alone", "ms/query")
    print(f"{'change':<28}" + "".join(f"{head:>19}" for head in heads))
    rows = [("noise, nothing moved", noise), ("people replaced", replaced)]
    rows += [(f"one group up {size:g} deviations", shifted(size)) for size in (0.5, 1.0, 1.5)]
    for name, change in rows:
        is_null = not name.startswith("one group")
        false, found, alone, differ, started = 0, 0, 0, [], time.process_time()
        for seed in range(weeks):
            adjusted, pairs = week(seed, change)
            is_moved = adjusted <= LEVEL
            false += is_moved[0 if is_null else 1 :].sum() / max(is_moved.sum(), 1)
            differ += [len(left) for left, _ in pairs]
            if not is_null and is_moved[0]:
                named = moved_groups(*pairs[0], level=LEVEL * float(is_moved.mean()), seed=0)
                found += 1
                alone += [one.column for one in named] == [COLUMN]
        milliseconds = 1000 * (time.process_time() - started) / (weeks * QUERIES)
        told = ("", "") if is_null else (f"{found / weeks:.1%}", f"{alone / max(found, 1):.1%}")
        cells = (f"{np.mean(differ):.1f}", f"{false / weeks:.1%}", *told, f"{milliseconds:.1f}")
        print(f"{name:<28}" + "".join(f"{cell:>19}" for cell in cells))


if __name__ == "__main__":
    main()
