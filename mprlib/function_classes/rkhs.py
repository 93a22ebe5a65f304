"""The unit ball of a kernel's function space; MPR is then a maximum mean discrepancy.

    MPR^2 = sum_g sum_h (p_g - q_g) K(g, h) (p_h - q_h),    witness (mu_R - mu_C) / MPR,

with mu the mean embeddings of selection and reference. Diagonal terms are kept. (The paper prints
the last term over n^2; it is over m^2.) The class has its own scale: values do not shrink with n
and m, and `saturated` does not bound them.

With few cells a square root of K gives features of a Ball, which the optimiser's exact methods
read; with many (continuous labels) only the kernel's columns at the selected rows are formed.

Source: MPR paper, Proposition 6; Gretton et al. 2012 for the median heuristic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist, pdist

from mprlib.cells import Cells, cells_of
from mprlib.errors import InputError
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import Oracle, WorstCase, checked_count
from mprlib.problem import FloatArray, Problem

KernelName = Literal["gaussian", "polynomial", "linear"]
# An eigenproblem of this size takes about half a second; above it columns are formed on demand.
LARGEST_EIGEN_CELLS = 1024
# Rows of the median heuristic's sample, and of a block of kernel columns (20 MB at 20,000 rows).
MEDIAN_SAMPLE = 1024
BLOCK_ROWS = 128
# Distances in bandwidths above this are not squared: their kernel is 0 long before.
LARGEST_RATIO = 1e100


@dataclass(frozen=True, kw_only=True, slots=True)
class Rkhs:
    """Functions of norm at most 1 in a kernel's space.

    kernel: gaussian exp(-|x - y|^2 / (2 bandwidth^2)); polynomial (x.y + offset)^degree; linear x.y.
    bandwidth: None for the median distance between unequal rows of pool and reference.
    """

    name: ClassVar[str] = "rkhs"
    is_normalised: ClassVar[bool] = False

    kernel: KernelName = "gaussian"
    bandwidth: float | None = None
    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        if self.kernel not in get_args(KernelName):
            raise InputError(f"kernel is {self.kernel!r}: known are {', '.join(get_args(KernelName))}")
        if self.bandwidth is not None and not (np.isfinite(self.bandwidth) and self.bandwidth > 0):
            raise InputError(f"bandwidth is {self.bandwidth}: a positive number, or None for the median distance")
        checked_count("degree", self.degree)
        if not (np.isfinite(self.offset) and self.offset >= 0):
            raise InputError(f"offset is {self.offset}: a number of at least 0 keeps the kernel positive")

    def bind(self, problem: Problem) -> Oracle:
        """A Ball where cells are few, else the oracle on kernel columns; the same values."""
        return problem.cached(("rkhs", self), lambda: self._build(cells_of(problem)))

    def _build(self, cells: Cells) -> Oracle:
        if self.kernel == "linear":
            return Ball.of(cells, cells.labels)
        bandwidth = self.bandwidth
        if self.kernel == "gaussian" and bandwidth is None:
            bandwidth = median_distance(cells)
        kernel = Kernel(settings=self, bandwidth=bandwidth)
        if cells.size <= LARGEST_EIGEN_CELLS:
            return Ball.of(cells, _square_root(kernel.matrix(cells.labels, cells.labels)))
        return KernelOracle.of(cells, kernel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """A kernel with its bandwidth settled."""

    settings: Rkhs
    bandwidth: float | None

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """K (a, b) between label rows (a, l) and (b, l)."""
        if self.settings.kernel == "polynomial":
            return (left @ right.T + self.settings.offset) ** self.settings.degree
        return np.exp(-0.5 * _squared_distances(left, right, self.bandwidth))

    def squares(self, labels: FloatArray) -> FloatArray:
        """K(x, x) (a,) of label rows (a, l)."""
        if self.settings.kernel == "polynomial":
            return (np.sum(labels**2, axis=1) + self.settings.offset) ** self.settings.degree
        return np.ones(labels.shape[0])


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class KernelOracle:
    """Exact without a square root of the kernel matrix.

    Shapes:  reference_function (G,) = K q, the reference's mean embedding on the cells.
    reference_square = q'K q.
    """

    cells: Cells
    kernel: Kernel
    reference_function: FloatArray
    reference_square: float

    @classmethod
    def of(cls, cells: Cells, kernel: Kernel) -> KernelOracle:
        """The oracle, with the reference's part computed block by block."""
        embedded = _embedding(cells, kernel, cells.reference_shares)
        return cls(
            cells=cells,
            kernel=kernel,
            reference_function=embedded,
            reference_square=float(cells.reference_shares @ embedded),
        )

    @property
    def largest_square(self) -> float:
        """kappa, the largest K(x, x): functions of the ball take values up to its root."""
        return float(self.kernel.squares(self.cells.labels).max())

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The norm of the mean embeddings' difference, clamped at 0, and the function along it."""
        shares = self.cells.shares(weights)
        function = _embedding(self.cells, self.kernel, shares) - self.reference_function
        square = float((shares - self.cells.reference_shares) @ function)
        value = float(np.sqrt(max(square, 0.0)))
        return WorstCase(
            value=value,
            upper_bound=value,
            is_exact=True,
            function=function / value if value > 0 else np.zeros_like(function),
        )


def median_distance(cells: Cells) -> float:
    """Median distance between rows of pool and reference that differ.

    Pairs of equal rows are left out: with few cells they may be the majority, and a bandwidth of 0
    tells every cell from every other alike. From many cells an even sample of them is taken.
    """
    sample = np.rint(np.linspace(0, cells.size - 1, min(cells.size, MEDIAN_SAMPLE))).astype(np.intp)
    labels, masses = cells.labels[sample], cells.masses[sample]
    if sample.size < 2:
        return 1.0
    first, second = np.triu_indices(sample.size, k=1)
    # By differences, in the condensed order of these pairs: rows that differ have a distance above 0.
    unit = np.ptp(labels, axis=0).max()
    distances = np.maximum(pdist(labels / unit), 1.0 / LARGEST_RATIO) * unit
    order = np.argsort(distances)
    passed = np.cumsum((masses[first] * masses[second])[order])
    return float(distances[order[np.searchsorted(passed, passed[-1] / 2)]])


def _embedding(cells: Cells, kernel: Kernel, shares: FloatArray) -> FloatArray:
    """sum_h K(., h) shares_h (G,), over the cells that have a share."""
    support = np.flatnonzero(shares)
    total = np.zeros(cells.size)
    for start in range(0, support.size, BLOCK_ROWS):
        block = support[start : start + BLOCK_ROWS]
        total += kernel.matrix(cells.labels, cells.labels[block]) @ shares[block]
    return total


def _square_root(matrix: FloatArray) -> FloatArray:
    """Features (G, r) with features features' = matrix; directions of rounding size are dropped."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    kept = eigenvalues > np.finfo(float).eps * matrix.shape[0] * eigenvalues[-1]
    return vectors[:, kept] * np.sqrt(eigenvalues[kept])


def _squared_distances(left: FloatArray, right: FloatArray, unit: float) -> FloatArray:
    """Squares (a, b) of the distances between label rows, in that unit.

    From the middle of the rows, as squares of what they have in common would drown their differences.
    """
    middle = 0.5 * (right.min(axis=0) + right.max(axis=0))
    left, right = left - middle, right - middle
    if max(left.max(), -left.min(), right.max(), -right.min()) > LARGEST_RATIO * unit:
        # Rows that differ are then infinitely far from each other, for all that a kernel can tell.
        with np.errstate(over="ignore"):
            return (cdist(left, right) / unit) ** 2
    left /= unit
    right /= unit
    squares = left @ (-2.0 * right.T)
    squares += np.einsum("ij,ij->i", left, left)[:, None]
    squares += np.einsum("ij,ij->i", right, right)
    return np.maximum(squares, 0.0, out=squares)
