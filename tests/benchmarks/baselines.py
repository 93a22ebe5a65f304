"""Seconds of the baselines on 10,000 items of 512 numbers, k = 50; MMR beside pyversity's.

    python -m tests.benchmarks.baselines

Each figure is the least and the median of a few runs, as other work on the machine only adds. The
comparison needs pyversity (pip install pyversity), which is no dependency; without it, it is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import mprlib
from mprlib import Problem
from mprlib.baselines.clip_clip import column_order
from mprlib.registry import ClipClip, Mmr, Pbm, function_class, method

ITEMS, DIMENSION, K = 10_000, 512, 50
RUNS = 5


def problem(seed: int = 0) -> Problem:
    """Unit vectors around 30 centres with a common part, as an encoder's are; three attributes."""
    generator = np.random.default_rng(seed)
    vectors = 0.6 * generator.standard_normal((ITEMS, DIMENSION)) + generator.standard_normal(DIMENSION)
    vectors += generator.standard_normal((30, DIMENSION))[generator.integers(0, 30, ITEMS)]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    query = vectors[:40].mean(axis=0)
    query /= np.linalg.norm(query)
    labels, reference = (
        np.concatenate([np.eye(size)[generator.integers(0, size, ITEMS)] for size in (2, 7, 2)], axis=1)
        for _ in range(2)
    )
    return Problem(
        scores=np.einsum("ij,j->i", vectors.astype(float), query),
        labels=labels,
        reference=reference,
        k=K,
        attributes={"gender": [0, 1], "race": list(range(2, 9)), "age": [9, 10]},
        embeddings=vectors,
        query=query,
    )


def timed(work: Callable[[], object], runs: int = RUNS) -> tuple[float, float]:
    """Least and median seconds."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), float(np.median(seconds))


def show(name: str, seconds: tuple[float, float], bar: str = "") -> None:
    print(f"{name:<52}{1000 * seconds[0]:>10.1f}{1000 * seconds[1]:>10.1f}   {bar}")


def main() -> None:
    pool = problem()
    oracle = function_class("linear").bind(pool)
    grid = Mmr.grid(pool, oracle, 50)
    print(f"n = {ITEMS}, d = {DIMENSION}, k = {K}\n{'':<52}{'least ms':>10}{'median ms':>10}   bar")
    for trade_off in (0.1, 0.5, 0.9, 0.98):
        show(f"mmr, lambda {trade_off}", timed(lambda: Mmr().sweep(pool, oracle, [trade_off])), "150 ms")
    show("mmr, 50 lambda", timed(lambda: Mmr().sweep(pool, oracle, grid), 3), "3,000 ms")
    _compare(pool, oracle, grid)
    order: list[np.ndarray] = []
    group = pool.labels[:, :2].argmax(axis=1)
    ordering = timed(lambda: order.append(column_order(pool.embeddings, group)), 1)
    show("clip_clip, order of the columns for one attribute", ordering, "30,000 ms")
    dropped = ClipClip.grid(pool, oracle, 40)
    selecting = timed(lambda: ClipClip(order=order[0]).sweep(pool, oracle, dropped), 3)
    show("clip_clip, 40 selections", selecting, "2,000 ms")
    eps = Pbm.grid(pool, oracle, 50)
    show("pbm, 50 eps", timed(lambda: Pbm(group_labels=group + 1).sweep(pool, oracle, eps), 3))
    phrases = pool.embeddings[:200]
    for name in ("apportionment", "dpp", "fair_top_k", "det_greedy", "det_cons", "det_relaxed", "det_const_sort"):
        show(name, timed(lambda: method(name).sweep(pool, oracle, [None]), 3))
    show("paths", timed(lambda: method("paths", subspace=phrases).sweep(pool, oracle, [None]), 3))


def _compare(pool: Problem, oracle: object, grid: list[float]) -> None:
    """The package's MMR takes the largest cosine where ours takes a distance; at both ends they agree."""
    try:
        import pyversity
    except ImportError:
        print("pyversity is not installed: no comparison")
        return

    def theirs(diversity: float) -> np.ndarray:
        return pyversity.diversify(
            embeddings=pool.embeddings, scores=pool.scores, k=K, strategy=pyversity.Strategy.MMR, diversity=diversity
        ).indices

    for trade_off in (0.1, 0.5, 0.9, 0.98):
        show(f"pyversity mmr, diversity {trade_off}", timed(lambda: theirs(trade_off)))
    show("pyversity mmr, 50 diversities", timed(lambda: [theirs(value) for value in grid], 1))
    for trade_off in (0.0, 1.0):
        ours = mprlib.select(pool, "mmr", trade_off, spread="nearest").items
        same = np.intersect1d(ours, theirs(trade_off)).size
        print(
            f"  lambda {trade_off:g}, where largest cosine and nearest distance order alike: {same} of {K} are the same"
        )


if __name__ == "__main__":
    main()
