"""Rows with equal labels form a cell; a function of the labels sees a selection only through cells.

For a selection with shares p_g and a reference with shares q_g over G cells, every function c of
the labels has the gap sum_g (p_g - q_g) c_g, and its norm in the normalised class C' is
sum_g N_g c_g^2 = D, where N_g counts pool rows plus (effective) reference rows of the cell.
So n + m rows become G cells without loss. With continuous labels each row is its own cell.

Worked example: pool labels [[0], [0], [1]], reference [[0], [1]], k = 1, the first item chosen:
p = (1, 0), q = (1/2, 1/2), N = (3, 2), D = 2 * 1 / (2 + 1) = 2/3.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows, sums_by, sums_by_row
from mprlib.problem import Problem

# Two shares this close are equal: sums of k weights of 1/k and of m of 1/m miss 1 by as much. Equal
# shares then have MPR 0 in every class, and can meet rho = 0.
ROUNDING = 1e-14
# Reference rows with less of the weight than this open no cell. It changes no value: under C' a cell
# with the share q adds at most sqrt(q). Its mass would be too small to divide by.
SMALLEST_WEIGHT = 1e-100
# Above this many cells labels count as continuous: most cells hold one item or none. What works on counts of cells
# (dense features, the exact path, local search between cells, enumeration) then gives way to what works on items.
MANY_CELLS = 512


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Cells:
    """Distinct label rows of pool and reference together, and how many rows of each they hold.

    Shapes:  labels (G, l), the distinct rows.
             pool_cell (n,), each item's cell; reference_cell, that of each cell of the reference, -1 where it has none.
             pool_counts (G,), items of the pool in each cell.
             reference_shares (G,), q, summing to 1.
             masses (G,), N: pool rows plus effective reference rows, all positive.
    name: of these label rows among those of the population's problems; None where they have none.
    """

    labels: FloatArray
    pool_cell: IntArray
    reference_cell: IntArray
    pool_counts: IntArray
    reference_shares: FloatArray
    masses: FloatArray
    name: Hashable = None

    @property
    def of_labels(self) -> Hashable:
        """What tells these label rows from others of the population: a key of what depends on them alone."""
        return (self.labels.shape, self.labels.tobytes()) if self.name is None else self.name

    @property
    def size(self) -> int:
        """G, the number of cells."""
        return self.masses.size

    def shares(self, weights: FloatArray) -> FloatArray:
        """Shares p (G,) of the cells under pool weights (n,) that sum to 1."""
        return sums_by(self.pool_cell, weights, self.size)

    def shares_of(self, items: IntArray, place_weights: FloatArray | None = None) -> FloatArray:
        """The same of a selection: items (any number,) that count alike, or (k,) in their order by weights (k,) of
        places. Sums are in the order of the pool, as those of all its weights are."""
        if place_weights is None:
            return sums_by(self.pool_cell[items], _equal(len(items)), self.size)
        order = np.argsort(items)
        return sums_by(self.pool_cell[items[order]], place_weights[order], self.size)

    def shares_of_each(self, selections: Sequence[IntArray], place_weights: FloatArray | None = None) -> FloatArray:
        """The same (B, G) of several selections, to the last bit."""
        if len({items.size for items in selections}) > 1:
            return np.array([self.shares_of(items, place_weights) for items in selections])
        items = np.array(selections, dtype=np.intp).reshape(len(selections), -1)
        if place_weights is None:
            return sums_by_row(self.pool_cell[items], _equal(items.shape[1]), self.size)
        order = np.argsort(items, axis=1)
        return sums_by_row(self.pool_cell[np.take_along_axis(items, order, axis=1)], place_weights[order], self.size)

    def differences(self, weights: FloatArray) -> FloatArray:
        """p - q (G,): what a selection shows too much of, or too little, in each cell."""
        return self._differences(self.shares(weights))

    def differences_of(self, items: IntArray, place_weights: FloatArray | None = None) -> FloatArray:
        """The same of a selection, as `shares_of` takes it."""
        return self._differences(self.shares_of(items, place_weights))

    def differences_in(self, counts: IntArray) -> FloatArray:
        """The same of a selection by the counts (G,) of its items, which count alike."""
        return self._differences(_multiples(int(counts.sum()))[counts])

    def differences_of_each(
        self, selections: Sequence[IntArray], place_weights: FloatArray | None = None
    ) -> FloatArray:
        """The same (B, G) of several selections."""
        return self._differences(self.shares_of_each(selections, place_weights))

    def _differences(self, shares: FloatArray) -> FloatArray:
        differences = shares - self.reference_shares
        differences[np.abs(differences) <= ROUNDING] = 0.0
        return differences


@lru_cache(maxsize=64)
def _multiples(k: int) -> FloatArray:
    """Sums (k + 1,) of 0, 1, ... k shares of 1 / k, added one by one as weights of items are."""
    return np.concatenate([[0.0], np.cumsum(np.full(k, 1.0 / k))])


@lru_cache(maxsize=16)
def _equal(size: int) -> FloatArray:
    """Weights (size,) of items that count alike."""
    weights: FloatArray = np.full(size, 1.0 / size)
    weights.flags.writeable = False
    return weights


def cells_of(problem: Problem) -> Cells:
    """The cells of a problem's labels, computed once."""
    return problem.cached("cells", lambda: _build(problem))


def selection_weights(problem: Problem, items: IntArray) -> FloatArray:
    """Pool weights (n,) of a selection: 1/k on its items, k being its own length, or those of the places.

    Shapes:  items (any number,), in any order; (k,) in their order where places of the problem have weights.
    """
    weights = np.zeros(problem.n)
    weights[items] = 1.0 / len(items) if problem.place_weights is None else problem.place_weights
    return weights


def _build(problem: Problem) -> Cells:
    population = problem.population
    is_weighted = population.shares > SMALLEST_WEIGHT
    labels, cell = distinct_rows(np.concatenate([problem.labels, population.labels[is_weighted]]))
    pool_cell, size = cell[: problem.n], labels.shape[0]
    reference_cell = np.full(is_weighted.size, -1, dtype=np.intp)
    reference_cell[is_weighted] = cell[problem.n :]
    shares, rows = np.zeros(size), np.zeros(size)
    shares[cell[problem.n :]] = population.shares[is_weighted]
    rows[cell[problem.n :]] = population.effective_counts[is_weighted]
    counts = np.bincount(pool_cell, minlength=size)
    return Cells(
        labels=labels,
        pool_cell=pool_cell,
        reference_cell=reference_cell,
        pool_counts=counts,
        reference_shares=shares,
        masses=counts + rows,
    )
