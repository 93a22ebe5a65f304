"""Rows with equal labels form a cell; a function of the labels sees a selection only through cells.

For a selection with shares p_g and a reference with shares q_g over G cells, every function c of
the labels has the gap sum_g (p_g - q_g) c_g, and its norm in the normalised class C' is
sum_g N_g c_g^2 = D, where N_g counts pool rows plus (effective) reference rows of the cell.
So n + m rows become G cells without loss. With continuous labels each row is its own cell.

Worked example: pool labels [[0], [0], [1]], reference [[0], [1]], k = 1, the first item chosen:
p = (1, 0), q = (1/2, 1/2), N = (3, 2), D = 2 * 1 / (2 + 1) = 2/3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.problem import Problem

# Two shares this close are equal: sums of k weights of 1/k and of m of 1/m miss 1 by as much. Equal
# shares then have MPR 0 in every class, and can meet rho = 0.
ROUNDING = 1e-14
# A reference row with less of the weight than this opens no cell. It changes no value: under C' a cell
# with the share q adds at most sqrt(q). Its mass would be too small to divide by.
SMALLEST_WEIGHT = 1e-100
# Above this many cells labels count as continuous: most cells hold one item or none. What works on counts of cells
# (dense features, the exact path, local search between cells, enumeration) then gives way to what works on items.
MANY_CELLS = 512


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Cells:
    """Distinct label rows of pool and reference together, and how many rows of each they hold.

    Shapes:  labels (G, l), the distinct rows.
             pool_cell (n,) and reference_cell (m rows,), each row's cell.
             pool_counts (G,), items of the pool in each cell.
             reference_shares (G,), q, summing to 1.
             masses (G,), N: pool rows plus effective reference rows, all positive.
    """

    labels: FloatArray
    pool_cell: IntArray
    reference_cell: IntArray
    pool_counts: IntArray
    reference_shares: FloatArray
    masses: FloatArray

    @property
    def size(self) -> int:
        """G, the number of cells."""
        return self.masses.size

    def shares(self, weights: FloatArray) -> FloatArray:
        """Shares p (G,) of the cells under pool weights (n,) that sum to 1."""
        return sums_by(self.pool_cell, weights, self.size)

    def differences(self, weights: FloatArray) -> FloatArray:
        """p - q (G,): what a selection shows too much of, or too little, in each cell."""
        differences = self.shares(weights) - self.reference_shares
        differences[np.abs(differences) <= ROUNDING] = 0.0
        return differences


def cells_of(problem: Problem) -> Cells:
    """The cells of a problem's labels, computed once."""
    return problem.cached("cells", lambda: _build(problem))


def selection_weights(problem: Problem, items: IntArray) -> FloatArray:
    """Pool weights (n,) of a selection: 1/k on its items, k being its own length."""
    weights = np.zeros(problem.n)
    weights[items] = 1.0 / len(items)
    return weights


def _build(problem: Problem) -> Cells:
    # A reference row of weight zero is no evidence of a group and must not open a cell.
    weighted = problem.reference_weights > SMALLEST_WEIGHT
    rows = np.concatenate([problem.labels, problem.reference[weighted]])
    labels, cell = distinct_rows(rows)
    size = labels.shape[0]
    pool_cell = cell[: problem.n]
    shares = sums_by(cell[problem.n :], problem.reference_weights[weighted], size)
    counts = np.bincount(pool_cell, minlength=size)
    reference_cell = np.full(weighted.size, -1, dtype=np.intp)
    reference_cell[weighted] = cell[problem.n :]
    return Cells(
        labels=labels,
        pool_cell=pool_cell,
        reference_cell=reference_cell,
        pool_counts=counts,
        reference_shares=shares,
        masses=counts + problem.m * shares,
    )


def distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct rows (G, l) and, for each row, the position of its like; exact equality.

    A fixed random combination of the columns orders the rows, which is twenty times faster than
    sorting whole rows; should two different rows ever meet in one number, whole rows decide.
    The order of the cells does not depend on the order of the rows.
    """
    coefficients = np.random.default_rng(20240711).standard_normal((rows.shape[1],))
    # Column by column: BLAS may round equal rows differently, element-wise sums may not.
    key = np.zeros(rows.shape[0])
    for column, coefficient in enumerate(coefficients):
        key += rows[:, column] * coefficient
    _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    labels = rows[first]
    if np.array_equal(labels[cell], rows):
        return labels, cell
    labels, cell = np.unique(rows, axis=0, return_inverse=True)
    return labels, cell.reshape(-1)
