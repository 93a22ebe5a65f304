"""What the walk of `ball_path` stands on: straight pieces of the solutions, scores without ties, rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.optimisers.cell_pool import CellPool
from mprlib.problem import FloatArray, IntArray

# Relative size of the perturbation that breaks ties: above rounding by four digits, and below any
# difference of bounds by four.
PERTURBATION = 1e-12
# Squared singular values below this part of the largest are rounding.
RANK_TOLERANCE = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Line:
    """x, v and theta as functions of t while the same cells are free.

    Shapes:  free (f,); base (G,), counts with the free cells at 0; start, slope (f,), counts of the free
             cells as start + t slope; v_start, v_slope (r,); likewise theta, its slope being above `level`, the
             score of the first free cell: differences of tied scores would drown in the scores.
    """

    free: IntArray
    base: FloatArray
    start: FloatArray
    slope: FloatArray
    v_start: FloatArray
    v_slope: FloatArray
    level: float
    theta_start: float
    theta_slope: float
    inverse: FloatArray

    def counts(self, t: float) -> FloatArray:
        counts = self.base.copy()
        counts[self.free] = self.start + t * self.slope
        return counts

    def gap(self, t: float) -> FloatArray:
        return self.v_start + t * self.v_slope

    def time_at(self, rho: float, earlier: float, later: float) -> float:
        """The t between two events at which |v| = rho."""
        square = float(self.v_slope @ self.v_slope)
        half = float(self.v_start @ self.v_slope)
        constant = float(self.v_start @ self.v_start) - rho * rho
        if square <= 0.0:
            return later
        root = (-half + np.sqrt(max(half * half - square * constant, 0.0))) / square
        return float(min(max(root, later), earlier))


def affine_rank(features: FloatArray) -> int:
    """The largest number of affinely independent cells."""
    length = np.sqrt(np.einsum("ij,ij->i", features, features).max(initial=0.0)) or 1.0
    extended = np.column_stack([features / length, np.ones(features.shape[0])])
    eigenvalues = np.linalg.eigvalsh(extended.T @ extended)
    return int(np.sum(eigenvalues > RANK_TOLERANCE * eigenvalues[-1]))


def perturbed(pool: CellPool) -> tuple[FloatArray, FloatArray]:
    """Scores (N,) without ties, and their ladder; falling within a cell as before."""
    centred = pool.scores - pool.scores.max()
    size = PERTURBATION * max(float(np.ptp(pool.scores)), 1e-3 * float(np.abs(pool.scores).max()), 1e-30)
    # Fractional parts of the multiples of two irrational numbers: fixed, and never in step.
    cells = np.arange(1, pool.cell_count + 1)
    slope, shift = 1.0 + (cells * 0.6180339887498949) % 1.0, (cells * 0.4142135623730951) % 1.0
    scores = centred - size * (pool.rank * slope[pool.cell] + shift[pool.cell])
    ladder = pool.ladder.copy()
    ladder[pool.first[pool.cell] + 2 * pool.cell + 1 + pool.rank] = scores
    return scores, ladder
