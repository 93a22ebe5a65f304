"""The k most similar items; ties by item id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class TopK(FixedBaseline):
    """The k most similar items."""

    name: ClassVar[str] = "top_k"
    reads_labels: ClassVar[bool] = False

    def choose(self, problem: Problem) -> Chosen:
        """The first k of the pool's order."""
        return Chosen(items=problem.best_first[: problem.k])
