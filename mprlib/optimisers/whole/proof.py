"""What is proven of the whole counts of one problem and class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mprlib.arrays import IntArray
from mprlib.optimisers.relaxation import Relaxation


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Floor:
    """No set of k items has an MPR below rho; `counts` (G,) attain it, or are the closest ones known.

    is_attained: the counts attain it, so that rho is the smallest one possible.
    """

    rho: float
    counts: IntArray
    is_attained: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Searched:
    """The result of one search for sets that are better than the incumbent.

    counts (G,): the best set found, None where none is better than the incumbent.
    bound: on the total similarity of every set that meets rho; -inf where none does.
    is_complete: the incumbent, or `counts`, is the best set; where there is neither, no set meets rho.
    """

    counts: IntArray | None
    bound: float
    is_complete: bool
    nodes: int = 0


class WholeProof(Protocol):
    """The proofs of one class on whole counts."""

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest rho, from counts (G,) with that MPR and within a number of nodes."""
        ...

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best set that meets a relaxation's rho, from an incumbent that does, within a number of nodes."""
        ...

    def obstacle(self, rho: float) -> str:
        """Why no whole counts meet rho, where a sentence says it; else empty."""
        ...
