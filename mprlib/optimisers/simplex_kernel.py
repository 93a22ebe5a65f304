"""Compiled dual simplex method of `cell_programme`: the best items of cells under cuts, from the last optimum on.

A step takes the bound that is violated most out of the basis (`basis_kernel`). Taking whole items past their margin,
one after the other, is part of the same step while the violation lasts (bound flipping). The inverse of the basis is
updated by each step, and computed anew after some, and before anything is said of the last basis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled
from mprlib.optimisers.basis_kernel import Basis, Cut, Items, counts_at, invert, priced
from mprlib.optimisers.basis_update_kernel import update_inverse

OPTIMAL, INFEASIBLE, LOST, FULL = 0, 1, 2, 3
# A violated bound, in items.
FEASIBILITY = 1e-9
# A pivot below this, relative to the row's coefficients, is rounding.
SMALLEST_PIVOT = 1e-9
# Coefficients of a row are taken to be no smaller.
SMALL_ROW = 1e-3


class Leaving(NamedTuple):
    """What leaves the basis: the position of a free cell, or a cut; its violation; the sign of what repairs it."""

    position: int
    cut: int
    violation: float
    sign: float


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
    # Most counts are 0 where k is small. Four cuts at a time: each sum waits for its own last term.
    filled, last = np.flatnonzero(counts), max(used - 1, 0)
    for first in range(0, used, 4):
        one, two, three, four = first, min(first + 1, last), min(first + 2, last), min(first + 3, last)
        sums = -cuts.right[one], -cuts.right[two], -cuts.right[three], -cuts.right[four]
        for cell in filled:
            own = counts[cell]
            sums = (
                sums[0] + cuts.rows[one, cell] * own,
                sums[1] + cuts.rows[two, cell] * own,
                sums[2] + cuts.rows[three, cell] * own,
                sums[3] + cuts.rows[four, cell] * own,
            )
        for cut, excess in ((one, sums[0]), (two, sums[1]), (three, sums[2]), (four, sums[3])):
            if basis.is_tight[cut] == 0 and excess > largest * cuts.size[cut]:
                found, largest = Leaving(-1, cut, excess, -1.0), excess / cuts.size[cut]
    return found


@compiled
def pivot_row(cuts: Cut, basis: Basis, leaving: Leaving, of_cells: FloatArray, of_cuts: FloatArray) -> None:
    """How what leaves depends on one item of each cell (G,), and on the slack of each tight cut."""
    size, inverse = basis.number[0], basis.inverse
    combination = np.zeros(size)
    if leaving.position >= 0:
        combination[:] = inverse[leaving.position, :size]
        of_cells[:] = combination[0]
    else:
        for position in range(size):
            own = cuts.rows[leaving.cut, basis.free[position]]
            for row in range(size):
                combination[row] -= own * inverse[position, row]
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
        basis.free[free] = cell
        free += 1
    basis.number[0], basis.number[1] = free, tight


@compiled
def optimise(
    items: Items,
    cuts: Cut,
    used: int,
    basis: Basis,
    most: tuple[int, int],
    counts: FloatArray,
    ray: FloatArray,
) -> tuple[int, int]:
    """The optimum under the first `used` cuts, from a basis that is optimal for other right sides or for fewer cuts.

    most: steps, and steps after which the inverse of the basis is computed anew.

    Returns: OPTIMAL, INFEASIBLE, FULL (the inverse has no room for one more row) or LOST (to rounding, or after so many
    steps), and the steps taken. Where no counts meet the cuts, their sum with the multipliers that go into ray (J,)
    says so, but for rounding.
    """
    cells, step, (most_steps, most_updates) = basis.taken.size, 0, most
    price, multipliers, before = np.empty(cells), np.empty(cells + 1), np.empty_like(basis.taken)
    of_cells, of_cuts = np.empty(cells), np.empty(cells + 1)
    while step < most_steps:
        if not 0 <= basis.number[2] <= most_updates and not invert(cuts, basis):
            return LOST, step
        counts_at(items, cuts, basis, counts)
        leaving = most_violated(cuts, used, basis, counts)
        cell, way, cut = -1, 0, -1
        if leaving.violation > 0.0:
            priced(items, cuts, basis, multipliers, price)
            pivot_row(cuts, basis, leaving, of_cells, of_cuts)
            before[:] = basis.taken
            if leaving.position >= 0 and leaving.sign > 0.0:
                basis.taken[basis.free[leaving.position]] += 1
            row = (of_cells, of_cuts)
            cell, way, cut = entering(items, basis, price, multipliers, row, leaving)
        if cell < 0 and cut < 0:
            if leaving.violation > 0.0:
                basis.taken[:] = before
            if basis.number[2] > 0:
                # By an inverse that carries rounding: once more, by its own.
                basis.number[2] = -1
                continue
            if leaving.violation == 0.0:
                return OPTIMAL, step
            write_ray(basis, leaving, of_cuts, ray)
            return INFEASIBLE, step
        if basis.number[0] == basis.inverse.shape[0] and leaving.cut >= 0 and cell >= 0:
            basis.taken[:] = before
            return FULL, step
        is_updated = most_updates > 0 and update_inverse(cuts, basis, leaving.position, leaving.cut, cell, cut)
        basis.number[2] = basis.number[2] + 1 if is_updated else -1
        exchange(basis, leaving, cell, way, cut)
        step += 1
    return LOST, most_steps


@compiled
def write_ray(basis: Basis, leaving: Leaving, of_cuts: FloatArray, ray: FloatArray) -> None:
    """The combination of cuts that nothing repairs: what leaves, by the cuts that are tight."""
    ray[:] = 0.0
    for position in range(basis.number[1]):
        ray[basis.tight[position]] = max(-leaving.sign * of_cuts[position], 0.0)
    if leaving.cut >= 0:
        ray[leaving.cut] = 1.0
