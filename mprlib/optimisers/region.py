"""Where whole counts may lie: the optimiser's own, fast view of MPR <= rho.

A region values counts (G,) and every swap of one item of a cell for one of another. The ball's
values are MPR itself; those over cuts are lower bounds, which the measuring code corrects by
naming a function that was missing. Neither ever accepts a set: the measuring code does.

With M_g = (phi_g - sum_h q_h phi_h) / k the ball's value is |v|, v = sum_g x_g M_g, and a swap of
cell g for cell h gives |v + M_h - M_g|^2 = |v|^2 + 2 v.(M_h - M_g) + |M_h - M_g|^2.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mprlib.problem import FloatArray, IntArray


class Region(Protocol):
    """Values of counts over the cells that it was made for."""

    def value(self, counts: IntArray) -> float: ...

    def swap_values(self, counts: IntArray) -> FloatArray: ...


class BallRegion:
    """Exact values from centred features (G, r), per item."""

    def __init__(self, features: FloatArray) -> None:
        self.features = features
        gram = features @ features.T
        squares = np.diagonal(gram)
        self._distances = squares[:, None] + squares[None, :] - 2.0 * gram

    def value(self, counts: IntArray) -> float:
        """MPR of whole counts."""
        return float(np.linalg.norm(counts @ self.features))

    def swap_values(self, counts: IntArray) -> FloatArray:
        """MPR (G, G) after one item of the row's cell gives way to one of the column's."""
        difference = counts @ self.features
        slope = 2.0 * (self.features @ difference)
        squares = self._distances + slope[None, :]
        squares -= slope[:, None]
        squares += difference @ difference
        return np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)


class CutRegion:
    """Lower bounds from the cuts (J, G) found so far, of either sign."""

    def __init__(self, cuts: FloatArray) -> None:
        self.cuts = cuts

    def add(self, cut: FloatArray) -> None:
        """One more cut (G,)."""
        self.cuts = np.vstack([self.cuts, cut])

    def value(self, counts: IntArray) -> float:
        """The largest gap that a known function sees."""
        return float(np.max(np.abs(self.cuts @ counts), initial=0.0))

    def swap_values(self, counts: IntArray) -> FloatArray:
        """The same (G, G) after one item of the row's cell gives way to one of the column's."""
        size = self.cuts.shape[1]
        highest, lowest = np.full((size, size), 0.0), np.full((size, size), 0.0)
        for cut, gap in zip(self.cuts, self.cuts @ counts):
            change = cut[None, :] - (cut - gap)[:, None]
            np.maximum(highest, change, out=highest)
            np.minimum(lowest, change, out=lowest)
        return np.maximum(highest, -lowest)
