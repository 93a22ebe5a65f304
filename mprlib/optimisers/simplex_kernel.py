"""Compiled dual simplex method of `cell_programme`: the best items of cells under cuts, from the last optimum on.

Within a cell all items have one column, so that a basis is: how many of each cell's best items are taken whole, the
free cells, whose next item is taken in part, and the tight cuts, one fewer than the free cells. Its matrix has a
column for each free cell (1 and the tight cuts' coefficients), a few dozen rows, and is inverted anew at each step:
no rounding is carried along.

A step takes the bound that is violated most out of the basis. Taking whole items past their margin, one after the
other, is part of the same step while the violation lasts (bound flipping).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

OPTIMAL, INFEASIBLE, LOST = 0, 1, 2
# A violated bound, in items.
FEASIBILITY = 1e-9
# A pivot of the elimination below this: the matrix has no inverse. Its rows have coefficients of 1 / k and more.
SINGULAR = 1e-14
# A pivot below this, relative to the row's coefficients, is rounding.
SMALLEST_PIVOT = 1e-9
# Coefficients of a row are taken to be no smaller.
SMALL_ROW = 1e-3


class Cut(NamedTuple):
    """Cuts rows . x <= right; those beyond `used` are room for more.

    Shapes:  rows (J, G); right (J,); size (J,), the largest coefficients.
    """

    rows: FloatArray
    right: FloatArray
    size: FloatArray


class Items(NamedTuple):
    """Scores without ties, as in `CellPool`.  Shapes: marginals (N + 2G,); offset (G,), where a cell starts."""

    k: int
    marginals: FloatArray
    offset: IntArray


class Basis(NamedTuple):
    """What is taken and what is tight; written over.

    Shapes:  taken (G,), whole items of each cell; is_free (G,); free (G + 1,) and tight (G + 1,), cells and cuts of
             which the first ones count; is_tight (J,); number (2,), of free cells and of tight cuts.
    """

    taken: IntArray
    is_free: IntArray
    free: IntArray
    tight: IntArray
    is_tight: IntArray
    number: IntArray


class Leaving(NamedTuple):
    """What leaves the basis: the position of a free cell, or a cut; its violation; the sign of what repairs it."""

    position: int
    cut: int
    violation: float
    sign: float


@compiled
def inverse_of(matrix: FloatArray, inverse: FloatArray) -> bool:
    """The inverse of a square matrix, which is written over, by elimination with row pivots; False if it has none."""
    size = matrix.shape[0]
    inverse[:, :] = 0.0
    for row in range(size):
        inverse[row, row] = 1.0
    for column in range(size):
        pivot = column
        for row in range(column + 1, size):
            if abs(matrix[row, column]) > abs(matrix[pivot, column]):
                pivot = row
        if abs(matrix[pivot, column]) < SINGULAR:
            return False
        for other in range(size):
            matrix[column, other], matrix[pivot, other] = matrix[pivot, other], matrix[column, other]
            inverse[column, other], inverse[pivot, other] = inverse[pivot, other], inverse[column, other]
        factor = 1.0 / matrix[column, column]
        for other in range(size):
            matrix[column, other] *= factor
            inverse[column, other] *= factor
        for row in range(size):
            if row != column and matrix[row, column] != 0.0:
                factor = matrix[row, column]
                for other in range(size):
                    matrix[row, other] -= factor * matrix[column, other]
                    inverse[row, other] -= factor * inverse[column, other]
    return True


@compiled
def basis_inverse(cuts: Cut, basis: Basis, inverse: FloatArray) -> bool:
    """The inverse of the basis matrix: its rows are free cells, its first column the sum, the others tight cuts."""
    size = basis.number[0]
    matrix = np.ones((size, size))
    for row in range(1, size):
        for column in range(size):
            matrix[row, column] = cuts.rows[basis.tight[row - 1], basis.free[column]]
    return inverse_of(matrix, inverse)


@compiled
def counts_at(items: Items, cuts: Cut, basis: Basis, inverse: FloatArray, counts: FloatArray) -> None:
    """The counts (G,) of a basis, within their bounds or not."""
    size = basis.number[0]
    right = np.empty(size)
    right[0] = items.k - basis.taken.sum()
    for row in range(1, size):
        own = cuts.right[basis.tight[row - 1]]
        for cell in range(basis.taken.size):
            own -= cuts.rows[basis.tight[row - 1], cell] * basis.taken[cell]
        right[row] = own
    for cell in range(basis.taken.size):
        counts[cell] = basis.taken[cell]
    for position in range(size):
        part = 0.0
        for row in range(size):
            part += inverse[position, row] * right[row]
        counts[basis.free[position]] += part


@compiled
def priced(
    items: Items, cuts: Cut, basis: Basis, inverse: FloatArray, multipliers: FloatArray, price: FloatArray
) -> None:
    """Multipliers of the sum and of the tight cuts, and the price (G,) of one item of each cell."""
    size = basis.number[0]
    for row in range(size):
        own = 0.0
        for position in range(size):
            cell = basis.free[position]
            own += items.marginals[items.offset[cell] + basis.taken[cell] + 1] * inverse[position, row]
        multipliers[row] = own
    price[:] = multipliers[0]
    for row in range(1, size):
        for cell in range(price.size):
            price[cell] += multipliers[row] * cuts.rows[basis.tight[row - 1], cell]


@compiled
def most_violated(cuts: Cut, used: int, basis: Basis, counts: FloatArray) -> Leaving:
    """The bound that is violated most, in items; a violation of 0 where none is."""
    found, largest = Leaving(-1, -1, 0.0, 0.0), FEASIBILITY
    for position in range(basis.number[0]):
        cell = basis.free[position]
        part = counts[cell] - basis.taken[cell]
        if -part > largest:
            found, largest = Leaving(position, -1, -part, -1.0), -part
        elif part - 1.0 > largest:
            found, largest = Leaving(position, -1, part - 1.0, 1.0), part - 1.0
    for cut in range(used):
        if basis.is_tight[cut] == 1:
            continue
        excess = -cuts.right[cut]
        for cell in range(counts.size):
            excess += cuts.rows[cut, cell] * counts[cell]
        if excess > largest * cuts.size[cut]:
            found, largest = Leaving(-1, cut, excess, -1.0), excess / cuts.size[cut]
    return found


@compiled
def pivot_row(
    cuts: Cut, basis: Basis, inverse: FloatArray, leaving: Leaving, of_cells: FloatArray, of_cuts: FloatArray
) -> None:
    """How what leaves depends on one item of each cell (G,), and on the slack of each tight cut."""
    size = basis.number[0]
    combination = np.zeros(size)
    if leaving.position >= 0:
        combination[:] = inverse[leaving.position, :size]
        of_cells[:] = combination[0]
    else:
        for row in range(size):
            for position in range(size):
                combination[row] -= cuts.rows[leaving.cut, basis.free[position]] * inverse[position, row]
        for cell in range(of_cells.size):
            of_cells[cell] = cuts.rows[leaving.cut, cell] + combination[0]
    for row in range(1, size):
        of_cuts[row - 1] = combination[row]
        for cell in range(of_cells.size):
            of_cells[cell] += combination[row] * cuts.rows[basis.tight[row - 1], cell]
    for position in range(size):
        of_cells[basis.free[position]] = 0.0
    if leaving.position >= 0:
        of_cells[basis.free[leaving.position]] = 1.0


@compiled
def entering(
    items: Items,
    basis: Basis,
    price: FloatArray,
    multipliers: FloatArray,
    row: tuple[FloatArray, FloatArray],
    leaving: Leaving,
) -> tuple[int, int, int]:
    """The cell and the step of its count, or the tight cut's position, whose bound comes first; flips on the way.

    Returns: cell or -1, 1 or -1 for its next or its last item, position of a cut or -1; -1 for all where none is left.
    """
    of_cells, of_cuts = row
    least = SMALLEST_PIVOT * max(np.abs(of_cells).max(), SMALL_ROW)
    slope = leaving.violation
    while True:
        best, cell_found, step_found, cut_found, pivot = np.inf, -1, 0, -1, 0.0
        for cell in range(price.size):
            own = leaving.sign * of_cells[cell]
            at = items.offset[cell] + basis.taken[cell]
            if own > least and items.marginals[at + 1] > -np.inf:
                ratio = max(price[cell] - items.marginals[at + 1], 0.0) / own
                if ratio < best:
                    best, cell_found, step_found, cut_found, pivot = ratio, cell, 1, -1, own
            elif own < -least and items.marginals[at] < np.inf:
                ratio = max(items.marginals[at] - price[cell], 0.0) / -own
                if ratio < best:
                    best, cell_found, step_found, cut_found, pivot = ratio, cell, -1, -1, -own
        for position in range(basis.number[1]):
            own = leaving.sign * of_cuts[position]
            if own > SMALLEST_PIVOT:
                ratio = max(multipliers[position + 1], 0.0) / own
                if ratio < best:
                    best, cell_found, step_found, cut_found = ratio, -1, 0, position
        if cell_found < 0 or slope <= pivot:
            return cell_found, step_found, cut_found
        basis.taken[cell_found] += step_found
        slope -= pivot


@compiled
def exchange(basis: Basis, leaving: Leaving, cell: int, step: int, cut: int) -> None:
    """Bring the entering cell, or the slack of the cut at this position, into the basis for what leaves it."""
    free, tight = basis.number[0], basis.number[1]
    if cut >= 0:
        basis.is_tight[basis.tight[cut]] = 0
        tight -= 1
        basis.tight[cut] = basis.tight[tight]
    if leaving.cut >= 0:
        basis.is_tight[leaving.cut] = 1
        basis.tight[tight] = leaving.cut
        tight += 1
    else:
        free -= 1
        basis.free[leaving.position] = basis.free[free]
    if cell >= 0:
        if step < 0:
            basis.taken[cell] -= 1
        basis.is_free[cell] = 1
        basis.free[free] = cell
        free += 1
    basis.number[0], basis.number[1] = free, tight


@compiled
def optimise(
    items: Items, cuts: Cut, used: int, basis: Basis, most_steps: int, counts: FloatArray, ray: FloatArray
) -> tuple[int, int]:
    """The optimum under the first `used` cuts, from a basis that is optimal for other right sides or for fewer cuts.

    Returns: OPTIMAL, INFEASIBLE or LOST (to rounding, or after so many steps), and the steps taken. Where no counts
    meet the cuts, their sum with the multipliers that go into ray (J,) says so, but for rounding.
    """
    cells = basis.taken.size
    price, multipliers, before = np.empty(cells), np.empty(cells + 1), np.empty_like(basis.taken)
    of_cells, of_cuts = np.empty(cells), np.empty(cells + 1)
    for step in range(most_steps):
        size = basis.number[0]
        inverse = np.empty((size, size))
        if not basis_inverse(cuts, basis, inverse):
            return LOST, step
        counts_at(items, cuts, basis, inverse, counts)
        leaving = most_violated(cuts, used, basis, counts)
        if leaving.violation == 0.0:
            return OPTIMAL, step
        priced(items, cuts, basis, inverse, multipliers, price)
        pivot_row(cuts, basis, inverse, leaving, of_cells, of_cuts)
        before[:] = basis.taken
        if leaving.position >= 0:
            own = basis.free[leaving.position]
            basis.is_free[own] = 0
            if leaving.sign > 0.0:
                basis.taken[own] += 1
        cell, way, cut = entering(items, basis, price, multipliers, (of_cells, of_cuts), leaving)
        if cell < 0 and cut < 0:
            basis.taken[:] = before
            if leaving.position >= 0:
                basis.is_free[basis.free[leaving.position]] = 1
            write_ray(basis, leaving, of_cuts, ray)
            return INFEASIBLE, step
        exchange(basis, leaving, cell, way, cut)
    return LOST, most_steps


@compiled
def write_ray(basis: Basis, leaving: Leaving, of_cuts: FloatArray, ray: FloatArray) -> None:
    """The combination of cuts that nothing repairs: what leaves, by the cuts that are tight."""
    ray[:] = 0.0
    for position in range(basis.number[1]):
        ray[basis.tight[position]] = max(-leaving.sign * of_cuts[position], 0.0)
    if leaving.cut >= 0:
        ray[leaving.cut] = 1.0
