"""The best k of a pool by numbers of a method's own."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.problem import Problem


def best_by(problem: Problem, merits: FloatArray, count: int) -> IntArray:
    """Positions of the `count` largest merits (n,); ties by similarity, then by item id."""
    order = problem.best_first
    return order[np.argsort(-merits[order], kind="stable")[:count]]
