"""What the cutting plane asks of a linear solver; `highs` and `backend` answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mprlib.problem import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class LinearSolution:
    """An optimal vertex.

    Shapes:  weights (N,), on the reduced pool's items, in [0, 1]; prices (cuts,), >= 0.
    """

    weights: FloatArray
    rho: float
    prices: FloatArray


class LinearModel(Protocol):
    """The relaxation over a growing set of cuts."""

    row_count: int

    def add_cut(self, cut: FloatArray) -> None: ...

    def drop_cuts(self, rows: list[int]) -> None: ...

    def maximise_similarity(self, rho: float) -> LinearSolution | None: ...

    def minimise_rho(self) -> LinearSolution: ...
