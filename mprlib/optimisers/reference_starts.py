"""Starts for local search near the reference: counts whose shares are close to its shares in every cell.

Over cuts a local search sees only the functions found so far, and where few whole sets meet rho, each repair
uncovers one more function. Counts near the reference's shares have a small gap for every function; their
distance is the value of the saturated ball, which is exact and fast. So local search in that ball gives
starts, for falling limits on the saturated value: larger limits cost less similarity. Limits are parts of
top-k's saturated value, in proportion to rho's part of top-k's MPR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mprlib.arrays import IntArray
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.optimisers.ball_region import BallRegion, centred_features
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.local_search import LocalSearch
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator

# Limits on the saturated value, in multiples of the one in proportion to rho. A class rarely sees less than its
# proportion, hence the few values around 1; 0 asks for the set nearest to the reference.
LIMITS = (1.1, 1.0, 0.9, 0.8, 0.6, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ReferenceStarts:
    """The saturated ball of one problem, and top-k's values in it and in the class."""

    pool: CellPool
    region: BallRegion
    top_saturated: float
    top_value: float

    @classmethod
    def of(cls, separator: Separator, top_counts: IntArray, top_value: float) -> ReferenceStarts | None:
        """None where shares of cells say nothing, with an item or none in each, and where top-k has MPR 0."""
        problem, pool = separator.problem, separator.pool
        saturated = SaturatedOracle(cells=separator.oracle.cells, scale=problem.scale)
        features = centred_features(saturated, problem.k)
        if features is None or top_value <= 0:
            return None
        region = BallRegion(features)
        return cls(pool=pool, region=region, top_saturated=region.value(top_counts), top_value=top_value)

    def starts(self, counts: IntArray, relaxation: Relaxation) -> Iterator[IntArray]:
        """Local optima (G,) in the saturated ball, from these counts on, each from the last."""
        for limit in LIMITS:
            rho = limit * self.top_saturated * relaxation.rho / self.top_value
            counts = LocalSearch.of(replace(relaxation, rho=rho), self.pool, self.region).optimum(counts)
            yield counts
