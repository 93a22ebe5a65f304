"""Parts of the exact path of `ball_path`: its linear pieces, scores without ties, affine rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool

# Relative size of the perturbation that breaks ties: four digits above the rounding of scores, and four below
# the accuracy to which bounds are compared.
PERTURBATION = 1e-12
# A squared singular value below this part of the largest is rounding error.
RANK_TOLERANCE = 1e-13
# Fractional parts of multiples of these irrational numbers are equidistributed: fixed perturbations that differ.
GOLDEN_RATIO, ROOT_OF_TWO = 0.6180339887498949, 0.4142135623730951


class PathLost(Exception):
    """Rounding has taken the path off its optima."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Line:
    """x and v as linear functions of t while the same cells are free.

    Shapes:  free (f,); base (G,), counts with those of the free cells at 0; start, slope (f,): the free
             cells' counts are start + t slope; v_start, v_slope (r,) likewise.
    """

    free: IntArray
    base: FloatArray
    start: FloatArray
    slope: FloatArray
    v_start: FloatArray
    v_slope: FloatArray

    def counts(self, t: float) -> FloatArray:
        """x (G,) at t."""
        counts = self.base.copy()
        counts[self.free] = self.start + t * self.slope
        return counts

    def gap(self, t: float) -> FloatArray:
        """v (r,) at t."""
        return self.v_start + t * self.v_slope

    def time_at(self, rho: float, earlier: float, later: float) -> float:
        """The t between two breakpoints, later <= t <= earlier, at which |v| = rho."""
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
    """Scores (N,) without ties and their marginals (N + 2G,); the order within each cell is kept."""
    centred = pool.scores - pool.scores.max()
    size = PERTURBATION * max(float(np.ptp(pool.scores)), 1e-3 * float(np.abs(pool.scores).max()), 1e-30)
    cells = np.arange(1, pool.cell_count + 1)
    slope, shift = 1.0 + (cells * GOLDEN_RATIO) % 1.0, (cells * ROOT_OF_TWO) % 1.0
    scores = centred - size * (pool.rank * slope[pool.cell] + shift[pool.cell])
    marginals = pool.marginals.copy()
    marginals[pool.first[pool.cell] + 2 * pool.cell + 1 + pool.rank] = scores
    return scores, marginals
