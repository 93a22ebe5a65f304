"""What a heuristic for whole sets is to its callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.relaxation import Relaxation


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Incumbent:
    """The best counts (G,) found that meet rho; the closest to rho where none does (is_feasible is false).

    bound: proven, on the total similarity of every set that meets rho; -inf where none does.
    oracle_calls: how often the measuring code was asked for it. nodes: nodes of the search for a proof.
    """

    counts: IntArray
    is_feasible: bool
    bound: float = np.inf
    oracle_calls: int = 0
    nodes: int = 0

    def with_bound(self, bound: float, *, nodes: int = 0, oracle_calls: int = 0) -> Incumbent:
        """The same counts under this bound."""
        return Incumbent(
            counts=self.counts, is_feasible=self.is_feasible, bound=bound, oracle_calls=oracle_calls, nodes=nodes
        )


class SetSearch(Protocol):
    """A heuristic for the best whole counts of one rho."""

    def best(self, relaxation: Relaxation, previous: IntArray | None) -> Incumbent:
        """The incumbent, from a relaxation's optimum and the incumbent counts (G,) of a smaller rho."""
        ...

    def improved(self, counts: IntArray, relaxation: Relaxation) -> IntArray:
        """Counts (G,) that meet rho, at least as similar as these, which do."""
        ...
