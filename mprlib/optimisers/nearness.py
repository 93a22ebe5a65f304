"""Starts near the reference: counts that are close to its shares in every cell at once.

Over cuts a climb sees only the functions found so far, and where few whole sets meet rho each repair
uncovers one function more. Counts near the reference's shares are near for every function: the
saturated ball's value, exact and fast, is what a climb can lower instead. Its rho is a part of
top-k's own saturated value, the part that the class's rho is of top-k's MPR, then less and less:
the larger parts cost less similarity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mprlib.function_classes.base import Oracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.region import MANY_CELLS, BallRegion
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.relaxing import centred_features
from mprlib.optimisers.rounding import Climb
from mprlib.problem import IntArray, Problem

# Parts of top-k's saturated value tried for one rho, in multiples of rho's part of top-k's MPR.
PARTS = (1.1, 1.0, 0.9, 0.8, 0.6, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Nearness:
    """The saturated ball of one problem, and top-k's values in it and in the class."""

    pool: CellPool
    region: BallRegion
    top_saturated: float
    top_value: float

    @classmethod
    def of(cls, problem: Problem, oracle: Oracle, pool: CellPool, top_value: float) -> Nearness | None:
        """The ball, or None where cells are so many that each holds an item or none."""
        if pool.cell_count > MANY_CELLS or top_value <= 0:
            return None
        saturated = SaturatedOracle(cells=oracle.cells, scale=problem.scale)
        region = BallRegion(centred_features(saturated, problem.k))
        return cls(
            pool=pool,
            region=region,
            top_saturated=region.value(pool.top_counts(problem)),
            top_value=top_value,
        )

    def starts(self, counts: IntArray, relaxation: Relaxation) -> Iterator[IntArray]:
        """Counts (G,) after climbs from these towards smaller and smaller saturated values."""
        for part in PARTS:
            rho = part * self.top_saturated * relaxation.rho / self.top_value
            counts = Climb.of(replace(relaxation, rho=rho), self.pool, self.region).top(counts)
            yield counts
