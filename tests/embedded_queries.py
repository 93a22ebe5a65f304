"""Queries whose labels are embeddings: unit vectors around ten centres, the query leaning to one of them."""

import numpy as np

from mprlib import Problem

CENTRES = 10


def embedded_query(n: int, width: int, *, k: int = 20, seed: int = 0) -> Problem:
    """n items and n reference rows of that width; every row is a cell of its own."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((CENTRES, width))
    rows = centres[rng.integers(0, CENTRES, 2 * n)] + rng.standard_normal((2 * n, width))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = centres[0] + rng.standard_normal(width)
    return Problem(scores=rows[:n] @ query / np.linalg.norm(query), labels=rows[:n], reference=rows[n:], k=k)
