"""MPR +- t: the reference's sampling error, for all selections at once.

For any selection, |MPR against the sample - MPR against the population| is at most

    sup over c in C of | sum_g (q_g - Q_g) c_g |,

with q the sample's shares and Q the population's. t is the (1 - delta) quantile of that distance
with a resample q* in the place of q, and q in the place of Q. Since the distance does not look at
the selection, one t serves every selection of the pool, optimised ones included.

The saturated class weighs each cell by 1/N_g, and N_g counts the sample's own rows: a cell that the
sample drew too rarely weighs more. With few rows a cell, a resample at fixed N does not show that
(coverage fell to 82% with 8 rows a cell). So there N is taken from the resample, and resamples are
drawn from shares with one row added to each cell (Laplace), since a cell that the sample missed
would otherwise never vary. **Deviation** from the simpler rule of a fixed N for all classes.

A percentile bootstrap of MPR itself does not do: MPR is a norm, resampling inflates it, and near
zero the whole interval is above the truth.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.assumptions import warn_of_assumption
from mprlib.cells import Cells, cells_of
from mprlib.declarations import strict
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Whole

# Rows added to each cell before resampling for the saturated class; half a row (Jeffreys) covers
# two points less with few rows a cell.
ADDED_ROWS = 1.0
# Entries of a block of resamples, 80 MB.
LARGEST_BLOCK = 10_000_000
# Entries of resamples that a problem keeps for its other classes, 8 MB.
LARGEST_KEPT = 1_000_000


@strict
def sampling_margin(
    problem: Problem,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = 1000,
    seed: Annotated[int, SEED] = 0,
) -> float:
    """t such that MPR +- t covers the MPR against the whole population, in the class's own units.

    Meant for references that are samples; balanced and stated shares have no sampling error.
    Classes without a closed form
    (trees, networks, forests) take a larger t that holds for all functions: saturated's, or for
    {-1, +1} functions sum |q* - q|; it covers the class's MPR, which a heuristic oracle's value
    may miss by more. A kernel on continuous labels takes the bound that its values allow.

    Returns: t >= 0; never more than needed to cover every value the class can take.
    Raises:  InputError for a confidence outside (0, 1) or fewer than 1 resample.
    """
    chosen = registered(function_class)
    warn_of_assumption(problem, "the margin depends")
    key = ("margin", chosen, confidence, resamples, seed)
    return problem.cached(key, lambda: _margin(problem, chosen, confidence, resamples, seed))


def _margin(problem: Problem, chosen: FunctionClass, confidence: float, resamples: int, seed: int) -> float:
    oracle = chosen.bind(problem)
    if isinstance(oracle, KernelOracle):
        # Gretton et al. 2012: the mean embedding's error has a mean of at most sqrt(kappa / m), and
        # one row moves it by 2 sqrt(kappa) / m (McDiarmid). A resample would cost all pairs of rows.
        spread = oracle.largest_square / problem.m
        return float(np.sqrt(spread) * (1.0 + np.sqrt(2.0 * np.log(1.0 / (1.0 - confidence)))))
    block = max(1, LARGEST_BLOCK // cells_of(problem).size)
    starts = range(0, resamples, block)
    distances = np.concatenate(
        [_distances(problem, chosen, min(block, resamples - start), [seed, start]) for start in starts]
    )
    margin = float(np.quantile(distances, confidence, method="higher"))
    # Under C' MPR is in [0, 1], and so does any difference of two.
    return min(margin, 1.0) if chosen.is_normalised else margin


def _distances(problem: Problem, chosen: FunctionClass, count: int, seed: list[int]) -> FloatArray:
    """The distance (count,) of each resample from what it was drawn from, as the class sees it."""
    cells, oracle = cells_of(problem), chosen.bind(problem)
    if isinstance(oracle, (Ball, GroupsOracle)):
        return closed_form_gaps(oracle, _drawn(problem, count, seed) - cells.reference_shares)
    if not chosen.is_normalised:
        distances: FloatArray = np.abs(_drawn(problem, count, seed) - cells.reference_shares).sum(axis=1)
        return distances
    shares = _smoothed(problem, cells)
    drawn = _drawn(problem, count, seed, shares)
    masses = cells.pool_counts + problem.m * drawn
    squares = np.divide((drawn - shares) ** 2, masses, out=np.zeros_like(drawn), where=masses > 0)
    values: FloatArray = np.sqrt(problem.scale * squares.sum(axis=1))
    return values


def _drawn(problem: Problem, count: int, seed: list[int], shares: FloatArray | None = None) -> FloatArray:
    """Resamples (count, G) of one seed; weighted rows, which are slow to draw, are drawn once for all classes."""
    cells = cells_of(problem)
    if _is_drawn_in_cells(problem) or count * cells.size > LARGEST_KEPT:
        return resampled_shares(problem, cells, count, np.random.default_rng(seed), shares)
    key = ("resamples", count, *seed)
    return problem.cached(key, lambda: resampled_shares(problem, cells, count, np.random.default_rng(seed)))


def _smoothed(problem: Problem, cells: Cells) -> FloatArray:
    """Reference shares (G,) with one row more in each cell; weighted rows are drawn as they are."""
    if not _is_drawn_in_cells(problem):
        return cells.reference_shares
    smoothed = problem.m * cells.reference_shares + ADDED_ROWS
    shares: FloatArray = smoothed / smoothed.sum()
    return shares


def _is_drawn_in_cells(problem: Problem) -> bool:
    """Equal rows are resampled in cells, which is the same as row by row; so is a stated size."""
    return problem.reference_size is not None or np.ptp(problem.reference_weights) == 0


def resampled_shares(
    problem: Problem, cells: Cells, count: int, random: np.random.Generator, shares: FloatArray | None = None
) -> FloatArray:
    """Cell shares (count, G) of resamples of the reference, or of m rows with the given shares.

    Weighted rows are drawn one by one, since a cell's weights may be its own.
    """
    if _is_drawn_in_cells(problem):
        shares = cells.reference_shares if shares is None else shares
        rows = max(1, round(problem.m))
        return random.multinomial(rows, shares / shares.sum(), size=count) / rows
    is_drawn = cells.reference_cell >= 0
    row_weight, row_cell = problem.reference_weights[is_drawn], cells.reference_cell[is_drawn]
    resamples = np.empty((count, cells.size))
    for place in range(count):
        drawn = random.integers(row_weight.size, size=row_weight.size)
        totals = np.bincount(row_cell[drawn], row_weight[drawn], cells.size)
        resamples[place] = totals / totals.sum()
    return resamples
