"""The region of a unit ball: exact values from centred features.

With M_g = (phi_g - sum_h q_h phi_h) / k, MPR is |v|, v = sum_g x_g M_g. A move from cell g to cell h adds
d = M_h - M_g, and two moves d, e give |v + d + e|^2 = |v + d|^2 + |v + e|^2 - |v|^2 + 2 d.e.

Worked example: M = (1, -1) and x = (1, 0): v = 1; after the only move v = -1.

>>> BallRegion(np.array([[1.0], [-1.0]])).swap_values(np.array([1, 0]), np.array([0, 1])).tolist()
[[1.0, 1.0], [3.0, 1.0]]
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.base import Oracle, WorstCase
from mprlib.optimisers.region import Neighbourhood


class BallRegion:
    """Values from centred features (G, r) per item."""

    # 1,600 moves in one matrix product of 40 rows: tens of microseconds.
    neighbourhood = Neighbourhood(cells=40, moves_in_pairs=96, pair_steps=8)
    is_exact = True
    # Features give every product; a part of them still bounds values from below.
    is_complete = True
    cut_count = 0

    def __init__(self, features: FloatArray, unit: float = 1.0) -> None:
        self.features = features
        self.unit = unit

    @cached_property
    def _squares(self) -> FloatArray:
        squares: FloatArray = np.einsum("ij,ij->i", self.features, self.features)
        return squares

    @property
    def ball(self) -> BallRegion:
        """Itself."""
        return self

    @property
    def directions(self) -> FloatArray:
        """The features: every coordinate of v is at most |v|."""
        return self.features

    def value(self, counts: IntArray) -> float:
        """|v|."""
        gap = counts @ self.features
        return math.sqrt(gap @ gap)

    def values(self, gaps: FloatArray) -> FloatArray:
        """Their lengths."""
        lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
        return lengths

    def complete(self, cells: IntArray, known: int, products: FloatArray) -> None:
        """Write the products (c, c) of some cells (c,) with each other, but for those of the first `known`."""
        from mprlib.optimisers.item_swap_kernel import complete

        if cells.size < 2:
            products[:] = self.squares(cells)
            return
        own = self.features[cells]
        # The loop takes rows and columns in twos.
        own = np.pad(own, ((0, 0), (0, own.shape[1] % 2)))
        complete(own, known, products)

    def squares(self, cells: IntArray) -> FloatArray:
        """|M_g|^2 (c,) of some cells."""
        squares: FloatArray = self._squares[cells]
        return squares

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        """|v + M_h - M_g| (c, c) for g the row's cell and h the column's."""
        gap = counts @ self.features
        own = self.features[cells]
        # A sum of a row's part, a column's part and a product.
        twice_dot_v = 2.0 * (own @ gap)
        squares = (-2.0 * own) @ own.T
        squares += (self._squares[cells] + twice_dot_v)[None, :]
        squares += (self._squares[cells] - twice_dot_v + gap @ gap)[:, None]
        np.maximum(squares, 0.0, out=squares)
        return np.sqrt(squares, out=squares)

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        """|v + d + e| (w, w) for all pairs of moves."""
        gap = counts @ self.features
        moves = self.features[taking] - self.features[giving]
        single = np.einsum("ij,ij->i", moves, moves) + 2.0 * (moves @ gap)
        squares = (2.0 * moves) @ moves.T
        squares += single[None, :]
        squares += (single + gap @ gap)[:, None]
        np.maximum(squares, 0.0, out=squares)
        return np.sqrt(squares, out=squares)

    def separate(self, counts: IntArray, worst: WorstCase) -> bool:
        """Never: the ball's value is MPR, and what it misses is rounding."""
        return False

    def first_cuts(self, counts: FloatArray) -> FloatArray:
        """The ball's cuts along its axes, and along v of the relaxation's optimum."""
        gap = counts @ self.features
        length = np.linalg.norm(gap)
        axes = np.eye(self.features.shape[1])
        directions = np.vstack([axes, -axes] + ([gap / length] if length > 0 else []))
        return directions @ self.features.T


def centred_features(oracle: Oracle, k: int) -> FloatArray | None:
    """M (G, r), centred and per item of a selection of k; None where the class has no features at hand."""
    features = oracle.ball_features()
    return None if features is None else (features - oracle.cells.reference_shares @ features) / k
