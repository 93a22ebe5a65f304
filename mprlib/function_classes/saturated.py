"""All functions of the labels under C'; the ceiling of every normalised class.

MPR^2 = D sum_g (p_g - q_g)^2 / N_g. With continuous labels each row is a cell and the value
approaches 1 whatever is selected, so it then says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import MANY_CELLS, Cells, cells_of
from mprlib.function_classes.base import CellOracle, FunctionClass, WorstCase
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Saturated(FunctionClass):
    """Every function of the labels, scaled as C'.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "saturated").value, 4)
    0.4082
    """

    name: ClassVar[str] = "saturated"
    is_exact: ClassVar[bool] = True

    def bind(self, problem: Problem) -> SaturatedOracle:
        """The oracle on the problem's cells."""
        return SaturatedOracle(cells=cells_of(problem), scale=problem.scale)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class SaturatedOracle(CellOracle):
    """Exact; the best function is (p_g - q_g) / N_g, scaled."""

    cells: Cells
    scale: float

    def ball_features(self) -> FloatArray | None:
        """One feature per cell, sqrt(D / N_g); of many cells the dense matrix would cost more than cuts."""
        return np.diag(np.sqrt(self.scale / self.cells.masses)) if self.cells.size <= MANY_CELLS else None

    def worst_in(self, differences: FloatArray) -> WorstCase:
        """sqrt(D sum (p - q)^2 / N) and the function that attains it."""
        raw = differences / self.cells.masses
        square = float(differences @ raw)
        value = np.sqrt(self.scale * square)
        function = raw * np.sqrt(self.scale / square) if square > 0 else raw
        return WorstCase(value=float(value), upper_bound=float(value), is_exact=True, function=function)
