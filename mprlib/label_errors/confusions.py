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
    """Both sides; a confusion that both have is drawn once, since its error is one."""

    items: Side
    reference: Side


def confusions_of(problem: Problem) -> Confusions:
    """A problem's confusions, drawn once."""

    def build() -> Confusions:
        error, cells, drawn = error_of(problem), true_cells(problem), {}
        for number, one in enumerate(
            {id(one): one for one in (*error.items.values(), *error.reference.values())}.values()
        ):
            if np.isfinite(one.sizes).any():
                drawn[id(one)] = drawn_shares(one, DRAWS, np.random.default_rng([number, len(one.shares)]))
        return Confusions(items=_side(cells, error.items, drawn), reference=_side(cells, error.reference, drawn))

    return problem.cached("confusions", build)


def inverse(matrices: Matrices) -> dict[int, FloatArray]:
    """Inverses by axis; least squares where there is none."""
    return {axis: np.linalg.pinv(one) if one.ndim == 2 else _inverses(one) for axis, one in matrices.items()}


def drawn_shares(confusion: Confusion, count: int, random: np.random.Generator) -> FloatArray:
    """Confusions (count, L, L) that might be the true one, given the hand labels behind this one.

    Dirichlet with one row spread over all levels beside the counted ones, around the shares as they are.
    """
    levels = len(confusion.shares)
    found = np.broadcast_to(confusion.shares, (count, levels, levels)).copy()
    for level, size in enumerate(confusion.sizes):
        if np.isfinite(size):
            weights = size * confusion.shares[level] + 1.0 / levels
            spread = random.dirichlet(weights, size=count) - weights / weights.sum()
            row = np.clip(confusion.shares[level] + spread, SMALLEST_SHARE, None)
            found[:, level] = row / row.sum(axis=1, keepdims=True)
    return found


def _side(cells: TrueCells, confusions: Mapping[str, Confusion], drawn: Mapping[int, FloatArray]) -> Side:
    axes = {axis: confusions[name] for axis, name in enumerate(cells.attributes) if name in confusions}
    return Side(
        known={axis: one.shares for axis, one in axes.items()},
        drawn={axis: drawn[id(one)] for axis, one in axes.items() if id(one) in drawn},
    )


def _inverses(matrices: FloatArray) -> FloatArray:
    found: FloatArray = np.linalg.pinv(matrices)
    return found
