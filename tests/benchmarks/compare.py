"""How often a comparison of two runs is wrong, and how small a change it finds:

    OMP_NUM_THREADS=1 python -m tests.benchmarks.compare [--weeks N] [--first SEED] [--k K ...]

A week is 24 queries asked of 2,000 people of three attributes, twice. In the null weeks nothing happens to a
group: scores are redrawn with noise (a new encoder), which may be several times larger for one group in both weeks,
or a twentieth of the people is replaced by others (a crawl).
Bar: the expected share of false ones among the queries said to have moved is at most 5.5% at a level of 5%; in a null
week all are false, so that this is the share of weeks with any. In the other weeks one group's scores rise for one
query, by some standard deviations: how often is that query found, and that group alone named in it?
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from mprlib.statistics import benjamini_hochberg, exchange_test, moved_groups
from tests.mprlib.statistics.test_exchange import differing, people

LEVEL, QUERIES, PEOPLE = 0.05, 24, 2000
LARGEST_SHARE, SIZES = 0.055, (10, 50)
NOISE, REPLACED = 0.3, 0.05
# The column of people() that is shifted: the third race, a tenth of the people.
COLUMN, ATTRIBUTE, VALUE = 4, 1, 2
# True scores (PEOPLE,), labels and the number of the query: what both weeks see.
Change = Callable[[np.random.Generator, np.ndarray, np.ndarray, int], np.ndarray]


def noise(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> np.ndarray:
    """Both weeks see the true scores with noise of their own."""
    return true + NOISE * random.standard_normal((2, PEOPLE))


def unequal(attribute: int, value: int, times: float) -> Change:
    """The same, with larger noise for one group."""

    def change(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> np.ndarray:
        deviation = NOISE * np.where(labels[:, attribute] == value, times, 1.0)
        return true + deviation * random.standard_normal((2, PEOPLE))

    return change


def replaced(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> np.ndarray:
    """Each week lacks a twentieth of the people, its own."""
    return np.where(random.random((2, PEOPLE)) < REPLACED, -np.inf, true)


def shifted(deviations: float) -> Change:
    """For the first query one group's scores rise; all are seen with noise."""

    def change(random: np.random.Generator, true: np.ndarray, labels: np.ndarray, query: int) -> np.ndarray:
        scores = true + NOISE * random.standard_normal((2, PEOPLE))
        scores[1] += deviations * (query == 0) * (labels[:, ATTRIBUTE] == VALUE)
        return scores

    return change


# Where nothing happens to a group, then where something does.
NULLS = {
    "noise, nothing moved": noise,
    "people replaced": replaced,
    "women three times as noisy": unequal(0, 1, 3.0),
    "a tenth three times as noisy": unequal(ATTRIBUTE, VALUE, 3.0),
    "a tenth five times as noisy": unequal(ATTRIBUTE, VALUE, 5.0),
}
MOVES = {f"one group up {size:g} deviations": shifted(size) for size in (0.5, 1.0, 1.5, 2.0)}


def week(seed: int, change: Change, k: int) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Adjusted p-values (QUERIES,), and who left, entered and is near the last place for each query."""
    random = np.random.default_rng(seed)
    members, labels = people(random, PEOPLE)
    lean = 0.5 * labels[:, 0] - 0.3 * (labels[:, 1] == 0)
    found = []
    for query in range(QUERIES):
        both = change(random, lean + random.standard_normal(PEOPLE), labels, query)
        shown = [np.argsort(-own)[:k] for own in both]
        near = np.concatenate([own[k // 2 :] for own in shown])
        found.append(tuple(members[own] for own in (*differing(*both, k), near)))
    values = [exchange_test(*one, seed=query) for query, one in enumerate(found)]
    return benjamini_hochberg(values), found


def line(name: str, change: Change, k: int, weeks: int, first: int) -> float:
    """Print a row of the table; the share of false ones among the queries said to have moved."""
    is_null = name in NULLS
    false, hits, alone, differ, started = 0.0, 0, 0, [], time.process_time()
    for seed in range(first, first + weeks):
        adjusted, found = week(seed, change, k)
        is_moved = adjusted <= LEVEL
        false += is_moved[0 if is_null else 1 :].sum() / max(is_moved.sum(), 1)
        differ += [len(left) for left, _, _ in found]
        if not is_null and is_moved[0]:
            named = moved_groups(*found[0], level=LEVEL * float(is_moved.mean()), seed=0)
            hits += 1
            alone += [one.column for one in named] == [COLUMN]
    milliseconds = 1000 * (time.process_time() - started) / (weeks * QUERIES)
    told = ("", "") if is_null else (f"{hits / weeks:.1%}", f"{alone / max(hits, 1):.1%}")
    cells = (f"{np.mean(differ):.1f}", f"{false / weeks:.1%}", *told, f"{milliseconds:.1f}")
    print(f"{k:<4}{name:<30}" + "".join(f"{cell:>19}" for cell in cells), flush=True)
    return false / weeks


def main() -> None:
    """Print the table; exit with 1 where too many are false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weeks", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first week")
    parser.add_argument("--k", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    print(f"{options.weeks} weeks a row, {QUERIES} queries, level {LEVEL:.0%}")
    heads = ("items that differ", "false among moved", "found", "named alone", "ms/query")
    print(f"{'k':<4}{'change':<30}" + "".join(f"{head:>19}" for head in heads))
    missed = []
    for k in options.k:
        for name, change in (NULLS | MOVES).items():
            share = line(name, change, k, options.weeks, options.first)
            # A share of so many weeks is known to two of these deviations.
            if share > LARGEST_SHARE + 2 * np.sqrt(LARGEST_SHARE * (1 - LARGEST_SHARE) / options.weeks):
                missed.append(f"k = {k}, {name}: {share:.1%}")
    if missed:
        sys.exit("too many are false: " + "; ".join(missed))


if __name__ == "__main__":
    main()
