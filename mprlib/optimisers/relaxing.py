"""Which relaxation serves which function class, and the region that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mprlib.cells import Cells, selection_weights
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import Oracle, WorstCase, unit_of
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.optimisers.ball_path import BallPath
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.cutting_plane import CuttingPlane
from mprlib.optimisers.kernel_region import KernelRegion
from mprlib.optimisers.region import BallRegion, CutRegion, Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.problem import FloatArray, Problem

# The saturated class has a feature a cell; above this many its dense features cost more than cuts.
LARGEST_DIAGONAL = 512
# Cells with items above which labels are embeddings, and the exact walk passes too many events.
LARGEST_WALK = 512
# Steps of the search for fractional counts at MPR 0, and the residual that counts as 0.
LARGEST_ZERO_STEPS = 25
ZERO_RESIDUAL = 1e-11
# How far of the way to the nearest limit a step goes: counts stay inside and can move again.
STEP_FRACTION = 0.9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Relaxed:
    """The relaxation for each rho, falling, and the region for rounding."""

    rows: list[Relaxation]
    region: Region


def relaxed(problem: Problem, oracle: Oracle, pool: CellPool, rhos: Sequence[float]) -> Relaxed:
    """The relaxations for falling rho: a ball's exact walk, cuts for every other class."""
    top_value = oracle.worst_case(selection_weights(problem, problem.best_first[: problem.k])).value
    unit = unit_of(oracle)
    slack = [top_k_relaxation(problem, pool, rho) for rho in rhos if rho >= top_value]
    binding = [rho for rho in rhos if rho < top_value]
    region = ball_region(oracle, problem.k)
    if region is not None:
        features = region.features
        if np.count_nonzero(pool.capacity) > LARGEST_WALK:
            rows = slack + SmoothPath(features, pool).walk(binding)
            return Relaxed(rows=rows, region=region)
        rows = BallPath(features, pool).walk(binding)
        if rows is None:
            programme = ConeProgramme(features, pool)
            rows = [programme.relaxation(rho) for rho in binding]
        rows = slack + rows
        rho_min = _known_floor(rows, features, pool, oracle.cells.reference_shares)
        return Relaxed(rows=[replace(row, rho_min=rho_min) for row in rows], region=region)
    plane = CuttingPlane(_InUnits(oracle, unit), pool, problem.n, pool.top_counts(problem))
    rows = slack + [_of_unit(row, unit) for row in plane.walk([rho / unit for rho in binding])]
    return Relaxed(
        rows=[replace(row, rho=rho) for row, rho in zip(rows, rhos)], region=CutRegion(plane.cuts * unit, unit)
    )


@dataclass(frozen=True, slots=True)
class _InUnits:
    """An oracle whose values are those of another in units of that size, for solvers with tolerances of their own."""

    oracle: Oracle
    unit: float

    @property
    def cells(self) -> Cells:
        return self.oracle.cells

    def worst_case(self, weights: FloatArray) -> WorstCase:
        worst = self.oracle.worst_case(weights)
        return replace(
            worst,
            value=worst.value / self.unit,
            upper_bound=worst.upper_bound / self.unit,
            function=worst.function / self.unit,
            unit=1.0,
        )


def _of_unit(row: Relaxation, unit: float) -> Relaxation:
    """A relaxation of values in units of that size, in the class's own."""
    rho_min = None if row.rho_min is None else row.rho_min * unit
    return replace(row, rho=row.rho * unit, multiplier=row.multiplier / unit, rho_min=rho_min)


def top_k_relaxation(problem: Problem, pool: CellPool, rho: float) -> Relaxation:
    """The relaxation of a rho that top-k meets: top-k itself."""
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
    if isinstance(oracle, KernelOracle):
        return KernelRegion(oracle, k)
    features = centred_features(oracle, k)
    return None if features is None else BallRegion(features, unit_of(oracle))


def centred_features(oracle: Oracle, k: int) -> FloatArray | None:
    """Features (G, r) of a ball, centred and per item of a selection of k; None for other classes."""
    if isinstance(oracle, SaturatedOracle) and oracle.cells.size <= LARGEST_DIAGONAL:
        features = np.diag(np.sqrt(oracle.scale / oracle.cells.masses))
    elif isinstance(oracle, Ball):
        features = oracle.features
    else:
        return None
    return (features - oracle.cells.reference_shares @ features) / k


def _known_floor(rows: list[Relaxation], features: FloatArray, pool: CellPool, shares: FloatArray) -> float | None:
    """rho_min where the walk found it, or 0 where fractional counts with MPR 0 are at hand."""
    if rows[-1].rho_min is not None:
        return rows[-1].rho_min
    return 0.0 if _reaches_zero(features, pool, shares) else None


def _reaches_zero(features: FloatArray, pool: CellPool, shares: FloatArray) -> bool:
    """Whether counts inside [0, capacity] with sum k and M'x = 0 were found.

    Starts at the reference's own shares, cut to the capacities, and takes affine-scaling steps:
    least squares in which a cell weighs what room it has.
    """
    counts = np.minimum(pool.k * shares, pool.capacity)
    longest = float(np.abs(features).max(initial=0.0)) or 1.0
    system = np.column_stack([features / (pool.k * longest), np.ones(counts.size) / pool.k])
    target = np.append(np.zeros(features.shape[1]), 1.0)
    for _ in range(LARGEST_ZERO_STEPS):
        residual = target - counts @ system
        if np.linalg.norm(residual) <= ZERO_RESIDUAL:
            return True
        room = np.minimum(counts, pool.capacity - counts)
        scaled = system * room[:, None]
        step = room * (scaled @ np.linalg.lstsq(scaled.T @ scaled, residual, rcond=1e-12)[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(step > 0, (pool.capacity - counts) / step, np.where(step < 0, -counts / step, np.inf))
        counts = counts + step * min(1.0, STEP_FRACTION * float(np.min(limits, initial=np.inf)))
    return False
