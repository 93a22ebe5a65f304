"""The cells that true labels may be in, and where the labels as they are place each item and the reference.

Every combination of the levels of attributes whose labels may be wrong is a cell, for every combination of the others
that occurs. So cells form a grid with an axis for each attribute with errors and one more for all others together, and
what acts on one attribute acts on one axis: no matrix over all cells is formed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows, sums_by
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.label_error import LabelError
from mprlib.problem import Problem

# Above this an item's probabilities of all cells are too many to hold for a pool of 10,000.
LARGEST_CELL_COUNT = 2_048


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class TrueCells:
    """A grid of G cells.

    Shapes:  shape, levels of each axis; labels (G, l), the rows of true labels, the last axis fastest.
             codes (n, axes), the level that each item's labels name, by axis.
             places (C,), where in the grid the combinations of labels that occur are (`cells_of`).
             reference_shares (G,), of the reference's labels as they are.
    attributes: names of the axes with errors, in the order of their columns; one more axis holds the others.
    """

    shape: tuple[int, ...]
    labels: FloatArray
    codes: IntArray
    places: IntArray
    reference_shares: FloatArray
    attributes: tuple[str, ...]

    @property
    def size(self) -> int:
        """G."""
        return prod(self.shape)

    def name_of(self, axis: int) -> str:
        """The attribute of an axis; empty for the axis of those without errors."""
        return self.attributes[axis] if axis < len(self.attributes) else ""

    def joint(self, codes: IntArray) -> IntArray:
        """Cells (a,) of levels by axis (a, axes)."""
        found: IntArray = np.ravel_multi_index(tuple(codes.T), self.shape)
        return found

    def levels(self) -> IntArray:
        """Levels (G, axes) of the cells."""
        return np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=1)


def true_cells(problem: Problem) -> TrueCells:
    """The cells of a problem whose labels have errors, built once.

    Raises:  InputError for labels that are no levels, and for too many cells.
    """
    return problem.cached("true cells", lambda: _build(problem))


def along(values: FloatArray, shape: Sequence[int], matrices: Mapping[int, FloatArray]) -> FloatArray:
    """Rows (a, G) times a matrix for each axis: (L, L), or (a, L, L) where each row has its own."""
    if any(matrix.ndim > 2 for matrix in matrices.values()):
        return along_columns(values[:, :, None], shape, matrices)[:, :, 0]
    return np.ascontiguousarray(along_columns(values.T[None], shape, matrices)[0].T)


def along_columns(values: FloatArray, shape: Sequence[int], matrices: Mapping[int, FloatArray]) -> FloatArray:
    """Columns (B, G, R) times a matrix for each axis: (L, L), or (B, L, L), one for all columns of a draw.

    With the columns last, each product is of one small matrix with a wide one, and nothing is moved.
    """
    found = np.ascontiguousarray(values)
    for axis, matrix in matrices.items():
        # One stack for each combination of the levels of earlier axes.
        stacks = found.reshape(len(values), prod(shape[:axis]), shape[axis], -1)
        found = np.swapaxes(matrix, -1, -2)[..., None, :, :] @ stacks
    return found.reshape(values.shape)


def error_of(problem: Problem) -> LabelError:
    """What is known of the labels' errors of a problem that has some."""
    assert problem.label_error is not None
    return problem.label_error


def _build(problem: Problem) -> TrueCells:
    cells, error = cells_of(problem), error_of(problem)
    wrong = {*error.items, *error.reference, *error.probabilities, *error.known}
    attributes = dict(sorted(problem.attributes.items(), key=lambda one: tuple(one[1])))
    names = tuple(name for name in attributes if name in wrong)
    axes = [_levels(name, problem.attributes[name], cells.labels) for name in names]
    others = [column for name, own in attributes.items() if name not in wrong for column in own]
    rest, place = distinct_rows(cells.labels[:, others]) if others else (np.zeros((1, 0)), np.zeros(cells.size, int))
    shape = (*(len(rows) for rows, _ in axes), len(rest))
    if prod(shape) > LARGEST_CELL_COUNT:
        raise InputError(
            f"label_error: the labels make {prod(shape):,} combinations of levels, and at most {LARGEST_CELL_COUNT:,} "
            "can be corrected: leave attributes out, or merge levels"
        )
    grid = np.stack(np.unravel_index(np.arange(prod(shape)), shape), axis=1)
    labels = np.zeros((prod(shape), cells.labels.shape[1]))
    for axis, (name, (rows, _)) in enumerate(zip(names, axes)):
        labels[:, list(problem.attributes[name])] = rows[grid[:, axis]]
    labels[:, others] = rest[grid[:, -1]]
    of_cells = np.stack([*(codes for _, codes in axes), place], axis=1)
    places = np.ravel_multi_index(tuple(of_cells.T), shape)
    return TrueCells(
        shape=shape,
        labels=labels,
        codes=of_cells[cells.pool_cell],
        places=places,
        reference_shares=sums_by(places, cells.reference_shares, prod(shape)),
        attributes=names,
    )


def _levels(name: str, columns: Sequence[int], labels: FloatArray) -> tuple[FloatArray, IntArray]:
    """The rows (L, columns) of an attribute's levels, and the level (G,) of each row of labels."""
    own = labels[:, list(columns)]
    rows = np.eye(own.shape[1]) if own.shape[1] > 1 else np.array([[1.0], [0.0]])
    is_level = (own[:, None, :] == rows[None, :, :]).all(axis=2)
    if not is_level.any(axis=1).all():
        row = own[int(np.argmin(is_level.any(axis=1)))]
        raise InputError(
            f"labels, attribute {name!r}, holds {row.tolist()}: label_error is about levels, one column of 0 and 1 for "
            "each, of which one is 1"
        )
    return rows, is_level.argmax(axis=1)
