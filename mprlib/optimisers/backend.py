"""Which solver runs a linear or integer programme: HiGHS, or Gurobi where its licence allows the size.

auto    the simplex method of `cell_programme` for linear programmes, Gurobi for integer ones where installed and large
        enough; HiGHS for what is left
highs   HiGHS for all
gurobi  Gurobi for all within its licence's size, else HiGHS

HiGHS takes long to load, so that its module is imported where a model is built.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from mprlib.errors import InputError
from mprlib.optimisers.gurobi import GurobiModel, gurobi_size
from mprlib.optimisers.linear_model import LinearModel, Window

SolverName = Literal["auto", "highs", "gurobi"]
SOLVERS: tuple[SolverName, ...] = get_args(SolverName)
SOLVERS_IN_WORDS = (
    "`auto` (a simplex method of its own, for integer programmes Gurobi where its licence allows, else HiGHS), "
    "`highs` or `gurobi`"
)


def checked_solver(solver: Any) -> SolverName:
    """The name, if this solver can run here.

    Raises:  InputError for an unknown name, and for gurobi where it is not installed or has no licence.
    """
    chosen: SolverName | None = solver if solver in SOLVERS else None
    if chosen is None:
        raise InputError(f"solver is {solver!r}: auto, highs or gurobi is expected")
    if chosen == "gurobi" and gurobi_size() is None:
        raise InputError(
            "solver is 'gurobi', which is not installed or has no licence: pip install gurobipy, or choose highs"
        )
    return chosen


def linear_model(window: Window, solver: SolverName) -> LinearModel:
    """The model of a linear programme, where it is a solver's.

    Left to choose, these stay with HiGHS: they are small and many, and gurobipy needs longer to build one
    than HiGHS to solve it.
    """
    return GurobiModel(window) if solver == "gurobi" and _fits(window) else _highs(window)


def integer_model(window: Window, solver: SolverName) -> LinearModel:
    """The model of an integer programme."""
    return GurobiModel(window) if solver != "highs" and _fits(window) else _highs(window)


def _highs(window: Window) -> LinearModel:
    from mprlib.optimisers.highs.model import HighsModel

    return HighsModel(window)


def _fits(window: Window) -> bool:
    size = gurobi_size()
    return size is not None and window.cell.size + 1 <= size
