"""Compiled search of `marginals` for the best counts near the dual bound, in one call a rho: a lattice at its prices,
what counts lose at these, and one search after another, as `deepening` has them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.near_kernel import losses, margin
from mprlib.optimisers.whole.decoder_kernel import Basis
from mprlib.optimisers.whole.lattice_kernel import narrowest_last, turned
from mprlib.optimisers.whole.marginal_kernel import Lattice, Task, decoded, reordered
from mprlib.optimisers.whole.marginal_loss_kernel import Cells


class Form(NamedTuple):
    """A lattice in triangular form.

    Shapes:  rows (d, r), orthonormal; triangle (d, d); products (d, d), the inverse of those of the columns with each
             other; constant (r,), the part of v that no count changes.
    """

    rows: FloatArray
    triangle: FloatArray
    products: FloatArray
    constant: FloatArray


class Priced(NamedTuple):
    """A pool at the prices (G,) of a relaxation, z (r,) = direction; filled (F,), its cells with items."""

    k: int
    scores: FloatArray
    first: IntArray
    capacity: IntArray
    filled: IntArray
    price: FloatArray
    direction: FloatArray


class Goal(NamedTuple):
    """What is asked for: rho, |z|, the dual bound, the similarity that is to be beaten (-inf without any), and nodes.

    widest: the largest part of rho that a cap is ordered for. cell_part: the part of the nodes that searches among
    cells have. deepening: the first part of the gap, the first loss without one, and growth, as in `deepening`.
    """

    rho: float
    length: float
    bound: float
    start: float
    nodes: int
    widest: float
    cell_part: int
    deepening: tuple[float, float, float]


@compiled
def basis_at(form: Form, direction: FloatArray) -> Basis:
    """The lattice with prices z = direction (r,), as `lattice.basis_of` has it."""
    size, columns = form.rows.shape
    offset, along, reach = np.zeros(size), np.zeros(size), np.zeros(size + 1)
    outside, square, constant = form.constant.copy(), 0.0, 0.0
    for row in range(size):
        for column in range(columns):
            offset[row] += form.rows[row, column] * form.constant[column]
            along[row] += form.rows[row, column] * direction[column]
        reach[row + 1] = reach[row] + along[row] * along[row]
    for row in range(size):
        for column in range(columns):
            outside[column] -= offset[row] * form.rows[row, column]
    for column in range(columns):
        square += outside[column] * outside[column]
        constant += direction[column] * outside[column]
    return Basis(form.triangle, offset, along, np.sqrt(reach), square, constant)


@compiled
def in_cap(basis: Basis, products: FloatArray, part: float) -> tuple[IntArray, Basis]:
    """The lattice with its first coordinates in the order in which a cap of the ball leaves them fewest values.

    The coordinate that a decoder decides first is the one of which the fewest whole values are in the cap
    z.v >= (1 - part) rho |z|: as a rule the one that lies nearest to z, as a cap is thin there and wide elsewhere. Of
    many points that leave the cap when it is decided last none is looked at.

    Returns the order (d,), and the lattice in it. products (size, size): the inverse of those of the first columns with
    each other, of the coordinates with a step of their own.
    """
    levels, size = basis.offset.size, products.shape[0]
    order = np.arange(levels)
    if size == 0 or basis.reach[size] == 0.0:
        return order, basis
    narrowest_last(basis.triangle, basis.along, products, float(np.arccos(1.0 - part)), order)
    triangle, vectors = np.empty((levels, levels)), np.empty((2, levels))
    for column in range(levels):
        triangle[:, column] = basis.triangle[:, order[column]]
    vectors[0], vectors[1] = basis.offset, basis.along
    turned(triangle, size, vectors)
    reach = np.zeros(levels + 1)
    for level in range(levels):
        reach[level + 1] = reach[level] + vectors[1, level] * vectors[1, level]
    return order, Basis(triangle, vectors[0], vectors[1], np.sqrt(reach), basis.outside, basis.constant)


@compiled
def searched(
    form: Form, lattice: Lattice, cells: Cells, pool: Priced, goal: Goal, counts: IntArray
) -> tuple[float, bool, int]:
    """The best counts (F,), written where they beat the start; the bound, whether it was finished, and the nodes."""
    level = margin(pool.scores, pool.first, pool.capacity, pool.price, pool.k)
    loss = losses(pool.scores, pool.first, pool.capacity, pool.price, level, pool.filled, pool.k)
    own = Cells(cells.column, cells.attribute, cells.capacity, loss, cells.last, cells.known)
    has_start, bound = goal.start > -np.inf, goal.bound
    part = goal.widest
    if has_start and goal.rho * goal.length > 0.0:
        part = min((bound - goal.start) / (goal.rho * goal.length), goal.widest)
    order, basis = in_cap(basis_at(form, pool.direction), form.products, max(part, 0.0))
    ordered = reordered(lattice, order)
    first_part, first_loss, growth = goal.deepening
    allowed = first_part * (bound - goal.start) if has_start else first_loss * pool.k
    visited = 0
    while True:
        threshold = max(bound - allowed, goal.start) if has_start or allowed < pool.k else -np.inf
        left = goal.nodes - visited
        task = Task(goal.rho, goal.length, goal.bound, left, max(left // goal.cell_part, 1), False)
        best, _, is_complete, nodes = decoded(basis, ordered, own, task, threshold, counts)
        visited += nodes
        if not is_complete:
            return bound, False, visited
        # Nothing else lies above the threshold.
        bound = max(best, threshold)
        if best > threshold or threshold <= goal.start:
            return bound, True, visited
        allowed *= growth
