"""Warnings of what is assumed about a reference, where it looks like something else.

The normalised class C' depends on m, the number of people behind the reference. Rows are taken for
people drawn from a population, as in the paper. A table of distinct groups with their shares has the
same form, and would be taken for as many people as it has rows: a handful, where thousands are meant.

The two differ in this: people who are drawn repeat each other where the pool's items do. Rows that are
all different, although most of the pool's items have their like among the others and among the rows,
are groups, or so few people that it should be said as well.
"""

from __future__ import annotations

import warnings

import numpy as np

from mprlib.caller import frames_of_the_library
from mprlib.cells import cells_of
from mprlib.errors import AssumptionWarning
from mprlib.problem import Problem

# Share of the pool's items whose cell holds other items and a row of the reference. Of rows drawn like the
# pool, r in number and all different by chance, rarely more than 2/r of the pool equal any.
TELLING_SHARE = 0.5


def assumption(problem: Problem) -> str:
    """One sentence on a reference that looks like a table of groups without a stated size; else empty."""
    return problem.cached("assumption", lambda: _assumption(problem))


def warn_of_assumption(problem: Problem, what: str) -> None:
    """Warn, once for a problem, before something is given that depends on m: "values under linear depend"."""

    def warn() -> None:
        if assumption(problem):
            message = f"{assumption(problem)}; {what} on it"
            warnings.warn(message, AssumptionWarning, stacklevel=frames_of_the_library() + 1)

    problem.cached("has warned of the assumption", warn)


def _assumption(problem: Problem) -> str:
    if problem.reference_size is not None or problem.population.most_alike > 1:
        return ""
    cells = cells_of(problem)
    is_cell = cells.reference_cell >= 0
    counts = np.zeros(cells.size, dtype=np.intp)
    counts[cells.reference_cell[is_cell]] = problem.population.counts[is_cell]
    is_shared = (cells.pool_counts > 1) & (counts > 0)
    if cells.pool_counts[is_shared].sum() < TELLING_SHARE * problem.n:
        return ""
    rows = int(counts.sum())
    found = f"{rows} rows, all different," if rows > 1 else "one row"
    return (
        f"reference has {found} and no reference_size: taken for people drawn from a population, with the effective "
        f"size m = {problem.m:.6g}; where rows are groups with shares, state a size, e.g. reference_size=10_000"
    )
