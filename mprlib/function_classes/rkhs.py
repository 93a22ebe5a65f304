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
from typing import Annotated, ClassVar

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.problem import Problem
from mprlib.settings import Choice, Number, Whole

KERNELS = ("gaussian", "polynomial", "linear")
# An eigenproblem of this size takes about half a second; above it columns are formed on demand.
LARGEST_EIGEN_CELLS = 1024
# Rows of the median heuristic's sample, and of a block of kernel columns (20 MB at 20,000 rows).
MEDIAN_SAMPLE = 1024
BLOCK_ROWS = 128
# Where half of the pairs are nearer and half are farther the median is the lower one, whatever sums round to.
TIED = 1e-9
# Distances in bandwidths above this are not squared: their kernel is 0 long before.
LARGEST_RATIO = 1e100
# Positive, and its square neither vanishes nor overflows.
BANDWIDTH = Number(least=1e-100, most=1e100)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rkhs(FunctionClass):
    """Functions of norm at most 1 in a kernel's space; values have the kernel's own scale.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "rkhs").value, 4)
    0.4435
    """

    name: ClassVar[str] = "rkhs"
    is_exact: ClassVar[bool] = True

    kernel: Annotated[
        str,
        Choice(KERNELS),
        "gaussian exp(-d^2 / (2 bandwidth^2)) of the distance d, polynomial (x.y + offset)^degree, or linear x.y",
    ] = "gaussian"
    bandwidth: Annotated[
        float | None, BANDWIDTH, "of the gaussian; default: the median distance between unequal rows"
    ] = None
    degree: Annotated[int, Whole(least=1, most=16), "of the polynomial"] = 2
    # Not below 0: the kernel stays positive.
    offset: Annotated[float, Number(least=0, most=1e6), "of the polynomial"] = 1.0

    @property
    def is_normalised(self) -> bool:
        """No: values have the kernel's own scale."""
        return False

    def bind(self, problem: Problem) -> Oracle:
        """A Ball where cells are few, else the oracle on kernel columns; the same values."""
        return problem.cached(("rkhs", self), lambda: self._build(cells_of(problem)))

    def _build(self, cells: Cells) -> Oracle:
        if self.kernel == "linear":
            return Ball.of(cells, cells.labels, unit_of(np.sum(cells.labels**2, axis=1)))
        # Only the gaussian has a bandwidth.
        bandwidth = self.bandwidth or (median_distance(cells) if self.kernel == "gaussian" else 1.0)
        kernel = Kernel(settings=self, bandwidth=bandwidth)
        if cells.size <= LARGEST_EIGEN_CELLS:
            matrix = kernel.matrix(cells.labels, cells.labels)
            return Ball.of(cells, _square_root(matrix), unit_of(np.diagonal(matrix)))
        return KernelOracle.of(cells, kernel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """A kernel with its bandwidth settled."""

    settings: Rkhs
    bandwidth: float

    def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """K (a, b) between label rows (a, l) and (b, l)."""
        if self.settings.kernel == "polynomial":
            return (left @ right.T + self.settings.offset) ** self.settings.degree
        similarities: FloatArray = np.exp(-0.5 * _squared_distances(left, right, self.bandwidth))
        return similarities

    def squares(self, labels: FloatArray) -> FloatArray:
        """K(x, x) (a,) of label rows (a, l)."""
        if self.settings.kernel == "polynomial":
            squares: FloatArray = (np.sum(labels**2, axis=1) + self.settings.offset) ** self.settings.degree
            return squares
        return np.ones(labels.shape[0])


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class PreparedRows:
    """Rows whose kernel with some of them is asked for again and again.

    Shapes:  labels (c, l), of a gaussian kernel from the middle of all, in bandwidths; lengths (c,), their squares.
    """

    kernel: Kernel
    labels: FloatArray
    lengths: FloatArray | None

    @classmethod
    def prepared(cls, kernel: Kernel, labels: FloatArray) -> PreparedRows:
        """All rows of a problem."""
        if kernel.settings.kernel == "polynomial":
            return cls(kernel=kernel, labels=labels, lengths=None)
        middle = 0.5 * (labels.min(axis=0) + labels.max(axis=0))
        if np.abs(labels - middle).max(initial=0.0) > LARGEST_RATIO * kernel.bandwidth:
            return cls(kernel=kernel, labels=labels, lengths=None)
        rows = (labels - middle) / kernel.bandwidth
        return cls(kernel=kernel, labels=rows, lengths=np.einsum("ij,ij->i", rows, rows))

    def of(self, cells: IntArray) -> PreparedRows:
        """Some of them (c,)."""
        lengths = None if self.lengths is None else self.lengths[cells]
        return PreparedRows(kernel=self.kernel, labels=self.labels[cells], lengths=lengths)

    def with_some(self, places: IntArray) -> FloatArray:
        """K (c, p) of all with those at some places (p,)."""
        if self.lengths is None:
            return self.kernel.matrix(self.labels, self.labels[places])
        similarities = self.labels @ self.labels[places].T
        # -d^2 / 2, in the place of the products.
        similarities -= 0.5 * self.lengths[:, None]
        similarities -= 0.5 * self.lengths[places]
        np.minimum(similarities, 0.0, out=similarities)
        return np.exp(similarities, out=similarities)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class KernelRows:
    """Rows of some cells under a kernel that is centred at the reference: K(i, j) - f_i - f_j + q'K q, f = K q."""

    rows: PreparedRows
    function: FloatArray
    reference_square: float

    @property
    def squares(self) -> FloatArray:
        """K(i, i) - 2 f_i + q'K q (c,)."""
        own: FloatArray = np.ones(self.function.size)
        if self.rows.lengths is None:
            own = self.rows.kernel.squares(self.rows.labels)
        return own - 2.0 * self.function + self.reference_square

    def products(self, places: IntArray) -> FloatArray:
        """The kernel (c, p) of all with those at some places (p,)."""
        products = self.rows.with_some(places)
        products -= self.function[:, None]
        products -= self.function[places] - self.reference_square
        return products


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class KernelOracle(Oracle):
    """Exact without a square root of the kernel matrix.

    Shapes:  reference_function (G,) = K q, the reference's mean embedding on the cells.
    reference_square = q'K q.
    """

    cells: Cells
    kernel: Kernel
    rows: PreparedRows
    reference_function: FloatArray
    reference_square: float

    @classmethod
    def of(cls, cells: Cells, kernel: Kernel) -> KernelOracle:
        """The oracle, with the reference's part computed block by block."""
        rows = PreparedRows.prepared(kernel, cells.labels)
        embedded = _embedding(rows, cells.reference_shares)
        return cls(
            cells=cells,
            kernel=kernel,
            rows=rows,
            reference_function=embedded,
            reference_square=float(cells.reference_shares @ embedded),
        )

    @property
    def largest_square(self) -> float:
        """kappa, the largest K(x, x): functions of the ball take values up to its root."""
        return float(self.kernel.squares(self.cells.labels).max())

    @property
    def unit(self) -> float:
        """The size of its values, a power of ten."""
        return unit_of(self.kernel.squares(self.cells.labels))

    def ball_products(self) -> KernelOracle:
        """Itself: the kernel is the product of its features."""
        return self

    def centred_rows(self, cells: IntArray) -> KernelRows:
        """The rows of some cells (c,)."""
        return KernelRows(
            rows=self.rows.of(cells), function=self.reference_function[cells], reference_square=self.reference_square
        )

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The norm of the mean embeddings' difference, clamped at 0, and the function along it."""
        shares = self.cells.shares(weights)
        function = _embedding(self.rows, shares) - self.reference_function
        square = float((shares - self.cells.reference_shares) @ function)
        value = float(np.sqrt(max(square, 0.0)))
        return WorstCase(
            value=value,
            upper_bound=value,
            is_exact=True,
            function=function / value if value > 0 else np.zeros_like(function),
            unit=self.unit,
        )


def unit_of(squares: FloatArray) -> float:
    """The power of ten nearest to the longest feature, given K(x, x) (G,): kernels have the labels' units."""
    longest = float(np.sqrt(np.max(squares, initial=0.0)))
    return float(10.0 ** np.rint(np.log10(longest))) if longest > 0 else 1.0


def median_distance(cells: Cells) -> float:
    """Median distance between rows of pool and reference that differ.

    Pairs of equal rows are left out: with few cells they may be the majority, and a bandwidth of 0
    gives all pairs of cells the same value. With many cells, an evenly spaced sample is taken.
    """
    sample = np.rint(np.linspace(0, cells.size - 1, min(cells.size, MEDIAN_SAMPLE))).astype(np.intp)
    labels, masses = cells.labels[sample], cells.masses[sample]
    if sample.size < 2:
        return 1.0
    first, second = np.triu_indices(sample.size, k=1)
    # By differences, in the condensed order of these pairs: rows that differ have a distance above 0.
    unit = np.ptp(labels, axis=0).max()
    distances = np.maximum(scipy.spatial.distance.pdist(labels / unit), 1.0 / LARGEST_RATIO) * unit
    order = np.argsort(distances)
    passed = np.cumsum((masses[first] * masses[second])[order])
    return float(distances[order[np.searchsorted(passed, passed[-1] / 2 * (1.0 - TIED))]])


def _embedding(rows: PreparedRows, shares: FloatArray) -> FloatArray:
    """sum_h K(., h) shares_h (G,), over the cells that have a share."""
    support = np.flatnonzero(shares)
    total = np.zeros(shares.size)
    for start in range(0, support.size, BLOCK_ROWS):
        block = support[start : start + BLOCK_ROWS]
        total += rows.with_some(block) @ shares[block]
    return total


def _square_root(matrix: FloatArray) -> FloatArray:
    """Features (G, r) with features features' = matrix; directions of rounding size are dropped."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    kept = eigenvalues > np.finfo(float).eps * matrix.shape[0] * eigenvalues[-1]
    features: FloatArray = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    return features


def _squared_distances(left: FloatArray, right: FloatArray, unit: float) -> FloatArray:
    """Squares (a, b) of the distances between label rows, in that unit.

    From the middle of the rows, as squares of what they have in common would drown their differences.
    """
    middle = 0.5 * (right.min(axis=0) + right.max(axis=0))
    left, right = left - middle, right - middle
    if max(left.max(), -left.min(), right.max(), -right.min()) > LARGEST_RATIO * unit:
        # Rows that differ are then infinitely far from each other, for all that a kernel can tell.
        with np.errstate(over="ignore"):
            squares: FloatArray = (scipy.spatial.distance.cdist(left, right) / unit) ** 2
            return squares
    left /= unit
    right /= unit
    squares = left @ (-2.0 * right.T)
    squares += np.einsum("ij,ij->i", left, left)[:, None]
    squares += np.einsum("ij,ij->i", right, right)
    return np.maximum(squares, 0.0, out=squares)
