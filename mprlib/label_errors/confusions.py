"""The confusions of a problem's axes, of items and of reference, and draws of what they might truly be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.confusion import Confusion
from mprlib.label_errors.true_cells import TrueCells, error_of, true_cells
from mprlib.problem import Problem

# Draws of the confusions and of what else is estimated; an interval's ends are their tenth-largest and so on.
DRAWS = 400
# Shares that a draw may not fall below: a row of hand labels without an error is no proof that there is none.
SMALLEST_SHARE = 1e-9
# Seeds of the draws of the two sides begin with these; the attribute's name follows.
OF_ITEMS, OF_REFERENCE = 0, 1

Matrices = Mapping[int, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Side:
    """Confusions of one side by axis: (L, L) as known, and (DRAWS, L, L) drawn where they are estimated."""

    known: Matrices
    drawn: Matrices

    @property
    def is_exact(self) -> bool:
        """Whether none of the confusions has a sampling error."""
        return not self.drawn


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Confusions:
    """Both sides. Where an attribute has the same confusion on both, it is drawn once, since its error is one; draws of
    different attributes are independent, also of equal confusions."""

    items: Side
    reference: Side


def confusions_of(problem: Problem) -> Confusions:
    """A problem's confusions, drawn once.

    Draws depend on the attribute's name and the confusion's numbers alone: not on which objects hold them, nor on the
    order in which attributes are given.
    """

    def build() -> Confusions:
        error, cells = error_of(problem), true_cells(problem)
        items = {name: _drawn(one, [OF_ITEMS, *name.encode()]) for name, one in error.items.items()}
        reference = {
            name: items[name]
            if name in items and _is_same(one, error.items[name])
            else _drawn(one, [OF_REFERENCE, *name.encode()])
            for name, one in error.reference.items()
        }
        return Confusions(items=_side(cells, error.items, items), reference=_side(cells, error.reference, reference))

    return problem.cached("confusions", build)


def inverse(matrices: Matrices) -> dict[int, FloatArray]:
    """Inverses by axis; least squares where there is none."""
    return {axis: _inverse(one) for axis, one in matrices.items()}


def drawn_shares(confusion: Confusion, count: int, random: np.random.Generator) -> FloatArray:
    """Confusions (count, L, L) that might be the true one, given the hand labels behind this one.

    Dirichlet with one more wrong label than was seen of each level, spread over the others: of two levels these are the
    limits of Clopper and Pearson for the share of errors from above. The labels behind it count as chi^2 / nu as many,
    with as many degrees of freedom nu as wrong labels, as in Student's t: how sure a share of errors is is itself known
    from the errors alone, and an audit that happened to see few would else be surest, and claim most.
    """
    levels = len(confusion.shares)
    found = np.broadcast_to(confusion.shares, (count, levels, levels)).copy()
    for level, size in enumerate(confusion.sizes):
        if np.isfinite(size):
            weights = size * confusion.shares[level] + np.where(np.arange(levels) == level, 0.0, 1.0 / (levels - 1))
            wrong = float(weights.sum() - weights[level])
            parts = random.chisquare(wrong, size=(count, 1)) / wrong
            row = np.maximum(random.standard_gamma(np.maximum(parts * weights, SMALLEST_SHARE)), SMALLEST_SHARE)
            found[:, level] = row / row.sum(axis=1, keepdims=True)
    return found


def _drawn(confusion: Confusion, seed: list[int]) -> FloatArray | None:
    """Draws of a confusion that is estimated; None of one that is known exactly."""
    is_estimated = np.isfinite(confusion.sizes).any()
    return drawn_shares(confusion, DRAWS, np.random.default_rng(seed)) if is_estimated else None


def _is_same(one: Confusion, other: Confusion) -> bool:
    """Whether two confusions of one attribute, in the order of its columns, are the same numbers."""
    return np.array_equal(one.shares, other.shares) and np.array_equal(one.sizes, other.sizes)


def _side(cells: TrueCells, confusions: Mapping[str, Confusion], drawn: Mapping[str, FloatArray | None]) -> Side:
    axes = {axis: name for axis, name in enumerate(cells.attributes) if name in confusions}
    return Side(
        known={axis: confusions[name].shares for axis, name in axes.items()},
        drawn={axis: draws for axis, name in axes.items() if (draws := drawn[name]) is not None},
    )


def _inverse(matrices: FloatArray) -> FloatArray:
    try:
        found: FloatArray = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        found = np.linalg.pinv(matrices)
    return found
