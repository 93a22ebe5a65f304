"""Random retrieval problems of every odd shape, each from its number alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from mprlib import Problem

LARGEST_POOL = 40
# Sets listed one by one for a comparison with all of them.
LARGEST_SET_COUNT = 400

Scores = Callable[[np.random.Generator, int], np.ndarray]
SCORES: dict[str, Scores] = {
    "cosines": lambda rng, n: 0.25 + 0.05 * rng.standard_normal(n),
    "tied": lambda rng, n: np.round(2 * rng.random(n)) / 2,
    "constant": lambda rng, n: np.full(n, rng.standard_normal()),
    "zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: -rng.random(n),
    "tiny": lambda rng, n: rng.random(n) * 10.0 ** -rng.integers(6, 300),
    "huge": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(6, 290),
    "offset": lambda rng, n: 1e6 + 1e-3 * rng.random(n),
    "likelihoods": lambda rng, n: 10.0 ** rng.uniform(-12, 0, n),
}
# Rows (count, l) of labels, those of the pool first and those of the reference after.
LABELS: tuple[str, ...] = ("one-hot", "one cell", "binary", "codes", "fractional", "continuous", "one level each")


def random_problem(seed: int) -> Problem:
    """Problem number `seed`: all kinds of scores, labels, references and sizes, mixed."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 5, 8, 12, int(rng.integers(1, LARGEST_POOL + 1))]))
    m = int(rng.choice([1, 2, 7, 30]))
    k = int(rng.choice([1, n, int(rng.integers(1, n + 1))]))
    kind = str(rng.choice(LABELS))
    rows, attributes = _labels(rng, kind, n + m)
    weights = None
    if rng.random() < 0.4:
        weights = np.where(rng.random(m) < 0.3, 0.0, rng.lognormal(0, 2, m))
        weights = weights if weights.sum() > 0 else None
    width = int(rng.integers(2, 6))
    scores = SCORES[str(rng.choice(list(SCORES)))](rng, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Problem(
            scores=scores,
            labels=rows[:n],
            reference=rows[n:],
            k=k,
            reference_weights=weights,
            reference_size=float(rng.choice([1.0, 50.0, 1e4])) if rng.random() < 0.4 else None,
            attributes=attributes,
            embeddings=rng.standard_normal((n, width)),
            query=rng.standard_normal(width),
            item_ids=rng.permutation(n) if rng.random() < 0.5 else None,
        )


def _labels(rng: np.random.Generator, kind: str, rows: int) -> tuple[np.ndarray, dict[str, list[int]] | None]:
    if kind == "one cell":
        return np.tile(rng.integers(0, 2, int(rng.integers(1, 4))).astype(float), (rows, 1)), None
    if kind == "one level each":
        return np.eye(rows), {"person": list(range(rows))}
    if kind == "binary":
        return (rng.random((rows, int(rng.integers(1, 5)))) < rng.random()).astype(float), None
    if kind == "codes":
        return rng.integers(0, 4, (rows, 2)).astype(float), None
    if kind == "fractional":
        return np.round(rng.random((rows, 2)), 1), None
    if kind == "continuous":
        return rng.standard_normal((rows, 3)) * 10.0 ** rng.integers(-3, 4), None
    levels = [int(count) for count in rng.integers(2, 5, int(rng.integers(1, 4)))]
    starts = np.cumsum([0, *levels])
    hot = [np.eye(count)[rng.choice(count, rows, p=rng.dirichlet(np.ones(count)))] for count in levels]
    return np.hstack(hot), {f"a{i}": list(range(starts[i], starts[i + 1])) for i in range(len(levels))}
