"""What one request of a service costs: `mprlib.rerank` over 1,000 candidates, k = 20, 126 cells.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.rerank [--requests N] [--rho VALUE]

Milliseconds of the processor, one thread, 50th and 99th percentile over requests whose candidates all differ; the
reference was prepared once, the problem never. Limits: 1 and 2 ms for `groups` and `linear`, 10 and 30 ms for
`saturated`. Then the same with `order="fair"`, and how often every prefix of 5 or more is within its rho. Beside it
MMR and DPP of the package pyversity, over as many candidates with vectors of 384 numbers, and this library's `mmr` and
`dpp` over the same. Last, 8 threads on one reference: the answers must be those of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import mprlib

LEVELS = {"sex": 2, "race": 7, "age": 9}
PEOPLE, CANDIDATES, K, WIDTH = 20_000, 1_000, 20, 384
LIMITS = {"groups": (1.0, 2.0), "linear": (1.0, 2.0), "saturated": (10.0, 30.0)}
THREADS = 8


class Request(NamedTuple):
    """Candidates of one request."""

    scores: np.ndarray
    labels: dict[str, np.ndarray]
    ids: np.ndarray


def people(rows: int, concentration: float, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Levels of some people, as texts."""
    return {
        name: np.array([f"{name} {level}" for level in range(count)])[
            random.choice(count, rows, p=random.dirichlet(np.full(count, concentration)))
        ]
        for name, count in LEVELS.items()
    }


def population() -> mprlib.Reference:
    """A prepared reference with all 126 cells."""
    return mprlib.Reference.from_frame(people(PEOPLE, 5.0, np.random.default_rng(1)), list(LEVELS))


def requests(count: int) -> Iterator[Request]:
    """Requests whose candidates have other shares each."""
    for seed in range(count):
        random = np.random.default_rng([7, seed])
        ids = np.array([f"item {item}" for item in random.permutation(CANDIDATES)])
        yield Request(random.normal(0.3, 0.05, CANDIDATES), people(CANDIDATES, 3.0, random), ids)


def answer(
    one: Request, reference: mprlib.Reference, function_class: str, rho: float | str, order: str = "score"
) -> mprlib.Selection:
    """The answer to a request."""
    return mprlib.rerank(
        one.scores, one.labels, reference, k=K, rho=rho, function_class=function_class, ids=one.ids, order=order
    )


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Of this thread, with the result."""
    started = time.thread_time()
    found = work()
    return 1e3 * (time.thread_time() - started), found


def line(name: str, seconds: list[float], remark: str = "") -> None:
    """One line of the table."""
    middle, high = np.percentile(seconds, [50, 99])
    print(f"{name:<28}{middle:>8.2f}{high:>8.2f}   {remark}", flush=True)


def in_fair_order(asked: list[Request], reference: mprlib.Reference, rho: float | str) -> None:
    """Lines of the requests with their items in a fair order."""
    for function_class in ("groups", "linear"):
        answer(asked[0], reference, function_class, rho, "fair")
        timed = [milliseconds(lambda one=one: answer(one, reference, function_class, rho, "fair")) for one in asked]  # type: ignore[misc]
        kept = sum("no order of" not in found.message or "these items do" in found.message for _, found in timed)
        line(f"rerank {function_class}, fair order", [spent for spent, _ in timed], f"{kept} of {len(asked)} keep all")


def beside(count: int) -> None:
    """MMR of pyversity, and this library's methods over vectors, on the same candidates."""
    random = np.random.default_rng(0)
    vectors = random.standard_normal((CANDIDATES, WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[0]
    scores = vectors @ query
    try:
        from pyversity import Strategy, diversify
    except ImportError:
        print("pyversity is not installed")
    else:
        for strategy in (Strategy.MMR, Strategy.DPP):

            def others(strategy: Strategy = strategy) -> Any:
                return diversify(embeddings=vectors, scores=scores, k=K, strategy=strategy, diversity=0.5)

            others()
            line(f"pyversity {strategy.value}", [milliseconds(others)[0] for _ in range(count)])
    labels = np.eye(2)[np.arange(CANDIDATES) % 2]
    for method, value in (("mmr", 0.5), ("dpp", None)):

        def own(method: str = method, value: float | None = value) -> Any:
            problem = mprlib.Problem(
                scores=scores, labels=labels, reference=np.eye(2), reference_size=1e4, k=K, embeddings=vectors,
                query=query,
            )  # fmt: skip
            return mprlib.select(problem, method, value, "groups")

        own()
        line(f"mprlib {method}", [milliseconds(own)[0] for _ in range(count)])


def threads_agree(reference: mprlib.Reference, asked: list[Request], rho: float | str) -> bool:
    """Whether 8 threads on one reference give the answers of one thread on another."""
    alone = population()
    for function_class in LIMITS:
        expected = [answer(one, alone, function_class, rho) for one in asked]
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda one: answer(one, reference, function_class, rho), asked))
        if any(not np.array_equal(a.ids, b.ids) or a.mpr != b.mpr for a, b in zip(expected, found)):
            return False
    return True


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--rho", default="chance", help="a number, or chance")
    options = parser.parse_args()
    rho = options.rho if options.rho == "chance" else float(options.rho)
    asked, reference = list(requests(options.requests)), population()
    print(f"{'':<28}{'p50 ms':>8}{'p99 ms':>8}")
    for function_class, (middle, high) in LIMITS.items():
        answer(asked[0], reference, function_class, rho)
        timed = [milliseconds(lambda one=one: answer(one, reference, function_class, rho)) for one in asked]  # type: ignore[misc]
        statuses = Counter(found.status.value for _, found in timed)
        told = ", ".join(f"{count} {status}" for status, count in statuses.items())
        line(f"rerank {function_class}", [seconds for seconds, _ in timed], f"{told}; at most {middle:g} and {high:g}")
    in_fair_order(asked[: max(options.requests // 4, 1)], reference, rho)
    beside(min(options.requests, 100))
    agree = threads_agree(population(), asked[:100], rho)
    print(f"{THREADS} threads on one reference: {'the same answers' if agree else 'OTHER ANSWERS'}")


if __name__ == "__main__":
    main()
