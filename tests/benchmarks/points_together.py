"""Points of a curve, solved together and each by itself: what the sharing is worth, and whether rows would be the same.

    python -m tests.benchmarks.points_together [QUERIES]

Made-up queries over 1,000 people of three attributes, k = 50, the 20 values of mopr's own grid. By default 6 queries:
about 10 seconds.
"""

from __future__ import annotations

import sys
import time
from dataclasses import fields

import numpy as np

from mprlib import Problem, Selection, registry
from mprlib.warm_up import warm_up

PEOPLE, REFERENCE, K, POINTS = 1_000, 3_000, 50, 20
LEVELS = {"gender": 2, "age": 4, "region": 5}
CLASSES = ("linear", "groups", "saturated")


def problem(seed: int) -> Problem:
    """People whose scores depend on their gender and region."""
    random = np.random.default_rng(seed)
    levels = {name: random.integers(0, many, PEOPLE) for name, many in LEVELS.items()}
    people = {name: random.integers(0, many, REFERENCE) for name, many in LEVELS.items()}
    scores = random.normal(size=PEOPLE) + 0.5 * levels["gender"] * random.normal() + 0.3 * (levels["region"] == 0)
    columns = np.cumsum([0, *LEVELS.values()])
    return Problem(
        scores=scores,
        labels=np.hstack([np.eye(many)[levels[name]] for name, many in LEVELS.items()]),
        reference=np.hstack([np.eye(many)[people[name]] for name, many in LEVELS.items()]),
        k=K,
        attributes={name: list(range(*columns[place : place + 2])) for place, name in enumerate(LEVELS)},
        label_names=[f"{name} {level}" for name, many in LEVELS.items() for level in range(many)],
    )


def is_same(one: Selection, other: Selection) -> bool:
    """Whether nothing differs but the time."""
    names = [each.name for each in fields(Selection) if each.name not in ("items", "solve_seconds", "statistics")]
    return one.items.tolist() == other.items.tolist() and all(
        getattr(one, name) == getattr(other, name) for name in names
    )


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    print(f"{'class':<12}{'together s':>12}{'apart s':>10}{'same set':>10}{'same row':>10}{'points':>8}")
    for name in CLASSES:
        seconds, sets, rows = [0.0, 0.0], 0, 0
        for seed in range(queries):
            method, seen = registry.method("mopr"), registry.function_class(name)
            given = problem(seed)
            grid = method.grid(given, seen.bind(given), POINTS)
            started = time.process_time()
            together = method.swept(problem(seed), seen, grid)
            between = time.process_time()
            apart = [method.swept(problem(seed), seen, [value])[0] for value in grid]
            seconds[0] += between - started
            seconds[1] += time.process_time() - between
            sets += sum(set(one.items) == set(other.items) for one, other in zip(together, apart))
            rows += sum(is_same(one, other) for one, other in zip(together, apart))
        counts = f"{sets:>10}{rows:>10}{queries * POINTS:>8}"
        print(f"{name:<12}{seconds[0]:>12.2f}{seconds[1]:>10.2f}{counts}", flush=True)


if __name__ == "__main__":
    # Else the first class would be timed with compiling.
    warm_up()
    main()
