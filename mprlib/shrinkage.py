"""How far a sample's shares are expected to be beside the population's, given the sample.

A share by itself errs to either side alike. Among many, those that are far from a simpler model of all of them are so
by noise in part: of ten groups of equal size the one that is largest in the sample is too large there. What is fitted
to the sample's shares is fitted to that noise.

The models are nested: equal shares; independent attributes, of which one after the other has its shares in the sample;
joint shares of all pairs of attributes; and the sample itself. Each is a step from the one before, of f degrees of
freedom and a size chi^2, which is f on average where the population is at the simpler model already: the part (f - 2) /
chi^2 of a step, at most all of it, is taken for noise. *Example*: of ten cells chi^2 = 40 from equal shares: 7/40 of
what tells the sample from equal shares.

Source:  James and Stein 1961, by the argument of Efron and Morris 1973; Deming and Stephan 1940 for the models' fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.cells import Cells
from mprlib.problem import Problem
from mprlib.reference import Reference

# Margins of all models times cells, some 20 ms of fitting: of more, as of continuous labels, models are left out.
MOST_TERMS = 100_000
# Rounds of fitting. Without gaps among the cells independence takes one or two, pairs some five.
MOST_ROUNDS = 30
# A fit whose margins are this close to the sample's has as many digits as an estimate of noise can use.
CLOSE = 1e-6


def errors_in_cells(problem: Problem, cells: Cells) -> FloatArray:
    """What the reference's shares of cells (G,) are expected to have too much; of cells that are the pool's alone
    nothing is known."""
    population, attributes = problem.population, tuple(problem.attributes.values())
    own = population.kept.get(("expected errors", attributes), lambda: expected_errors(population, attributes))
    errors, places = np.zeros(cells.size), cells.reference_cell
    errors[places[places >= 0]] = own[places >= 0]
    return errors


def expected_errors(population: Reference, attributes: Sequence[Sequence[int]]) -> FloatArray:
    """What the shares of a sample's cells are expected to have too much (G,), given the sample.

    attributes: the columns of each.
    """
    shares = population.shares
    found = np.zeros(shares.size)
    coarse, free = _equal(shares.size), 0
    for fine, more in _models(population, attributes):
        step = fine - coarse
        squares = population.effective_size * float(np.sum(step**2 / coarse))
        # Of fewer than three degrees of freedom it is not known how much is noise.
        noise = max(more - free - 2, 0)
        found += min(1.0, noise / squares if squares > 0 else 0.0) * step
        coarse, free = fine, more
    return found


def _models(population: Reference, attributes: Sequence[Sequence[int]]) -> Iterator[tuple[FloatArray, int]]:
    """The shares (G,) that each model beyond equal shares fits, and how many of them are free; the simplest first."""
    shares, number = population.shares, len(attributes)
    fitted, free, codes = _equal(shares.size), 0, list[IntArray]()
    # One attribute is the sample itself, and so are two as a pair.
    if number > 1 and number * (number + 1) // 2 * shares.size <= MOST_TERMS:
        for own in attributes:
            codes.append(_codes(population, [own]))
            fitted, free = _fitted(fitted, shares, codes), free + int(codes[-1].max())
            yield fitted, free
        if number > 2:
            of_pairs = [_codes(population, pair) for pair in combinations(attributes, 2)]
            free += sum(int(one.max() * other.max()) for one, other in combinations(codes, 2))
            yield _fitted(fitted, shares, of_pairs), free
    yield shares, shares.size - 1


def _equal(cells: int) -> FloatArray:
    return np.full(cells, 1.0 / cells)


def _codes(population: Reference, attributes: Sequence[Sequence[int]]) -> IntArray:
    """Which of the combinations of some attributes' levels each cell (G,) has."""
    return distinct_rows(population.labels[:, [column for own in attributes for column in own]])[1]


def _fitted(start: FloatArray, shares: FloatArray, codes: Sequence[IntArray]) -> FloatArray:
    """The start, scaled until its margins by each of the codes (G,) are those of the shares."""
    fitted, margins = start.copy(), [np.bincount(code, shares) for code in codes]
    for _ in range(MOST_ROUNDS):
        furthest = 0.0
        for code, margin in zip(codes, margins):
            ratios = margin / np.bincount(code, fitted)
            furthest = max(furthest, float(np.abs(ratios - 1.0).max()))
            fitted *= ratios[code]
        if furthest <= CLOSE:
            break
    return fitted
