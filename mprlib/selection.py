"""What a method returns for one value of its parameter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mprlib.problem import IntArray

# Guards the division where a similarity bound is zero.
SMALLEST_BOUND = 1e-12


class Status(StrEnum):
    """How much is known of a selection.

    optimal     meets rho, proven best
    feasible    meets rho by the measured value
    infeasible  proven: rho < rho_min; items are the closest set found
    not_found   no set found, nothing proven; items are the closest set found
    time_limit  a back-stop was hit; items are the best set until then
    done        the method has no rho
    failed      no items; the message says why
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not_found"
    TIME_LIMIT = "time_limit"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Selection:
    """k distinct items, and what is proven of them.

    Shapes:  items (k,), positions in the pool, best first; (0,) when the status is failed.
    similarity, relaxation_bound and similarity_bound are means over the k items: the selection's
    own, the convex relaxation's optimum, and the tightest proven bound on any set that meets rho.
    mpr is the measuring code's value under the function class of the call.
    """

    items: IntArray
    status: Status
    method: str
    value: float | None
    similarity: float | None
    mpr: float | None
    mpr_upper_bound: float | None
    rho: float | None = None
    rho_min: float | None = None
    relaxation_bound: float | None = None
    similarity_bound: float | None = None
    solve_seconds: float = 0.0
    message: str = ""

    @property
    def gap(self) -> float | None:
        """(bound - similarity) / |bound|: how far from the best it can be.

        None without a bound, and for a set that exceeds rho: the bound is on sets that meet it.
        """
        if self.similarity_bound is None or self.similarity is None:
            return None
        if self.rho is not None and self.mpr > self.rho:
            return None
        return (self.similarity_bound - self.similarity) / max(abs(self.similarity_bound), SMALLEST_BOUND)
