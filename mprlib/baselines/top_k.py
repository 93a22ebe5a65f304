"""The k most similar items; ties by item id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class TopK(FixedBaseline):
    """The k most similar items.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "top_k").items.tolist()
    [0, 1]
    """

    name: ClassVar[str] = "top_k"
    reads_reference: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = False

    def choose(self, problem: Problem) -> Chosen:
        """The first k of the pool's order."""
        return Chosen(items=problem.best_first[: problem.k])
