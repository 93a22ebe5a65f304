"""A problem as its true labels would make it, in cells: what function classes are bound to.

The normalisation C' of true labels is that of N_g, the true rows of pool and reference in each cell; it is estimated
by n times the pool's expected shares and m times the reference's. One item stands for each cell, so that shares of
cells are weights of items, and every class that looks at labels through cells can be asked for its worst function.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cell_table import CellTable
from mprlib.cells import Cells
from mprlib.label_errors.estimates import pool_shares, reference_estimate
from mprlib.label_errors.true_cells import true_cells
from mprlib.problem import Problem
from mprlib.reference import Reference

# Rows of a cell that nobody is expected in: so many, so that it can be divided by, or as many as they may be off by, up
# to one; errors would else be divided by next to nothing.
SMALLEST_MASS, LARGEST_OPEN_MASS = 1e-6, 1.0


def true_problem(problem: Problem) -> Problem:
    """The problem in its true cells, whose first G items are the cells; built once."""
    return problem.cached("true problem", lambda: _build(problem))


def weights_of(shares: FloatArray, built: Problem) -> FloatArray:
    """Shares (G,) of cells as weights of the items of a `true_problem`."""
    weights = np.zeros(built.n)
    weights[: shares.size] = shares
    return weights


def _build(problem: Problem) -> Problem:
    cells = true_cells(problem)
    estimate = reference_estimate(problem)
    shares = simplex(estimate.shares)
    expected = problem.n * pool_shares(problem)
    # Of an item that is likely to be of a cell by tau the variance is tau (1 - tau), less than what is expected.
    left_open = np.hypot(np.sqrt(expected), problem.m * estimate.error.std(axis=0))
    masses = np.maximum(expected + problem.m * shares, np.clip(left_open, SMALLEST_MASS, LARGEST_OPEN_MASS))
    more = max(problem.k - cells.size, 0)
    reference = Reference(
        table=CellTable.of_groups(cells.labels, np.arange(cells.size), shares), size=problem.m, is_sample=False
    )
    built = Problem(
        scores=np.zeros(cells.size + more),
        # A problem has k items at least; those beyond the cells have no weight.
        labels=np.concatenate([cells.labels, np.repeat(cells.labels[:1], more, axis=0)]),
        reference=reference,
        k=problem.k,
        attributes=problem.attributes,
        label_names=problem.label_names,
    )
    places = np.concatenate([np.arange(cells.size), np.zeros(more, dtype=np.intp)])
    built.cached(
        "cells",
        lambda: Cells(
            labels=cells.labels,
            pool_cell=places,
            reference_cell=np.arange(len(reference.shares)),
            pool_counts=np.bincount(places, minlength=cells.size),
            reference_shares=estimate.shares,
            masses=masses,
        ),
    )
    return built


def simplex(shares: FloatArray) -> FloatArray:
    """Shares without what an inverse made negative."""
    found = np.maximum(shares, 0.0)
    divided: FloatArray = found / found.sum()
    return divided
