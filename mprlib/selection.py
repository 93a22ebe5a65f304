"""What a method returns for one value of its parameter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from numpy.typing import NDArray

from mprlib.arrays import IntArray
from mprlib.errors import InputError
from mprlib.frames import output
from mprlib.html import facts
from mprlib.spelling import numbered

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

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "mopr", 0.1, "groups").status is mprlib.Status.OPTIMAL
    True
    >>> [status.value for status in mprlib.Status]
    ['optimal', 'feasible', 'infeasible', 'not_found', 'time_limit', 'done', 'failed']
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not_found"
    TIME_LIMIT = "time_limit"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class SolveStatistics:
    """Counts of the work behind one selection; the same in every run, as no timings are among them.

    relaxation_steps: iterations for this rho: breakpoints of the exact path, values of the multiplier t,
    interior-point iterations, or linear programmes. oracle_calls: how often the function class was asked for
    its worst function. cuts: functions held as cuts when the row was done; 0 for unit balls.
    rounds: integer programmes, each with one more lazy cut. nodes: their nodes of branch and bound.
    """

    relaxation_steps: int = 0
    oracle_calls: int = 0
    cuts: int = 0
    rounds: int = 0
    nodes: int = 0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, repr=False)
class Selection:
    """k distinct items, and what is proven of them.

    Shapes:  items (k,), positions in the pool, best first, or as a re-ranker's order="fair" has them; (0,) when the
             status is failed.
    similarity, relaxation_bound and similarity_bound are means over the k items: the selection's
    own, the convex relaxation's optimum, and the tightest proven bound on any set that meets rho.
    mpr is the measuring code's value under the function class of the call.
    p_rho: the probability that the true MPR is at most rho where labels may be wrong; None where they are taken as
    right. Status, then, is about the true MPR.
    statistics: what the solve took, None for methods that solve no optimisation problem.
    ids (k,): those of the items, where the problem has any.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> row = mprlib.select(problem, "mopr", 0.1, "groups")
    >>> row.items.tolist(), row.status.value, row.mpr
    ([0, 2], 'optimal', 0.0)
    >>> round(row.similarity, 3), round(row.similarity_bound, 3), row.gap
    (0.8, 0.8, 0.0)
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
    statistics: SolveStatistics | None = None
    p_rho: float | None = None
    ids: NDArray[Any] | None = None

    @property
    def gap(self) -> float | None:
        """(bound - similarity) / |bound|: how far from the best it can be.

        None without a bound, and for a set that exceeds rho: the bound is on sets that meet it.
        """
        if self.similarity_bound is None or self.similarity is None:
            return None
        if self.rho is not None and self.mpr is not None and self.mpr > self.rho:
            return None
        # Halves, which are exact: the difference of the largest numbers is none.
        half = self.similarity_bound / 2 - self.similarity / 2
        return 2 * (half / max(abs(self.similarity_bound), SMALLEST_BOUND))

    def to_frame(self, candidates: Any = None, kind: str | None = None) -> Any:
        """The selected rows of the candidates, best first, with their `rank` from 1 on before them.

        candidates: the frame that the problem was made of, of whatever library; the result is of the same. Without
        it, a frame of rank, item (the position) and id; kind: pandas, polars or pyarrow.

        >>> import mprlib
        >>> candidates = {"sex": ["man", "woman"], "score": [0.2, 0.9]}
        >>> problem = mprlib.Problem.from_frames(candidates, candidates, score="score", attributes=["sex"], k=1)
        >>> import pandas
        >>> mprlib.select(problem, "top_k", None, "groups").to_frame(pandas.DataFrame(candidates))
           rank    sex  score
        1     1  woman    0.9

        Raises:  InputError for a failed selection, and for a frame that is another than the problem was made of.
        """
        if self.status == Status.FAILED:
            raise InputError(f"the selection has no items: {self.message}")
        rank, items = list(range(1, self.items.size + 1)), self.items.tolist()
        if candidates is not None:
            return output.rows_of("candidates", candidates, items, {"rank": rank})
        ids = {} if self.ids is None else {"id": self.ids.tolist()}
        return output.made({"rank": rank, "item": items, **ids}, kind)

    def __repr__(self) -> str:
        facts_of = ", ".join(f"{name}={value:.4g}" for name, value in self._facts().items() if value is not None)
        value = (
            ""
            if self.value is None
            else f" at {self.value:.4g}"
            if isinstance(self.value, float)
            else f" at {self.value}"
        )
        return f"Selection({self.method}{value}: {self.status.value}, {numbered(self.items.size, 'item')}, {facts_of})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        told = {"status": self.status.value, "items": self.items.size, **self._facts(), "message": self.message}
        return facts(f"Selection by {self.method}", told)

    def _facts(self) -> dict[str, float | None]:
        return {"similarity": self.similarity, "mpr": self.mpr, "rho": self.rho, "gap": self.gap}
