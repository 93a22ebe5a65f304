"""Compiled: the inverse of a basis matrix (`basis_kernel`) after one exchange, by a formula of rank one.

A cell that becomes free is a column more, and one that leaves is a column less; a cut that becomes tight is a row more,
and one that is tight no more is a row less. One exchange is one of each kind:

    column p by a:   u = inverse a,  row p of the inverse is divided by u_p and taken u_i times from row i,
    row r by b:      v = b inverse,  likewise with columns and v_r,
    b and a added:   the Schur complement s = b_a - b inverse a is the pivot,
    r and p dropped: the inverse's own entry (p, r) is.

Rounding is carried along: `simplex_kernel` inverts anew before it relies on what it finds.

Source:  Sherman and Morrison 1950.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled
from mprlib.optimisers.basis_kernel import Basis, Cut

# A pivot below this would spoil the other entries: the matrix is inverted anew.
SMALLEST_UPDATE = 1e-6


@compiled
def column_of(cuts: Cut, basis: Basis, cell: int, found: FloatArray) -> None:
    """The inverse times the column of a cell into found (size,)."""
    size, inverse = basis.number[0], basis.inverse
    column = np.ones(size)
    for row in range(1, size):
        column[row] = cuts.rows[basis.tight[row - 1], cell]
    for position in range(size):
        own = 0.0
        for row in range(size):
            own += inverse[position, row] * column[row]
        found[position] = own


@compiled
def row_of(cuts: Cut, basis: Basis, cut: int, found: FloatArray) -> None:
    """The row of a cut times the inverse into found (size,)."""
    size, inverse = basis.number[0], basis.inverse
    found[:size] = 0.0
    for position in range(size):
        own = cuts.rows[cut, basis.free[position]]
        if own != 0.0:
            for row in range(size):
                found[row] += own * inverse[position, row]


@compiled
def replace_column(basis: Basis, position: int, column: FloatArray) -> None:
    """Of the cell at this position by the inverse times another one's, which becomes the last one."""
    size, inverse = basis.number[0], basis.inverse
    own = inverse[position]
    factor = 1.0 / column[position]
    for row in range(size):
        own[row] *= factor
    for other in range(size):
        if other != position and column[other] != 0.0:
            factor = column[other]
            for row in range(size):
                inverse[other, row] -= factor * own[row]
    for row in range(size):
        inverse[position, row], inverse[size - 1, row] = inverse[size - 1, row], inverse[position, row]


@compiled
def replace_row(basis: Basis, row: int, combination: FloatArray) -> None:
    """By a cut's row times the inverse, which becomes the last one."""
    size, inverse = basis.number[0], basis.inverse
    factor = 1.0 / combination[row]
    for position in range(size):
        own = inverse[position, row] * factor
        for other in range(size):
            inverse[position, other] -= combination[other] * own
        inverse[position, row] = inverse[position, size - 1]
        inverse[position, size - 1] = own


@compiled
def add_both(basis: Basis, column: FloatArray, combination: FloatArray, pivot: float) -> None:
    """A last row and a last column, from the inverse times the one and the other times the inverse."""
    size, inverse = basis.number[0], basis.inverse
    for position in range(size):
        own = column[position] / pivot
        for row in range(size):
            inverse[position, row] += own * combination[row]
        inverse[position, size] = -own
    for row in range(size):
        inverse[size, row] = -combination[row] / pivot
    inverse[size, size] = 1.0 / pivot


@compiled
def drop_both(basis: Basis, position: int, row: int) -> None:
    """A row, and the column of the cell at this position; the last ones take their places."""
    size, inverse = basis.number[0], basis.inverse
    own, pivot = inverse[position], inverse[position, row]
    for other in range(size):
        if other != position and inverse[other, row] != 0.0:
            factor = inverse[other, row] / pivot
            for place in range(size):
                inverse[other, place] -= factor * own[place]
    for place in range(size):
        inverse[position, place] = inverse[size - 1, place]
    for other in range(size):
        inverse[other, row] = inverse[other, size - 1]


@compiled
def update_inverse(cuts: Cut, basis: Basis, position: int, cut: int, cell: int, tight: int) -> bool:
    """The inverse after the exchange that is about to be made; False where it has to be inverted anew.

    The cell at a position leaves, or else a cut becomes tight; a cell enters, or else the tight cut at this place is
    tight no more.
    """
    size = basis.number[0]
    column, combination = np.empty(size), np.empty(size)
    if cell >= 0:
        column_of(cuts, basis, cell, column)
    if cut >= 0:
        row_of(cuts, basis, cut, combination)
    if cell >= 0 and cut >= 0:
        pivot = cuts.rows[cut, cell]
        for place in range(size):
            pivot -= cuts.rows[cut, basis.free[place]] * column[place]
    elif cell >= 0:
        pivot = column[position]
    elif cut >= 0:
        pivot = combination[tight + 1]
    else:
        pivot = basis.inverse[position, tight + 1]
    if abs(pivot) < SMALLEST_UPDATE:
        return False
    if cell >= 0 and cut >= 0:
        add_both(basis, column, combination, pivot)
    elif cell >= 0:
        replace_column(basis, position, column)
    elif cut >= 0:
        replace_row(basis, tight + 1, combination)
    else:
        drop_both(basis, position, tight + 1)
    return True
