"""A permutation test of "this selection is a random draw from the pool"."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.cells import cells_of
from mprlib.declarations import strict
from mprlib.function_classes.base import FunctionClass, measured
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import SEED, Whole

# Entries of a block of drawn selections in cells, 80 MB.
LARGEST_BLOCK = 10_000_000


@strict
def permutation_test(
    problem: Problem,
    items: ArrayLike,
    function_class: str | FunctionClass = "linear",
    *,
    draws: Annotated[int, Whole(least=1)] = 999,
    seed: Annotated[int, SEED] = 0,
) -> float:
    """p-value of the hypothesis that the items were drawn from the pool at random.

    The statistic is MPR with the pool itself in the reference's place: the class's largest gap
    between the items and the pool. It says nothing about the reference. A small value tells that
    the ranking prefers some groups; it does not tell why (they may fit the query better). Classes
    without a closed form are measured draw by draw, which a forest makes slow.

    Returns: (1 + draws at least as far from the pool) / (1 + draws), so never 0.
    Raises:  InputError for bad items, or fewer than 1 draw.
    Source:  Phipson and Smyth 2010 for counting the observed selection in.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> from mprlib.statistics import permutation_test
    >>> permutation_test(problem, [0, 2], "groups", draws=99)
    1.0
    """
    items = problem.checked_items(items)
    pool = _against_itself(problem, items.size)
    oracle = registered(function_class).bind(pool)
    cells = cells_of(pool)
    random = np.random.default_rng(seed)
    observed = measured(pool, oracle, items).value
    # A drawn selection equal to the observed one in cells may differ from it by rounding.
    threshold = observed * (1.0 - 1e-9)
    block = max(1, LARGEST_BLOCK // cells.size)
    extreme = 0
    for start in range(0, draws, block):
        drawn = _draws(problem.n, items.size, min(block, draws - start), random)
        gaps = closed_form_gaps(oracle, _shares(cells.pool_cell[drawn], cells.size) - cells.reference_shares)
        if gaps is None:
            gaps = np.array([measured(pool, oracle, selection).value for selection in drawn])
        extreme += int(np.count_nonzero(gaps >= threshold))
    return (1 + extreme) / (1 + draws)


def _against_itself(problem: Problem, size: int) -> Problem:
    def build() -> Problem:
        weights = np.ones(problem.n)
        return replace(problem, reference=problem.labels, reference_weights=weights, reference_size=None, k=size)

    return problem.cached(("against itself", size), build)


def _draws(n: int, size: int, count: int, random: np.random.Generator) -> np.ndarray:
    """Positions (count, size), each row a random set without repetition."""
    return np.array([random.choice(n, size=size, replace=False, shuffle=False) for _ in range(count)])


def _shares(selected_cells: np.ndarray, size: int) -> FloatArray:
    """Cell shares (B, G) of selections given by their items' cells (B, k)."""
    count, k = selected_cells.shape
    offsets = np.arange(count)[:, None] * size
    shares: FloatArray = (
        np.bincount((selected_cells + offsets).ravel(), minlength=count * size).reshape(count, size) / k
    )
    return shares
