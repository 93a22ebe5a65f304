"""Parts of the exact path of `ball_path`: the t at which a line reaches rho, and affine rank by eigenvalues."""

from __future__ import annotations

import math

import numpy as np

from mprlib.arrays import FloatArray

# A squared singular value below this part of the largest is rounding error.
RANK_TOLERANCE = 1e-13


class PathLost(Exception):
    """Rounding has taken the path off its optima."""


def time_at(start: FloatArray, slope: FloatArray, rho: float, between: tuple[float, float]) -> float:
    """The t between two breakpoints (later, earlier) at which |start + t slope| = rho, for start, slope (r,)."""
    later, earlier = between
    square = float(slope @ slope)
    if square <= 0.0:
        return later
    half, constant = float(start @ slope), float(start @ start) - rho * rho
    root = (-half + math.sqrt(max(half * half - square * constant, 0.0))) / square
    return min(max(root, later), earlier)


def rank_by_eigenvalues(features: FloatArray) -> int:
    """The largest number of affinely independent cells, by their features (G, r)."""
    length = np.sqrt(np.einsum("ij,ij->i", features, features).max(initial=0.0)) or 1.0
    extended = np.column_stack([features / length, np.ones(features.shape[0])])
    eigenvalues = np.linalg.eigvalsh(extended.T @ extended)
    return int(np.sum(eigenvalues > RANK_TOLERANCE * eigenvalues[-1]))
