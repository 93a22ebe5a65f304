"""Compiled loops over bins and cells: the log posterior density of a score model's parameters.

Columns are bins, so that what is done to a cell is done to all bins at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.compiled import compiled

# A probability below this is 0 for any number of items, and has a logarithm.
SMALLEST = 1e-300
# Sums of products of factors below this are taken from the sums of their logarithms instead.
SMALLEST_SUM = 1e-200


class Seen(NamedTuple):
    """What is seen of a pool.

    Shapes:  features (R, F) of bins, sizes (R,), places (R,) of their first items in the order of scores; levels
             (G, axes) of the cells, counted through all axes, and starts (axes + 1,) of the axes' first ones; counts
             (K, G, R) of labels by which axes are known by hand, and is_wrong (K, axes) where labels may be wrong.
    """

    features: FloatArray
    sizes: FloatArray
    places: IntArray
    levels: IntArray
    starts: IntArray
    counts: FloatArray
    is_wrong: BoolArray


class Given(NamedTuple):
    """Conditions that may be drawn (B draws, or one that holds for all).

    Shapes:  matrices (B, axes, L, L), P(predicted | true) of axes with fewer levels in the first corner; items
             (B, G, R), probabilities of what is seen of each bin's one item in each cell, or (0, 0, 0) for counts.
    """

    matrices: FloatArray
    items: FloatArray


class Normal(NamedTuple):
    """The prior: centre and precision (P,) of the parameters; stretches (2, levels) that levels are within."""

    centre: FloatArray
    precision: FloatArray
    stretches: IntArray


class Space(NamedTuple):
    """What one evaluation works in: logits and factors (levels, R), and cells (G, R) of four kinds."""

    logits: FloatArray
    factors: FloatArray
    prior: FloatArray
    total: FloatArray
    cells: FloatArray
    other: FloatArray


@compiled
def space(seen: Seen) -> Space:
    """Empty arrays of the right sizes."""
    cells, bins, levels = len(seen.levels), len(seen.sizes), seen.starts[-1]
    return Space(
        np.empty((levels, bins)),
        np.empty((levels, bins)),
        np.empty((cells, bins)),
        np.empty((cells, bins)),
        np.empty((cells, bins)),
        np.empty((cells, bins)),
    )


@compiled
def fill_prior(seen: Seen, stretches: IntArray, parameters: FloatArray, at: Space) -> None:
    """P(g | s) (G, R): products of a factor of the cell and one of each of its levels, over their sum."""
    (cells, axes), (bins, width) = seen.levels.shape, seen.features.shape
    for level in range(seen.starts[-1]):
        slopes = parameters[cells + level * width : cells + (level + 1) * width]
        for r in range(bins):
            grown = 0.0
            for feature in range(width):
                grown += slopes[feature] * seen.features[r, feature]
            is_within = stretches[0, level] <= seen.places[r] < stretches[1, level]
            at.logits[level, r] = grown if is_within else -np.inf
    for axis in range(axes):
        first, end = seen.starts[axis], seen.starts[axis + 1]
        for r in range(bins):
            largest = at.logits[first, r]
            for level in range(first + 1, end):
                largest = max(largest, at.logits[level, r])
            for level in range(first, end):
                at.factors[level, r] = np.exp(at.logits[level, r] - largest)
    sums, largest = np.zeros(bins), np.max(parameters[:cells])
    for cell in range(cells):
        own = np.exp(parameters[cell] - largest)
        for r in range(bins):
            at.prior[cell, r] = own
        for axis in range(axes):
            level = seen.levels[cell, axis]
            for r in range(bins):
                at.prior[cell, r] *= at.factors[level, r]
        for r in range(bins):
            sums[r] += at.prior[cell, r]
    for r in range(bins):
        if sums[r] < SMALLEST_SUM:
            sums[r] = _fill_by_logits(seen, parameters, at, r)
    for cell in range(cells):
        for r in range(bins):
            at.prior[cell, r] /= sums[r]


@compiled
def _fill_by_logits(seen: Seen, parameters: FloatArray, at: Space, r: int) -> float:
    """One bin's odds of the cells, and their sum: the factors of no cell are large together."""
    cells, axes = seen.levels.shape
    largest, total = -np.inf, 0.0
    for cell in range(cells):
        logit = parameters[cell]
        for axis in range(axes):
            logit += at.logits[seen.levels[cell, axis], r]
        at.prior[cell, r] = logit
        largest = max(largest, logit)
    for cell in range(cells):
        at.prior[cell, r] = np.exp(at.prior[cell, r] - largest)
        total += at.prior[cell, r]
    return total


@compiled
def _along(values: FloatArray, found: FloatArray, matrix: FloatArray, before: int, size: int, is_back: bool) -> None:
    """Cells (G, R) times a matrix along one axis, of this size with so many cells' levels of earlier axes before it;
    is_back: times its transpose."""
    bins, after = values.shape[1], len(values) // (before * size)
    for stack in range(before):
        for i in range(size):
            for rest in range(after):
                row = (stack * size + i) * after + rest
                for r in range(bins):
                    found[row, r] = 0.0
                for j in range(size):
                    share = matrix[i, j] if is_back else matrix[j, i]
                    if share != 0.0:
                        other = (stack * size + j) * after + rest
                        for r in range(bins):
                            found[row, r] += share * values[other, r]


@compiled
def _along_all(seen: Seen, is_wrong: BoolArray, matrices: FloatArray, at: Space, is_back: bool) -> None:
    """What is in `at.cells` times the matrix of each axis whose labels may be wrong."""
    before = 1
    for axis in range(is_wrong.size):
        size = seen.starts[axis + 1] - seen.starts[axis]
        if is_wrong[axis]:
            _along(at.cells, at.other, matrices[axis], before, size, is_back)
            at.cells[:] = at.other
        before *= size


@compiled
def expect(seen: Seen, given: Given, draw: int, at: Space) -> float:
    """The expected items of each cell over their prior shares, into `at.total`; the log likelihood."""
    (cells, bins), likelihood = at.prior.shape, 0.0
    at.total[:] = 0.0
    if given.items.size:
        items = given.items[min(draw, len(given.items) - 1)]
        for r in range(bins):
            observed = 0.0
            for cell in range(cells):
                observed += at.prior[cell, r] * items[cell, r]
            observed = max(observed, SMALLEST)
            likelihood += np.log(observed)
            for cell in range(cells):
                at.total[cell, r] = items[cell, r] / observed
        return likelihood
    matrices = given.matrices[min(draw, len(given.matrices) - 1)]
    for known in range(len(seen.counts)):
        at.cells[:] = at.prior
        _along_all(seen, seen.is_wrong[known], matrices, at, False)
        for cell in range(cells):
            for r in range(bins):
                count = seen.counts[known, cell, r]
                if count > 0.0:
                    observed = max(at.cells[cell, r], SMALLEST)
                    likelihood += count * np.log(observed)
                    at.cells[cell, r] = count / observed
                else:
                    at.cells[cell, r] = 0.0
        _along_all(seen, seen.is_wrong[known], matrices, at, True)
        for cell in range(cells):
            for r in range(bins):
                at.total[cell, r] += at.cells[cell, r]
    return likelihood


@compiled
def log_density(
    seen: Seen, given: Given, draw: int, normal: Normal, parameters: FloatArray, gradient: FloatArray, at: Space
) -> float:
    """The log posterior density of parameters (P,), up to a constant, with its gradient (P,)."""
    (cells, axes), (bins, width) = seen.levels.shape, seen.features.shape
    fill_prior(seen, normal.stretches, parameters, at)
    found = expect(seen, given, draw, at)
    at.logits[:] = 0.0
    for cell in range(cells):
        prior, total = at.prior[cell], at.total[cell]
        for r in range(bins):
            total[r] = prior[r] * (total[r] - seen.sizes[r])
        gradient[cell] = np.sum(total)
        for axis in range(axes):
            residual = at.logits[seen.levels[cell, axis]]
            for r in range(bins):
                residual[r] += total[r]
    for level in range(seen.starts[-1]):
        residual, own = at.logits[level], gradient[cells + level * width : cells + (level + 1) * width]
        own[:] = 0.0
        for r in range(bins):
            features = seen.features[r]
            for feature in range(width):
                own[feature] += residual[r] * features[feature]
    for place in range(parameters.size):
        off = parameters[place] - normal.centre[place]
        found -= 0.5 * normal.precision[place] * off * off
        gradient[place] -= normal.precision[place] * off
    return found
