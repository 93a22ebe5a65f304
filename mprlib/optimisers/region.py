"""Where whole counts may lie: the optimiser's own, fast view of MPR <= rho.

A region values counts (G,) and what becomes of them by moves, one item of a giving cell for one of
a taking cell. The ball's values are MPR itself; those over cuts are lower bounds, which the
measuring code corrects by naming a function that was missing. Neither ever accepts a set: the
measuring code does.

With M_g = (phi_g - sum_h q_h phi_h) / k the ball's value is |v|, v = sum_g x_g M_g. A move adds
d = M_taking - M_giving, and two moves give |v + d + e|^2 = |v + d|^2 + |v + e|^2 - |v|^2 + 2 d.e.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mprlib.problem import FloatArray, IntArray

# Above this many cells few of them hold a selection: items with embeddings as labels.
MANY_CELLS = 512


class Region(Protocol):
    """Values of counts, and of counts after moves."""

    # The size of the class's values: roundings are parts of it.
    unit: float
    # Cells among which items are swapped, swaps of which all pairs are valued at once, and how often.
    cell_limit: int
    pair_moves: int
    pair_steps: int

    def value(self, counts: IntArray) -> float: ...

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        """Values (c, c) after one item of the row's cell gives way to one of the column's."""
        ...

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        """Values (w, w) after two of the w moves, from giving (w,) to taking (w,)."""
        ...


class BallRegion:
    """Exact values from centred features (G, r), per item."""

    cell_limit = 40
    pair_moves = 96
    pair_steps = 8

    def __init__(self, features: FloatArray, unit: float = 1.0) -> None:
        self.features = features
        self.unit = unit
        self._squares = np.einsum("ij,ij->i", features, features)

    def value(self, counts: IntArray) -> float:
        gap = counts @ self.features
        return float(np.sqrt(gap @ gap))

    def products(self, cells: IntArray, cell: int) -> FloatArray:
        """M_g . M_h (c,) of some cells g with one cell h."""
        # No BLAS: its sums may depend on the number of threads.
        return np.einsum("ij,j->i", self.features[cells], self.features[cell])

    def squares(self, cells: IntArray) -> FloatArray:
        """|M_g|^2 (c,) of some cells."""
        return self._squares[cells]

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        gap = counts @ self.features
        own = self.features[cells]
        # |v + M_h - M_g|^2 as a sum of a row's, a column's and a product's part.
        lean = 2.0 * (own @ gap)
        squares = (-2.0 * own) @ own.T
        squares += (self._squares[cells] + lean)[None, :]
        squares += (self._squares[cells] - lean + gap @ gap)[:, None]
        np.maximum(squares, 0.0, out=squares)
        return np.sqrt(squares, out=squares)

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        gap = counts @ self.features
        moves = self.features[taking] - self.features[giving]
        single = np.einsum("ij,ij->i", moves, moves) + 2.0 * (moves @ gap)
        squares = (2.0 * moves) @ moves.T
        squares += single[None, :]
        squares += (single + gap @ gap)[:, None]
        np.maximum(squares, 0.0, out=squares)
        return np.sqrt(squares, out=squares)


class CutRegion:
    """Lower bounds from the cuts (J, G) found so far, of either sign."""

    cell_limit = 16
    pair_moves = 24
    pair_steps = 1

    def __init__(self, cuts: FloatArray, unit: float = 1.0) -> None:
        self.cuts = cuts
        self.unit = unit

    def add(self, cut: FloatArray) -> None:
        """One more cut (G,)."""
        self.cuts = np.vstack([self.cuts, cut])

    def value(self, counts: IntArray) -> float:
        return float(np.max(np.abs(self.cuts @ counts), initial=0.0))

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        own = self.cuts[:, cells]
        return _largest(own - (self.cuts @ counts)[:, None], own)

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        moves = self.cuts[:, taking] - self.cuts[:, giving]
        return _largest(-moves - (self.cuts @ counts)[:, None], moves)


def _largest(left: FloatArray, right: FloatArray) -> FloatArray:
    """max over cuts of |right_b - left_a|, (a, b); 0 without cuts."""
    largest = np.zeros((left.shape[1], right.shape[1]))
    if left.shape[0] == 0:
        return largest
    change = right[:, None, :] - left[:, :, None]
    return np.maximum(change.max(axis=0), -change.min(axis=0))
