"""Small generated problems that tests share."""

from collections.abc import Sequence

import numpy as np

from mprlib import Problem


def one_hot_rows(random: np.random.Generator, rows: int, levels: Sequence[int]) -> np.ndarray:
    """Rows with every attribute one-hot, levels drawn from a random distribution of its own."""
    return np.concatenate(
        [np.eye(count)[random.choice(count, rows, p=random.dirichlet(np.full(count, 3.0)))] for count in levels], axis=1
    )


def one_hot_problem(
    seed: int = 0, *, n: int = 300, m: int = 200, k: int = 20, levels: Sequence[int] = (2, 2, 3), **fields
) -> Problem:
    random = np.random.default_rng(seed)
    starts = np.cumsum([0, *levels])
    attributes = {f"a{place}": list(range(starts[place], starts[place + 1])) for place in range(len(levels))}
    return Problem(
        **{
            "scores": random.random(n),
            "labels": one_hot_rows(random, n, levels),
            "reference": one_hot_rows(random, m, levels),
            "k": k,
            "attributes": attributes,
            "label_names": [f"a{place}={level}" for place, count in enumerate(levels) for level in range(count)],
            **fields,
        }
    )


def signed_weights(problem: Problem, items: Sequence[int]) -> np.ndarray:
    """a~: 1/k on the chosen pool rows, minus each reference row's weight; pool first."""
    weights = np.zeros(problem.n)
    weights[items] = 1.0 / len(items)
    return np.concatenate([weights, -problem.reference_weights])


def row_value(problem: Problem, items: Sequence[int], predictions: np.ndarray) -> float:
    """MPR of one function given on all rows, scaled to norm sqrt(D), as Proposition 3 states it."""
    weights = np.concatenate([np.ones(problem.n), problem.m * problem.reference_weights])
    norm = np.sqrt(np.sum(weights * predictions**2))
    return 0.0 if norm == 0 else abs(np.sqrt(problem.scale) * signed_weights(problem, items) @ predictions / norm)
