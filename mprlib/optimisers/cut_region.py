"""The region of a class known by its cuts so far: value(x) = max_j |cut_j . x|, a lower bound on MPR.

Separation adds a cut whenever the measuring code names a function that sees a larger gap.

Worked example: without cuts every value is 0; the cut (1, -1) gives counts (2, 1) the value 1.

>>> region = CutRegion(np.array([[1.0, -1.0]]), reference_shares=np.array([0.5, 0.5]), k=3)
>>> region.value(np.array([2, 1]))
1.0
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.base import WorstCase
from mprlib.optimisers.region import Neighbourhood
from mprlib.optimisers.relaxation import centred_cut

# A measured value that exceeds the region's by less than this, relative to the value and in the class's unit, is
# the same sum in another order: it adds no cut.
SAME_VALUE = 1e-12


class CutRegion:
    """Lower bounds from the cuts (J, G) found so far, each with both signs."""

    # Smaller than a ball's: a value costs J products, with J growing, and is a lower bound on MPR only.
    neighbourhood = Neighbourhood(cells=16, moves_in_pairs=24, pair_steps=1)
    is_exact = False
    ball = None

    def __init__(self, cuts: FloatArray, *, reference_shares: FloatArray, k: int, unit: float = 1.0) -> None:
        self.cuts = cuts
        self.unit = unit
        self._reference_shares = reference_shares
        self._k = k

    @property
    def cut_count(self) -> int:
        """J."""
        count: int = self.cuts.shape[0]
        return count

    @property
    def directions(self) -> FloatArray:
        """The cuts."""
        return self.cuts.T

    def value(self, counts: IntArray) -> float:
        """The largest gap that a cut sees."""
        return float(np.max(np.abs(self.cuts @ counts), initial=0.0))

    def values(self, gaps: FloatArray) -> FloatArray:
        """Their largest coordinates; 0 without cuts."""
        largest: FloatArray = np.abs(gaps).max(axis=1, initial=0.0)
        return largest

    def swap_values(self, counts: IntArray, cells: IntArray) -> FloatArray:
        """Values (c, c) after a move from the row's cell to the column's."""
        from mprlib.optimisers import cut_region_kernel as kernel

        values: FloatArray = np.zeros((cells.size, cells.size))
        kernel.after_swaps(self.cuts, cells, self.cuts @ counts, values)
        return values

    def pair_values(self, counts: IntArray, giving: IntArray, taking: IntArray) -> FloatArray:
        """Values (w, w) after two of the moves."""
        from mprlib.optimisers import cut_region_kernel as kernel

        values: FloatArray = np.zeros((giving.size, giving.size))
        kernel.after_pairs(self.cuts, giving, taking, self.cuts @ counts, values)
        return values

    def separate(self, counts: IntArray, worst: WorstCase) -> bool:
        """Add the named function as a cut where it sees more than all cuts; whether it did."""
        if worst.value <= self.value(counts) * (1 + SAME_VALUE) + SAME_VALUE * self.unit:
            return False
        self.cuts = np.vstack([self.cuts, centred_cut(worst.function, self._reference_shares, self._k)])
        return True

    def first_cuts(self, counts: FloatArray) -> FloatArray:
        """All of them."""
        return self.cuts
