"""The linear programme of one pool over a changing set of cuts, for rho after rho.

`auto` is the simplex method of `cell_programme`, over all items; should rounding spoil one of its optima, HiGHS goes on
with the same cuts. `highs` and `gurobi` get the items of a window around the last optimum's counts, which is opened
anew for each rho, and wider where an optimum touches its edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.optimisers.backend import SolverName, linear_model
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cell_programme import CellProgramme
from mprlib.optimisers.linear_model import FIRST_MARGIN, LinearModel, LinearSolution, Window

# Distance from the edge of a window at which a count touches it: the solvers' own tolerance.
EDGE = 1e-8
# Windows that one rho opens at most: doubled that often, a margin holds any k.
LARGEST_WINDOWS = 64


class Programme(Protocol):
    """The programme and its cuts (J, G). solved: how many optima it was asked for."""

    solved: int

    @property
    def cuts(self) -> FloatArray:
        """The cuts that are held now."""
        ...

    def add_cut(self, cut: FloatArray) -> None:
        """One more row; cut (G,) centred and per item."""
        ...

    def is_needed(self) -> BoolArray:
        """Which cuts (J,) the next optimum starts from, so that they cannot be dropped."""
        ...

    def keep(self, kept: Sequence[int]) -> None:
        """Drop all cuts but these."""
        ...

    def maximised(self, rho: float) -> LinearSolution | None:
        """The optimum at this rho, None when infeasible.

        Raises:  SolverError where the solver met its limits.
        """
        ...


def programme_of(pool: CellPool, solver: SolverName, start: IntArray) -> Programme:
    """The programme without cuts, whose optimum is near whole counts (G,)."""
    return _Cells(pool, start) if solver == "auto" else _Windowed(pool, solver, start, np.empty((0, pool.cell_count)))


def over_all_items(pool: CellPool, solver: SolverName, cuts: FloatArray) -> LinearModel:
    """A solver's model of all items under some cuts."""
    return _model(Window.of(pool, np.zeros_like(pool.capacity), pool.capacity), solver, cuts)


class _Cells:
    """By `cell_programme`, and by HiGHS from the first optimum on that rounding spoils."""

    def __init__(self, pool: CellPool, start: IntArray) -> None:
        self.solved = 0
        self._pool, self._start = pool, start
        self._own: CellProgramme | _Windowed = CellProgramme(pool)

    @property
    def cuts(self) -> FloatArray:
        return self._own.cuts

    def add_cut(self, cut: FloatArray) -> None:
        self._own.add_cut(cut)

    def is_needed(self) -> BoolArray:
        return self._own.is_needed()

    def keep(self, kept: Sequence[int]) -> None:
        self._own.keep(kept)

    def maximised(self, rho: float) -> LinearSolution | None:
        self.solved += 1
        try:
            return self._own.maximised(rho)
        except PathLost:
            self._own = _Windowed(self._pool, "highs", self._start, self.cuts)
            return self._own.maximised(rho)


class _Windowed:
    """By a solver, over the items of a window."""

    def __init__(self, pool: CellPool, solver: SolverName, start: IntArray, cuts: FloatArray) -> None:
        self.solved = 0
        self._pool, self._solver = pool, solver
        self._outer: FloatArray = start.astype(float)
        self._cuts = list(cuts)
        self._rho: float | None = None
        self._margin = FIRST_MARGIN
        self._window, self._model = self._open(FIRST_MARGIN)

    @property
    def cuts(self) -> FloatArray:
        return np.array(self._cuts).reshape(len(self._cuts), self._pool.cell_count)

    def add_cut(self, cut: FloatArray) -> None:
        self._cuts.append(cut)
        self._model.add_cut(cut)

    def is_needed(self) -> BoolArray:
        return np.zeros(len(self._cuts), dtype=bool)

    def keep(self, kept: Sequence[int]) -> None:
        self._cuts = [self._cuts[row] for row in kept]
        self._rho = None

    def maximised(self, rho: float) -> LinearSolution | None:
        if rho != self._rho:
            self._rho = rho
            self._reopen(FIRST_MARGIN)
        for _ in range(LARGEST_WINDOWS):
            self.solved += 1
            solution = self._model.maximise_similarity(rho)
            if solution is None and self._window.is_partial(self._pool):
                self._reopen(self._pool.k)
            elif solution is not None and self._window.is_touched(self._pool, solution.counts, EDGE):
                self._reopen(2 * self._margin)
            else:
                break
        if solution is not None:
            self._outer = solution.counts
        return solution

    def _reopen(self, margin: int) -> None:
        self._margin = margin
        self._window, self._model = self._open(margin)

    def _open(self, margin: int) -> tuple[Window, LinearModel]:
        """A model of the items around the last optimum's counts, with all cuts."""
        window = Window.around(self._pool, self._outer, margin)
        return window, _model(window, self._solver, self._cuts)


def _model(window: Window, solver: SolverName, cuts: Sequence[FloatArray] | FloatArray) -> LinearModel:
    model = linear_model(window, solver)
    for cut in cuts:
        model.add_cut(cut)
    return model
