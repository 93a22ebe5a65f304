"""The bootstrap of a reference's rows, drawn in cells: its cost does not depend on the number of rows.

A bootstrap draws as many rows as there are, with replacement, and weighs each kind of row (a cell, a weight) by how
often it came: these counts are multinomial. Where all rows count alike, a cell is one kind.

The rows of a cell may have many weights. They are drawn as two kinds, of the weights w- < w+ and so many rows each
that their number and the sums of the weights, of the squares and of the cubes are the cell's (Gauss's quadrature with
two nodes, which lie within the weights' range). How many rows a cell gets is then distributed as before, and given
that, its total weight has the mean, the variance and the third moment that it has when rows are drawn one by one; the
rest differs by terms of the order 1/rows. With at most two weights in a cell nothing differs.

Source:  Efron 1979 for the bootstrap; proof in docs/method.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cell_table import CellTable
from mprlib.kept import Kept
from mprlib.reference import Reference

RESAMPLES = 1000
# What is kept of resamples for the next problem: a few times what they have moved.
MOST_KEPT_BYTES = 10_000_000
# Entries of resamples that are drawn at once, 80 MB.
LARGEST_BLOCK = 10_000_000
# Rows added to each cell before resampling for the saturated class; half a row (Jeffreys) covers
# two points less with few rows a cell.
ADDED_ROWS = 1.0
# A variance of this part of the squared mean is the rounding of the sums: the weights of the cell are one.
ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Resamples:
    """Shares of a reference's cells in some resamples, (B, G) both; smoothed ones are for the saturated class.

    kept: what problems of the reference have made of them, one after the other.

    >>> import mprlib
    >>> from mprlib.statistics import Resamples
    >>> Resamples.drawn(mprlib.Reference.of([[1, 0], [0, 1]]), 100, [0, 0]).plain.shape
    (100, 2)
    """

    plain: FloatArray
    smoothed: FloatArray
    kept: Kept = field(default_factory=lambda: Kept(MOST_KEPT_BYTES), init=False, repr=False)

    @property
    def nbytes(self) -> int:
        """Memory, with what may be kept."""
        return self.plain.nbytes + self.smoothed.nbytes + MOST_KEPT_BYTES

    @classmethod
    def drawn(cls, reference: Reference, count: int, seed: Sequence[int]) -> Self:
        """That many resamples of one seed."""
        plain = resampled(reference, count, seed)
        is_same = not is_drawn_in_cells(reference)
        return cls(plain=plain, smoothed=plain if is_same else resampled(reference, count, seed, is_smoothed=True))


def resampled(reference: Reference, count: int, seed: Sequence[int], *, is_smoothed: bool = False) -> FloatArray:
    """Cell shares (count, G) of resamples of the reference, of smoothed shares where rows count alike."""
    random = np.random.default_rng(seed)
    if not is_drawn_in_cells(reference):
        return _weighted(reference.table, count, random)
    shares = smoothed(reference.effective_counts) if is_smoothed else reference.shares
    return drawn_counts(reference, shares, count, random)


def drawn_counts(reference: Reference, shares: FloatArray, count: int, random: np.random.Generator) -> FloatArray:
    """Cell shares (count, G) of as many rows as the reference has, from a population with these shares (G,)."""
    rows = max(1, round(reference.effective_size))
    return random.multinomial(rows, shares / shares.sum(), size=count) / rows


def smoothed(rows: FloatArray) -> FloatArray:
    """Shares (G,) of cells with so many rows and one more each (Laplace)."""
    more = rows + ADDED_ROWS
    shares: FloatArray = more / more.sum()
    return shares


def is_drawn_in_cells(reference: Reference) -> bool:
    """Equal rows are resampled in cells, which is the same as row by row; so is a stated size."""
    return reference.size is not None or reference.table.are_weights_equal


def _weighted(table: CellTable, count: int, random: np.random.Generator) -> FloatArray:
    weights, rows = _kinds(table)
    drawn = random.multinomial(int(table.counts.sum()), (rows / rows.sum()).ravel(), size=count)
    totals = (drawn.reshape(count, *rows.shape) * weights).sum(axis=1)
    shares: FloatArray = totals / totals.sum(axis=1, keepdims=True)
    return shares


def _kinds(table: CellTable) -> tuple[FloatArray, FloatArray]:
    """Weights, in units of the mean weight, and rows of the two kinds of each cell, (2, G) both."""
    counts = table.counts
    mean, square, cube = table.relative_powers() / counts
    variance = square - mean**2
    is_spread = (counts > 1) & (variance > ROUNDING * mean**2)
    deviation = np.sqrt(np.where(is_spread, variance, 1.0))
    # No sample of n values is more skewed than n - 1 equal ones and another.
    skewness = np.clip((cube - 3 * mean * square + 2 * mean**3) / deviation**3, -np.sqrt(counts), np.sqrt(counts))
    root = np.sqrt(skewness**2 + 4.0)
    nodes = np.clip(mean + deviation * np.array([skewness - root, skewness + root]) / 2.0, *table.relative_range())
    above = (1.0 - skewness / root) / 2.0
    return (
        np.where(is_spread, nodes, mean),
        np.where(is_spread, counts * np.array([1.0 - above, above]), counts * np.array([[1.0], [0.0]])),
    )
