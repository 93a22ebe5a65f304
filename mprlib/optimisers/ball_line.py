"""Parts of the exact path of `ball_path`: its breakpoints and linear pieces, scores without ties, affine rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool

Kind = Literal["whole", "up", "down"]
# Relative size of the perturbation that breaks ties: four digits above the rounding of scores, and four below
# the accuracy to which bounds are compared.
PERTURBATION = 1e-12
# A squared singular value below this part of the largest is rounding error.
RANK_TOLERANCE = 1e-13
# Fractional parts of multiples of these irrational numbers are equidistributed: fixed perturbations that differ.
GOLDEN_RATIO, ROOT_OF_TWO = 0.6180339887498949, 0.4142135623730951


class PathLost(Exception):
    """Rounding has taken the path off its optima."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """The t at which the line ends: `place` (of the free cells) becomes whole, or the cell `place` becomes free."""

    t: float
    kind: Kind
    place: int


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Line:
    """x, v and theta as linear functions of t while the same cells are free.

    Shapes:  free (f,); base (G,), counts with those of the free cells at 0; start, slope (f,): the free
             cells' counts are start + t slope; v_start, v_slope (r,) likewise.
             inverse (f + 1, f + 1) of the free cells' system.
    theta = theta_start + t (level + theta_slope), with level the score of the first free cell: scores enter
    as differences from it, since differences of tied scores would be lost in the scores' own rounding.
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

    @classmethod
    def through(cls, counts: FloatArray, free: IntArray, scores: FloatArray, features: FloatArray, k: int) -> Line:
        """The line on which these cells (f,) are free, each at an item of that score (f,), from counts (G,)."""
        base = counts.copy()
        base[free] = 0.0
        size = free.size
        system = np.ones((size + 1, size + 1))
        own = features[free]
        system[:size, :size] = own @ own.T
        system[size, size] = 0.0
        inverse = np.linalg.inv(system)
        v_fixed = base @ features
        right = np.empty((size + 1, 2))
        right[:size, 0] = -(own @ v_fixed)
        right[size, 0] = k - base.sum()
        level = scores[0]
        right[:size, 1] = scores - level
        right[size, 1] = 0.0
        solution = inverse @ right
        moved = own.T @ solution[:size]
        return cls(
            free=free,
            base=base,
            start=solution[:size, 0],
            slope=solution[:size, 1],
            v_start=v_fixed + moved[:, 0],
            v_slope=moved[:, 1],
            level=float(level),
            theta_start=float(solution[size, 0]),
            theta_slope=float(solution[size, 1]),
            inverse=inverse,
        )

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
