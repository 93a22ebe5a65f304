"""Linear functions of the labels, normalised as C'.

Proposition 4 in whitened form. Let X_g be a cell's label row and t_g = (p_g - q_g) / sqrt(N_g).
The best linear function is the projection of t on the column space of sqrt(N) X, so with an
orthonormal basis U (G, r) of that space

    MPR = sqrt(D) |U' t| = | sum_g (p_g - q_g) phi_g |,   phi_g = sqrt(D) U_g / sqrt(N_g).

Only the column space enters: no recoding of the columns by an invertible matrix changes it, and
rank-deficient labels (two full one-hot attributes) are no special case. The paper's thin SVD
returns arbitrary vectors for zero singular values there and overstates MPR up to 3.7 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass
from mprlib.problem import Problem

# A direction this much shorter than the longest, columns scaled to norm 1, is rounding: numerical
# rank in double precision, for singular values and for the eigenvalues of a Gram matrix.
RANK_TOLERANCE = 1e-10
GRAM_TOLERANCE = 1e-12
# Above this many cells, the Gram matrix's l x l eigenproblem replaces the SVD of G x l: as fast as
# a product, but it sees singular values to half the digits only.
LARGEST_SVD_CELLS = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Linear(FunctionClass):
    """All linear functions of the labels, without intercept (as the paper's oracle fits them).

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "linear").value, 4)
    0.4082
    """

    name: ClassVar[str] = "linear"
    is_exact: ClassVar[bool] = True

    def bind(self, problem: Problem) -> Ball:
        """The ball of whitened features; rank r <= l.

        Source:  MPR paper, Proposition 4.
        """
        return problem.cached(("linear",), lambda: self._build(problem))

    def _build(self, problem: Problem) -> Ball:
        cells = cells_of(problem)
        basis = column_space(cells)
        return Ball.of(cells, basis * np.sqrt(problem.scale / cells.masses)[:, None])


def column_space(cells: Cells) -> FloatArray:
    """Orthonormal basis (G, r) of the column space of sqrt(N) X.

    Columns are scaled to norm 1 first: the space does not depend on their scale, a cut-off does.
    """
    # By their largest value before: the square of a value may be too large, or too small, for a double.
    largest = np.abs(cells.labels).max(axis=0)
    weighted = np.sqrt(cells.masses)[:, None] * (cells.labels / np.where(largest > 0, largest, 1.0))
    norms = np.sqrt(np.add.reduce(weighted * weighted, axis=0))
    weighted = weighted / norms if norms.all() else weighted[:, norms > 0] / norms[norms > 0]
    if weighted.shape[1] == 0:
        return np.zeros((cells.size, 0))
    if cells.size <= LARGEST_SVD_CELLS:
        left, singular, _ = np.linalg.svd(weighted, full_matrices=False)
        return left[:, singular > RANK_TOLERANCE * singular[0]]
    eigenvalues, vectors = np.linalg.eigh(weighted.T @ weighted)
    kept = eigenvalues > GRAM_TOLERANCE * eigenvalues[-1]
    basis = weighted @ (vectors[:, kept] / np.sqrt(eigenvalues[kept]))
    # Ill-conditioned columns leave this basis orthonormal to few digits; a second pass, from a Gram
    # matrix near the identity, restores them.
    eigenvalues, vectors = np.linalg.eigh(basis.T @ basis)
    orthonormal: FloatArray = basis @ (vectors / np.sqrt(eigenvalues))
    return orthonormal
