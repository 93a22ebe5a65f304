"""Which method solves the relaxation of which class, and the region in which its sets are searched.

unit ball, up to MANY_CELLS cells with items    the exact path; the cone programme where rounding ends it
unit ball, more                                 projected gradients, each item a variable of its own
any other class                                 cutting planes from its oracle
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells
from mprlib.function_classes.base import Oracle, WorstCase, measured
from mprlib.optimisers.backend import SolverName
from mprlib.optimisers.ball_line import PathLost
from mprlib.optimisers.ball_path import BallPath
from mprlib.optimisers.ball_region import BallRegion, centred_features
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cut_region import CutRegion
from mprlib.optimisers.cutting_plane import CuttingPlane
from mprlib.optimisers.kernel_region import KernelRegion
from mprlib.optimisers.region import Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.optimisers.zero_gap import attains_zero
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class SolvedRelaxations:
    """The relaxation for each rho, falling, the region for whole counts, and top-k's MPR."""

    rows: list[Relaxation]
    region: Region
    top_value: float


def solve_relaxations(
    problem: Problem, oracle: Oracle, pool: CellPool, rhos: Sequence[float], solver: SolverName = "auto"
) -> SolvedRelaxations:
    """The relaxations for falling rho."""
    top_value = measured(problem, oracle, problem.best_first[: problem.k]).value
    slack = [top_k_relaxation(problem, pool, rho) for rho in rhos if rho >= top_value]
    binding = [rho for rho in rhos if rho < top_value]
    ball = ball_region(oracle, problem.k)
    if ball is None:
        rows, region = _by_cutting_planes(problem, oracle, pool, binding, solver)
        return SolvedRelaxations(rows=slack + rows, region=region, top_value=top_value)
    if pool.has_many_filled_cells:
        rows = slack + SmoothPath(ball.features, pool).solve(binding)
        return SolvedRelaxations(rows=rows, region=ball, top_value=top_value)
    rows = slack + (_by_path(ball.features, pool, binding) if binding else [])
    rho_min = _smallest_rho(rows, ball.features, pool, oracle.cells.reference_shares)
    rows = [row if row.rho_min == rho_min else replace(row, rho_min=rho_min) for row in rows]
    return SolvedRelaxations(rows=rows, region=ball, top_value=top_value)


def top_k_relaxation(problem: Problem, pool: CellPool, rho: float) -> Relaxation:
    """The relaxation for a rho that top-k meets: top-k itself."""
    counts = pool.top_counts(problem)
    return Relaxation(
        rho=rho,
        counts=counts.astype(float),
        price=np.zeros(pool.cell_count),
        multiplier=0.0,
        bound=pool.similarity(counts),
        rho_min=None,
    )


def ball_region(oracle: Oracle, k: int) -> BallRegion | None:
    """The region of a unit ball for selections of k; None for other classes."""
    features, products = centred_features(oracle, k), oracle.ball_products()
    if features is not None:
        return BallRegion(features, oracle.unit)
    return None if products is None else KernelRegion(products, oracle.cells, oracle.unit, k)


def _by_path(features: FloatArray, pool: CellPool, rhos: list[float]) -> list[Relaxation]:
    try:
        return BallPath(features, pool).solve(rhos)
    except PathLost:
        from mprlib.optimisers.cone import ConeProgramme

        programme = ConeProgramme(features, pool)
        return [programme.relaxation(rho) for rho in rhos]


def _by_cutting_planes(
    problem: Problem, oracle: Oracle, pool: CellPool, rhos: list[float], solver: SolverName
) -> tuple[list[Relaxation], CutRegion]:
    unit, shares = oracle.unit, oracle.cells.reference_shares
    if not rhos:
        none = np.empty((0, pool.cell_count))
        return [], CutRegion(none, reference_shares=shares, k=problem.k, unit=unit)
    scaled = oracle if unit == 1.0 else _ScaledOracle(oracle=oracle, cells=oracle.cells, divisor=unit)
    plane = CuttingPlane(scaled, pool, problem.n, pool.top_counts(problem), solver)
    rows = plane.solve([rho / unit for rho in rhos])
    if unit != 1.0:
        rows = [_times(row, rho, unit) for row, rho in zip(rows, rhos)]
    return rows, CutRegion(plane.cuts * unit, reference_shares=shares, k=problem.k, unit=unit)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _ScaledOracle(Oracle):
    """An oracle whose values are divided by their unit, for solvers whose tolerances are absolute."""

    oracle: Oracle
    cells: Cells
    divisor: float

    def worst_case(self, weights: FloatArray) -> WorstCase:
        return self._scaled(self.oracle.worst_case(weights))

    def worst_cases(self, weights: FloatArray, most: int) -> list[WorstCase]:
        return [self._scaled(one) for one in self.oracle.worst_cases(weights, most)]

    def _scaled(self, worst: WorstCase) -> WorstCase:
        return replace(
            worst,
            value=worst.value / self.divisor,
            upper_bound=worst.upper_bound / self.divisor,
            function=worst.function / self.divisor,
            unit=1.0,
        )


def _times(row: Relaxation, rho: float, unit: float) -> Relaxation:
    """A relaxation of values in that unit, in the class's own, in which this is its rho."""
    rho_min = None if row.rho_min is None else row.rho_min * unit
    return replace(row, rho=rho, multiplier=row.multiplier / unit, rho_min=rho_min)


def _smallest_rho(rows: list[Relaxation], features: FloatArray, pool: CellPool, shares: FloatArray) -> float | None:
    """The rho_min that the path ended at, or 0 where fractional counts with MPR 0 are found; else not known."""
    if rows[-1].rho_min is not None:
        return rows[-1].rho_min
    return 0.0 if attains_zero(features, pool, shares) else None
