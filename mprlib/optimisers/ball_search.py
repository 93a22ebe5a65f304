"""Local search over whole counts in a ball, whose values are products of features: that of `local_search`, compiled."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.local_search import (
    BORDER,
    LARGEST_MOVES_PER_ITEM,
    LARGEST_PENALTY_STEPS,
    PENALTY_GROWTH,
    SMALLEST_GAIN,
    enough_of,
)
from mprlib.optimisers.relaxation import Relaxation


class BallSearch:
    """The search over one pool."""

    def __init__(self, pool: CellPool, ball: BallRegion) -> None:
        from mprlib.optimisers import ascent_kernel as kernel

        self._kernel, self._ball, self._pool = kernel, ball, pool
        self._features = np.ascontiguousarray(ball.features)
        self._scores = kernel.Scores(
            pool.k, pool.scores, pool.capacity, pool.first, pool.marginals, pool.offset, pool.sums, pool.starts
        )
        # With a multiplier of 0 the range of all similarities is the first penalty.
        self._range = float(np.ptp(pool.scores)) * pool.k

    def optima(self, relaxation: Relaxation, starts: list[IntArray], slack: float = BORDER) -> list[IntArray]:
        """A local optimum from each whole counts (G,); values up to rho + slack, in the class's unit, meet rho.

        It violates rho only where no penalty led inside.
        """
        size = self._ball.neighbourhood
        limits = self._kernel.Limits(
            rho=relaxation.rho + slack * self._ball.unit,
            penalty=max(relaxation.multiplier, self._range),
            growth=PENALTY_GROWTH,
            enough=enough_of(relaxation),
            smallest_gain=SMALLEST_GAIN,
            ascents=LARGEST_PENALTY_STEPS,
            moves=LARGEST_MOVES_PER_ITEM * self._pool.k,
            moves_in_pairs=size.moves_in_pairs,
            pair_steps=size.pair_steps,
        )
        found = np.array(starts, dtype=np.int64)
        self._kernel.optima(self._scores, self._features, relaxation.price, limits, size.cells, found)
        return list(found)
