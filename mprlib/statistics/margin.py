"""MPR +- t: the reference's sampling error, for all selections at once.

For any selection, |MPR against the sample - MPR against the population| is at most

    sup over c in C of | sum_g (q_g - Q_g) c_g |,

with q the sample's shares and Q the population's. t is the (1 - delta) quantile of that distance
with a resample q* in the place of q, and q in the place of Q; the class (masses N and scale D) is
held fixed. Since the distance does not look at the selection, one t serves every selection of the
pool, optimised ones included.

A percentile bootstrap of MPR itself does not do: MPR is a norm, resampling inflates it, and near
zero the whole interval lies above the truth.
"""

from __future__ import annotations

import numpy as np

from mprlib.cells import Cells, cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.saturated import Saturated
from mprlib.problem import FloatArray, Problem
from mprlib.registry import function_class as registered
from mprlib.statistics.gaps import closed_form_gaps

# Entries of a block of resamples, 80 MB.
LARGEST_BLOCK = 10_000_000


def sampling_margin(
    problem: Problem,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> float:
    """t such that MPR +- t covers the MPR against the whole population, in the class's own units.

    Meant for references that are samples; balanced and stated shares have no sampling error.
    Classes without a closed form
    (trees, networks, forests) take a larger t that holds for all functions: saturated's, or for
    {-1, +1} functions sum |q* - q|; it covers the class's MPR, which a heuristic oracle's value
    may miss by more.

    Returns: t >= 0; never more than needed to cover every value the class can take.
    Raises:  InputError for a confidence outside (0, 1) or fewer than 1 resample.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}: a probability between 0 and 1 is expected")
    if resamples < 1:
        raise InputError(f"resamples is {resamples}: at least 1 is expected")
    chosen = registered(function_class)
    key = ("margin", chosen, confidence, resamples, seed)
    return problem.cached(key, lambda: _margin(problem, chosen, confidence, resamples, seed))


def _margin(problem: Problem, chosen: FunctionClass, confidence: float, resamples: int, seed: int) -> float:
    oracle = chosen.bind(problem)
    cells = cells_of(problem)
    random = np.random.default_rng(seed)
    block = max(1, LARGEST_BLOCK // cells.size)
    distances = []
    for start in range(0, resamples, block):
        differences = resampled_shares(problem, cells, min(block, resamples - start), random) - cells.reference_shares
        gaps = closed_form_gaps(oracle, differences)
        if gaps is None and chosen.is_normalised:
            gaps = closed_form_gaps(Saturated().bind(problem), differences)
        elif gaps is None:
            gaps = np.abs(differences).sum(axis=1)
        distances.append(gaps)
    return float(np.quantile(np.concatenate(distances), confidence, method="higher"))


def resampled_shares(problem: Problem, cells: Cells, count: int, random: np.random.Generator) -> FloatArray:
    """Cell shares (count, G) of resamples of the reference.

    Equal rows are resampled in cells, which is the same as row by row; a reference with a stated
    size likewise. Weighted rows are drawn one by one, since a cell's weights may be its own.
    """
    weights = problem.reference_weights
    if problem.reference_size is not None or np.ptp(weights) == 0:
        rows = max(1, round(problem.m))
        return random.multinomial(rows, cells.reference_shares / cells.reference_shares.sum(), size=count) / rows
    is_drawn = weights > 0
    row_weight, row_cell = weights[is_drawn], cells.reference_cell[is_drawn]
    shares = np.empty((count, cells.size))
    for place in range(count):
        drawn = random.integers(row_weight.size, size=row_weight.size)
        totals = np.bincount(row_cell[drawn], row_weight[drawn], cells.size)
        shares[place] = totals / totals.sum()
    return shares
